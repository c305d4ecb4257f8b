import { useState } from "react";
import type { Next } from "../api/schema";
import { messages } from "../languages";
import { copyText } from "../parts/clipboard";

/** The way back to a crowd platform: its address, and the code for how the work ended. */
export function Finish({ end }: { end: Pick<Next, "completion_url" | "completion_code" | "outcome"> }) {
  const [copied, setCopied] = useState(false);
  const t = messages.finish;
  const { completion_url: url, completion_code: code } = end;
  return (
    <div className="finish" data-outcome={end.outcome ?? ""}>
      {code && (
        <>
          <p className="code-line">{t.code}: <code data-testid="completion-code">{code}</code>{" "}
            <button type="button" className="small" onClick={() => void copyText(code).then(() => setCopied(true))}>{copied ? t.copied : t.copy}</button>
          </p>
          {!url && <p className="muted">{t.codeHint}</p>}
        </>
      )}
      {url && (
        <>
          <p className="muted">{t.hint}</p>
          <a className="button primary" href={url} rel="noreferrer">{t.link}</a>
        </>
      )}
    </div>
  );
}
