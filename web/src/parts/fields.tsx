import { useId, type ReactNode } from "react";
import { isolated } from "./isolated";

/** The name of a key, as a key. */
export function Key({ children }: { children: ReactNode }) {
  return <kbd aria-hidden="true">{children}</kbd>;
}

interface ChoicesProps {
  label: string;
  value: string;
  /** With the name of its key, where it has one. */
  options: readonly (readonly [value: string, text: string, key?: string])[];
  onChange: (value: string) => void;
}

/** A row of buttons of which one is pressed. */
export function Choices({ label, value, options, onChange }: ChoicesProps) {
  return (
    <div className="choices" role="group" aria-label={label}>
      {options.map(([option, text, key]) => (
        <button key={option} type="button" aria-pressed={option === value} onClick={() => onChange(option)}>
          {text}{key && <Key>{key}</Key>}
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
  /** What is shown for a value, where that is not the value itself. */
  texts?: Record<string, string>;
  /** One line under the list. */
  hint?: string | undefined;
  onChange: (value: string) => void;
}

/** A list to choose from; where there is nothing to choose it is not shown. */
export function Select({ label, value, options, any, texts, hint, onChange }: SelectProps) {
  const about = useId();
  if (!options.length || (any !== undefined && options.length === 1 && !value)) return null;
  return (
    <div className="field">
      <label className="field">
        <span>{label}</span>
        <select value={value} {...(hint ? { "aria-describedby": about } : {})} onChange={(event) => onChange(event.target.value)}>
          {any !== undefined && <option value="">{any}</option>}
          {options.map((option) => (
            <option key={option} value={option}>{texts?.[option] ?? isolated(option)}</option>
          ))}
        </select>
      </label>
      {hint && <small className="muted" id={about}>{hint}</small>}
    </div>
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
