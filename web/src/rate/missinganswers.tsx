import { strings } from "../strings";
import type { Missing } from "./draft";

/** Why the form is not sent. */
export function MissingAnswers({ missing }: { missing: readonly Missing[] }) {
  const t = strings.rating;
  if (!missing.length) return null;
  const text = (one: Missing): string => {
    if (one.what === "rating" || one.what === "check") return t.need[one.what](one.criterion.label);
    return t.need[one.what];
  };
  return (
    <div className="problem" role="alert" data-testid="refused">
      <strong>{t.refused}</strong>
      <ul>{missing.map((one) => <li key={text(one)}>{text(one)}</li>)}</ul>
    </div>
  );
}
