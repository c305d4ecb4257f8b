// One criterion on its scale. What each value means stands under all of them, so that nothing moves under the pointer.
import type { Criterion } from "../api/schema";
import { messages } from "../languages";
import { criterionTexts } from "./criteria";

export const ANCHOR = "scale-anchor";

interface Props {
  criterion: Criterion;
  value: number | undefined;
  /** The keys 1 to 5 rate this one. */
  active: boolean;
  onActive: () => void;
  /** The pointer or the focus is on a value; null: on none. */
  onNear: (value: number | null) => void;
  onChange: (value: number) => void;
}

export function Scale({ criterion, value, active, onActive, onNear, onChange }: Props) {
  const values = Array.from({ length: criterion.high - criterion.low + 1 }, (_, index) => criterion.low + index);
  const { label, anchors } = criterionTexts(criterion);
  const id = `scale-${criterion.name}`;
  return (
    <fieldset className={`scale ${active ? "active" : ""}`} data-field={criterion.name} data-criterion={criterion.name} onFocus={onActive} onPointerDown={onActive}
      {...(active ? { "aria-describedby": ANCHOR } : {})}>
      <legend className="sr-only">{label} ({messages.rating.required})</legend>
      <div className="scale-line">
        <span className="scale-name" aria-hidden="true">{label}{value === undefined && <span className="needed"> *</span>}</span>
        <div className="scale-row" onPointerLeave={() => onNear(null)}>
          {values.map((one) => (
            <label key={one} title={anchors[String(one)]} onPointerEnter={() => onNear(one)} className={one === value ? "on" : ""}>
              <input type="radio" name={id} value={one} checked={one === value} aria-label={`${one}. ${anchors[String(one)] ?? ""}`}
                onChange={() => onChange(one)} onFocus={() => onNear(one)} onBlur={() => onNear(null)} />
              {one}
            </label>
          ))}
        </div>
      </div>
    </fieldset>
  );
}
