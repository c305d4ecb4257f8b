// One criterion on its scale, with what each value means.
import { useState } from "react";
import type { Criterion } from "../api/schema";

interface Props {
  criterion: Criterion;
  value: number | undefined;
  onChange: (value: number) => void;
}

export function Scale({ criterion, value, onChange }: Props) {
  const [near, setNear] = useState<number | null>(null);
  const values = Array.from({ length: criterion.high - criterion.low + 1 }, (_, index) => criterion.low + index);
  const anchor = (wanted: number | null | undefined) => criterion.anchors.find((one) => one.value === wanted)?.text;
  const shown = anchor(near ?? value) ?? criterion.question;
  const id = `scale-${criterion.name}`;
  return (
    <fieldset className="scale" data-criterion={criterion.name} aria-describedby={`${id}-anchor`}>
      <legend>{criterion.label}</legend>
      <div className="scale-row" onPointerLeave={() => setNear(null)}>
        {values.map((one) => (
          <label key={one} title={anchor(one)} onPointerEnter={() => setNear(one)} className={one === value ? "on" : ""}>
            <input type="radio" name={id} value={one} checked={one === value} aria-label={`${one}. ${anchor(one) ?? ""}`}
              onChange={() => onChange(one)} onFocus={() => setNear(one)} onBlur={() => setNear(null)} />
            {one}
          </label>
        ))}
      </div>
      <p id={`${id}-anchor`} className="anchor">{shown}</p>
    </fieldset>
  );
}
