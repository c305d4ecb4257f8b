// Is a collected item fit for the benchmark? Four checks and a decision (CogRetriever).
import { messages } from "../languages";
import { Choices, Key } from "../parts/fields";
import { criterionTexts } from "./criteria";
import { missing, toBallot, type Draft } from "./draft";
import { AnswerButton, TaskFrame } from "./frame";
import { goToGap, MissingAnswers, OpenQuestions } from "./missinganswers";
import { useDraft, useTaskState } from "./sessionstore";
import type { TaskProps } from "./taskprops";
import { useSendKey } from "./usesendkey";
import { ResultView } from "./yesno";

export function CheckTask(props: TaskProps) {
  const { desk, task, gate, showing } = props;
  const [draft, change] = useDraft(task, showing);
  const [tried, setTried] = useTaskState(showing, () => false);
  const t = messages.check;
  const gaps = missing(draft, task);
  const failed = Object.values(draft.checks).includes(false);
  function send(): void {
    if (gaps[0]) {
      setTried(() => true);
      goToGap(gaps[0]);
    } else if (gate.press()) desk.cast(toBallot(draft, "check"));
  }
  /** What fails a check cannot be accepted: the choice is taken back, and only repair and discard are left. */
  function answer(name: string, met: boolean): void {
    change({ checks: { ...draft.checks, [name]: met }, ...(!met && draft.decision === "accept" ? { decision: null } : {}) });
  }
  useSendKey(send);
  const answers = <AnswerButton desk={desk} gate={gate} className="primary" onAnswer={send}>{messages.rating.send} <Key>↵</Key></AnswerButton>;
  return (
    <TaskFrame {...props} answers={answers} remark={<OpenQuestions missing={gaps} />}>
      <div className="rating">
        <ResultView {...props} />
        <form className="rating-form" aria-label={t.form} onSubmit={(event) => { event.preventDefault(); send(); }}>
          <MissingAnswers missing={tried ? gaps : []} />
          {task.stands_under && <p data-testid="stands-under">{t.category}: <strong>{task.stands_under}</strong></p>}
          {task.checks.map((check) => {
            const { label, question } = criterionTexts(check);
            return (
              <fieldset key={check.name} className="yes-no" data-field={check.name} data-check={check.name}>
                <legend>{label}</legend>
                <p className="hint">{question}</p>
                <Choices label={label} value={valueOf(draft.checks[check.name])} options={[["yes", messages.common.yes], ["no", messages.common.no]]}
                  onChange={(value) => answer(check.name, value === "yes")} />
              </fieldset>
            );
          })}
          <fieldset data-field="decision">
            <legend>{t.decision}</legend>
            <Choices label={t.decision} value={draft.decision ?? ""}
              options={[...(failed ? [] : [["accept", t.accept] as const]), ["repair", t.repair], ["discard", t.discard]]}
              onChange={(value) => change({ decision: value as Draft["decision"] })} />
          </fieldset>
          <label className="field" data-field="explanation">
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
