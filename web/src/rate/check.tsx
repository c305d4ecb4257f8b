// Is a collected item fit for the benchmark? Four checks and a decision (CogRetriever).
import { useState } from "react";
import { Choices, Key } from "../parts/fields";
import { strings } from "../strings";
import { isBusy } from "./desk";
import { missing, toBallot, type Draft } from "./draft";
import { TaskFrame } from "./frame";
import { useDraft } from "./sessionstore";
import type { TaskProps } from "./taskprops";
import { MissingAnswers } from "./missinganswers";
import { ResultView } from "./yesno";

export function CheckTask({ campaign, desk, task }: TaskProps) {
  const [draft, change] = useDraft(task);
  const [tried, setTried] = useState(false);
  const t = strings.check;
  function send(): void {
    setTried(true);
    if (!missing(draft, task).length) desk.cast(toBallot(draft, "check"));
  }
  const answers = (
    <button type="button" className="primary answer" disabled={isBusy(desk.state)} onClick={send}>{strings.rating.send} <Key>↵</Key></button>
  );
  return (
    <TaskFrame campaign={campaign} desk={desk} task={task} answers={answers}>
      <div className="rating">
        <ResultView task={task} />
        <form className="rating-form" aria-label={t.form} onSubmit={(event) => { event.preventDefault(); send(); }}>
          <MissingAnswers missing={tried ? missing(draft, task) : []} />
          {task.stands_under && <p data-testid="stands-under">{t.standsUnder} <strong>{task.stands_under}</strong></p>}
          {task.checks.map((check) => (
            <fieldset key={check.name} className="yes-no" data-check={check.name}>
              <legend>{check.label}</legend>
              <p className="hint">{check.question}</p>
              <Choices label={check.label} value={valueOf(draft.checks[check.name])} options={[["yes", strings.yes], ["no", strings.no]]}
                onChange={(value) => change({ checks: { ...draft.checks, [check.name]: value === "yes" } })} />
            </fieldset>
          ))}
          <fieldset>
            <legend>{t.decision}</legend>
            <Choices label={t.decision} value={draft.decision ?? ""}
              options={[["accept", t.accept], ["repair", t.repair], ["discard", t.discard]]}
              onChange={(value) => change({ decision: value as Draft["decision"] })} />
          </fieldset>
          <label className="field">
            <span>{t.comment}</span>
            <textarea rows={3} maxLength={4000} value={draft.comment} onChange={(event) => change({ comment: event.target.value })} />
          </label>
        </form>
      </div>
    </TaskFrame>
  );
}

function valueOf(answer: boolean | undefined): string {
  if (answer === undefined) return "";
  return answer ? "yes" : "no";
}
