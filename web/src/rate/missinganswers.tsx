import { fill, messages } from "../languages";
import { criterionTexts } from "./criteria";
import type { Missing } from "./draft";

/** The form's part that fills a gap. */
export const fieldOf = (gap: Missing): string => ("criterion" in gap ? gap.criterion.name : gap.what === "repair" ? "explanation" : gap.what);

/** Bring a gap into view and put the focus into it. */
export function goToGap(gap: Missing): void {
  const field = document.querySelector<HTMLElement>(`[data-field="${CSS.escape(fieldOf(gap))}"]`);
  field?.scrollIntoView({ block: "nearest" });
  field?.querySelector<HTMLElement>("input, textarea, button")?.focus();
}

function nameOf(gap: Missing): string {
  const t = messages.rating;
  switch (gap.what) {
    case "rating":
    case "check":
      return criterionTexts(gap.criterion).label;
    case "objects":
      return t.objects;
    case "segments":
      return t.segments;
    case "decision":
      return messages.check.decision;
    default:
      return t.comment;
  }
}

/** What is still to be answered, always in sight: a click goes there. */
export function OpenQuestions({ missing }: { missing: readonly Missing[] }) {
  const first = missing[0];
  if (!first) return null;
  return (
    <span className="open-questions">
      {fill(messages.rating.left, { count: missing.length })}{" "}
      <button type="button" className="small link" onClick={() => goToGap(first)}>{nameOf(first)}</button>
    </span>
  );
}

/** Why the form is not sent. */
export function MissingAnswers({ missing }: { missing: readonly Missing[] }) {
  const t = messages.rating;
  if (!missing.length) return null;
  const text = (gap: Missing): string => ("criterion" in gap ? fill(t.need[gap.what], { label: criterionTexts(gap.criterion).label }) : t.need[gap.what]);
  return (
    <div className="problem" role="alert" data-testid="refused">
      <strong>{t.refused}</strong>
      <ul>{missing.map((gap) => <li key={text(gap)}>{text(gap)}</li>)}</ul>
    </div>
  );
}
