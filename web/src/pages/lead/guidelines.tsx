import { useState } from "react";
import { Choices } from "../../parts/fields";
import { Prose } from "../../parts/prose";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";

/** A lead sees every picture of the arena, also before a campaign shows it. */
const pictureForLead = (identity: string) => (identity.startsWith("item_") ? `/api/items/${identity}/pictures/source-0` : `/api/outputs/${identity}/picture`);

/** Guidelines in Markdown, and how raters will see them. */
export function GuidelinesField({ value: before = "" }: { value?: string | undefined }) {
  const [text, setText] = useState(before);
  const [previews, setPreviews] = useState(false);
  const t = leadStrings.lead;
  return (
    <div className="field whole guidelines">
      <div className="row">
        <label htmlFor="guidelines">{strings.lead.guidelines}</label>
        <Choices label={strings.lead.guidelines} value={previews ? "preview" : "edit"} options={[["edit", t.edit], ["preview", t.preview]]} onChange={(view) => setPreviews(view === "preview")} />
      </div>
      {/* Stays in the form while the preview is shown: a form sends what is in it. */}
      <textarea id="guidelines" name="guidelines" rows={8} maxLength={20000} value={text} hidden={previews} onChange={(event) => setText(event.target.value)} />
      {previews && (
        <div className="preview" role="region" aria-label={t.previewLabel} tabIndex={0}>
          {text.trim() ? <Prose text={text} pictureOf={pictureForLead} /> : <p className="muted">{t.nothingToPreview}</p>}
        </div>
      )}
      <small className="muted">{t.guidelinesHint}</small>
    </div>
  );
}
