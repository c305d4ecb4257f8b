import { useState } from "react";
import { strings } from "../strings";
import { copyText } from "./clipboard";

/** A secret that is shown once, with a button that copies it. */
export function MadeLink({ label, link, hint = "" }: { label: string; link: string; hint?: string }) {
  const [copied, setCopied] = useState(false);
  const t = strings.lead;
  return (
    <div className="made-link" role="status">
      <label className="field">
        <span>{label}</span>
        <input readOnly value={link} onFocus={(event) => event.target.select()} />
        {hint && <small className="muted">{hint}</small>}
      </label>
      <button type="button" onClick={() => void copyText(link).then(() => setCopied(true))}>{copied ? t.copied : t.copy}</button>
    </div>
  );
}
