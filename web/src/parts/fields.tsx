import type { ReactNode } from "react";

/** The name of a key, as a key. */
export function Key({ children }: { children: ReactNode }) {
  return <kbd aria-hidden="true">{children}</kbd>;
}

interface ChoicesProps {
  label: string;
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  onChange: (value: string) => void;
}

/** A row of buttons of which one is pressed. */
export function Choices({ label, value, options, onChange }: ChoicesProps) {
  return (
    <div className="choices" role="group" aria-label={label}>
      {options.map(([option, text]) => (
        <button key={option} type="button" aria-pressed={option === value} onClick={() => onChange(option)}>
          {text}
        </button>
      ))}
    </div>
  );
}

interface SelectProps {
  label: string;
  value: string;
  options: readonly string[];
  any?: string;
  onChange: (value: string) => void;
}

/** A list to choose from; where there is nothing to choose it is not shown. */
export function Select({ label, value, options, any, onChange }: SelectProps) {
  if (!options.length || (any !== undefined && options.length === 1 && !value)) return null;
  return (
    <label className="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {any !== undefined && <option value="">{any}</option>}
        {options.map((option) => (
          <option key={option} value={option}>{option}</option>
        ))}
      </select>
    </label>
  );
}

interface MeterProps {
  label: string;
  value: number;
  most: number;
}

/** How far something is. */
export function Meter({ label, value, most }: MeterProps) {
  return <progress aria-label={label} value={value} max={Math.max(most, 1)} />;
}
