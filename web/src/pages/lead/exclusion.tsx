// Excluding a rater's votes, all or from a date on, and including them again.
import { useState, type FormEvent } from "react";
import * as calls from "../../api/calls";
import { asApiError, type ApiError } from "../../api/client";
import type { RaterOut } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { Dialog } from "../../parts/dialog";
import { moment } from "../../parts/format";
import { textOf } from "../../parts/form";
import { isolated } from "../../parts/isolated";
import { Problem } from "../../parts/status";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";

export const nameOf = (rater: Pick<RaterOut, "name" | "rater_id">) => isolated(rater.name || rater.rater_id);

/** What is excluded, and why. */
export function ExclusionBadge({ rater }: { rater: RaterOut }) {
  const t = leadStrings.lead;
  if (!rater.excluded) return null;
  return (
    <>
      <span className="badge state-failed">{rater.excluded_since ? t.excludedSince(moment(rater.excluded_since)) : t.excluded}</span>
      {rater.excluded_reason && <div className="muted person"><Bdi>{t.excludedWhy(rater.excluded_reason)}</Bdi></div>}
    </>
  );
}

interface Props {
  rater: RaterOut;
  /** What was done, in words. */
  onDone: (text: string) => void;
  onError: (error: ApiError) => void;
}

/** The button that fits a rater's state: exclude asks for a reason, include acts at once. */
export function ExclusionButton({ rater, onDone, onError }: Props) {
  const [asking, setAsking] = useState(false);
  const t = leadStrings.lead;
  const name = nameOf(rater);
  function include(): void {
    calls.includeRater(rater.rater_id).then((done) => onDone(t.includedDone(name, done.votes)), (reason: unknown) => onError(asApiError(reason)));
  }
  if (rater.excluded) return <button type="button" className="small" aria-label={t.includeLabel(name)} onClick={include}>{t.include}</button>;
  return (
    <>
      <button type="button" className="small" aria-label={t.excludeLabel(name)} onClick={() => setAsking(true)}>{t.exclude}</button>
      {asking && <ExclusionDialog rater={rater} onClose={() => setAsking(false)} onDone={(text) => { setAsking(false); onDone(text); }} />}
    </>
  );
}

function ExclusionDialog({ rater, onClose, onDone }: { rater: RaterOut; onClose: () => void; onDone: (text: string) => void }) {
  const [partly, setPartly] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const t = leadStrings.lead;
  const name = nameOf(rater);
  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const day = textOf(form, "since");
    calls.excludeRater(rater.rater_id, { reason: textOf(form, "reason").trim(), since: partly ? `${day}T00:00:00Z` : null }).then(
      (done) => onDone(t.excludedDone(name, done.votes)),
      (reason: unknown) => setError(asApiError(reason)),
    );
  }
  const choice = (value: boolean, text: string) => (
    <label className="check"><input type="radio" name="what" checked={partly === value} onChange={() => setPartly(value)} /><span>{text}</span></label>
  );
  return (
    <Dialog title={t.excludeTitle(name)} onClose={onClose}>
      <form onSubmit={send} className="form-grid">
        <p className="whole">{t.excludeHint}</p>
        <div className="whole" role="radiogroup" aria-label={t.exclude}>{choice(false, t.excludeAll)}{choice(true, t.excludeFrom)}</div>
        {partly && <label className="field"><span>{t.excludeDate}</span><input type="date" name="since" required /></label>}
        <label className="field whole">
          <span>{t.reason}</span>
          <input name="reason" data-first required maxLength={2000} pattern=".*\S.*" />
          <small className="muted">{t.reasonHint}</small>
        </label>
        {error && <div className="whole"><Problem error={error} /></div>}
        <div className="row whole">
          <button type="submit" className="primary">{t.exclude}</button>
          <button type="button" onClick={onClose}>{strings.cancel}</button>
        </div>
      </form>
    </Dialog>
  );
}
