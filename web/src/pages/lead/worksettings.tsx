// Settings of a campaign that may change while it is open: least time, who decides, what raters get at the end.
import { textOf } from "../../parts/form";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";

export const CODES = ["completed", "screened_out", "quota_full", "partial"] as const;

/** The codes that are set. */
export function codesFrom(form: FormData): Record<string, string> {
  const codes = CODES.map((name): [string, string] => [name, textOf(form, `code_${name}`).trim()]);
  return Object.fromEntries(codes.filter(([, code]) => code));
}

interface Props {
  /** What is set now, by name; a code stands under "code_" and its name. */
  before?: Record<string, string>;
}

export function WorkSettings({ before = {} }: Props) {
  const t = leadStrings.lead;
  const number = (name: string, label: string, least: number, most: number, otherwise: string, hint: string) => (
    <label className="field">
      <span>{label}</span>
      <input type="number" name={name} min={least} max={most} step="any" defaultValue={before[name] || otherwise} />
      <small className="muted">{hint}</small>
    </label>
  );
  const choice = (name: string, label: string, options: readonly (readonly [string, string])[], hint = "") => (
    <label className="field">
      <span>{label}</span>
      <select name={name} defaultValue={before[name] || options[0]?.[0]}>{options.map(([value, text]) => <option key={value} value={value}>{text}</option>)}</select>
      {hint && <small className="muted">{hint}</small>}
    </label>
  );
  return (
    <>
      {number("min_seconds", t.minSeconds, 0, 3600, "0", t.minSecondsHint)}
      {number("complete_after", t.completeAfter, 1, 100_000, "1", t.completeAfterHint)}
      {choice("adjudication", t.adjudication, t.adjudicationChoices, t.adjudicationHint)}
      {choice("adjudication_answers", t.adjudicationAnswers, t.adjudicationAnswersChoices)}
      <label className="field whole">
        <span>{strings.lead.completion}</span>
        <input name="completion_url" maxLength={1000} pattern="https://.+" title={strings.lead.completionHint} placeholder="https://" defaultValue={before.completion_url} />
        <small className="muted">{strings.lead.completionHint}</small>
      </label>
      <details className="whole only">
        <summary>{t.codes}</summary>
        <div className="form-grid">
          {CODES.map((name) => (
            <label key={name} className="field"><span>{t.codeNames[name]}</span><input name={`code_${name}`} maxLength={100} defaultValue={before[`code_${name}`]} /></label>
          ))}
        </div>
        <small className="muted">{t.codesHint}</small>
      </details>
    </>
  );
}
