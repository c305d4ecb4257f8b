// The frame around every kind of task: question, instruction, progress, help, answers, skip, feedback.
import { useEffect, useRef, useState, type ReactNode } from "react";
import type { ApiError } from "../api/client";
import type { Picture, RaterCampaign, Receipt, SkipIn, TaskOut } from "../api/schema";
import { useKeys } from "../keys";
import { counted, fill, messages } from "../languages";
import { Bdi } from "../parts/bdi";
import { Dialog } from "../parts/dialog";
import { Key, Meter } from "../parts/fields";
import { InlineCode } from "../parts/inlinecode";
import { LanguageSelect } from "../parts/languageselect";
import { Link } from "../parts/link";
import { Prose } from "../parts/prose";
import { Problem } from "../parts/status";
import { strings } from "../strings";
import type { Named } from "../view/stack";
import { useMedia } from "../view/usemedia";
import { canAnswer, canUndo, delayOf, errorOf, isBusy, type DeskState, type Notice } from "./desk";
import { KeyTable } from "./keytable";
import { remainingFor, waitingText } from "./remaining";
import { requestEveryPicture } from "./prefetchpictures";
import type { TaskProps } from "./taskprops";

/** An instruction of more characters or lines is set smaller, and can be scrolled with keys where even that is not enough. */
const LONG = 220;
const LINES = 4;

interface Props extends TaskProps {
  children: ReactNode;
  /** The buttons that answer. */
  answers: ReactNode;
  /** What is still to be filled in, or what was answered before. */
  remark?: ReactNode;
}

export function TaskFrame({ campaign, desk, task, gate, children, answers, remark }: Props) {
  const [asking, setAsking] = useState(false);
  const [help, setHelp] = useState(false);
  const touch = useMedia("(hover: none)");
  const { state } = desk;
  const busy = isBusy(state);
  useKeys({ s: () => canAnswer(state) && setAsking(true), u: desk.undo, "?": () => setHelp(true) });
  useEffect(() => requestEveryPicture(task), [task]);
  return (
    <main className="task" data-task={task.address} data-open={gate.open && canAnswer(state)} aria-busy={busy}>
      <Head campaign={campaign} task={task} onHelp={() => setHelp(true)} />
      <Question task={task} />
      {children}
      <div className="answers-bar">
        <Troubles desk={desk} />
        <div className="answers-said">
          <p role="status" className="notice">{noticeText(state.notice)}</p>
          <p className={gate.reason ? "gate reason" : "gate"}>{busy ? busyText(state) : gate.reason || remark}</p>
        </div>
        <div className="answers" aria-label={messages.vote.answers} role="group">{answers}</div>
        <div className="answers-rest">
          <button type="button" className="quiet" aria-disabled={!canAnswer(state)} onClick={() => canAnswer(state) && setAsking(true)}>{messages.vote.skip} <Key>S</Key></button>
          <button type="button" className={`quiet ${state.undoable ? "" : "not-there"}`} aria-disabled={!canUndo(state)} onClick={desk.undo}>{messages.vote.undo} <Key>U</Key></button>
        </div>
      </div>
      {asking && <SkipDialog onClose={() => setAsking(false)} onSkip={desk.skip} />}
      {help && <Dialog title={touch ? messages.start.controls : messages.keys.title} onClose={() => setHelp(false)}><KeyTable kind={task.kind} region={!!task.region?.length} />{campaign.guidelines && <Prose text={campaign.guidelines} />}</Dialog>}
      {state.screen === "feedback" && <Feedback practice={state.practice} onNext={desk.next} />}
    </main>
  );
}

function Head({ campaign, task, onHelp }: { campaign: RaterCampaign; task: TaskOut; onHelp: () => void }) {
  const t = messages.vote;
  const left = remainingFor(campaign, task);
  const done = counted(t.progress, task.done);
  const waiting = waitingText(left.waiting, campaign.more_waiting);
  const badges: Record<string, string> = { practice: t.practice, qualification: t.qualification, adjudication: t.adjudication };
  return (
    <header className="task-head">
      <Link to="/" className="brand">{strings.name}</Link>
      <span className="task-name"><Bdi>{campaign.name}</Bdi></span>
      {badges[task.purpose] && <span className="badge">{badges[task.purpose]}</span>}
      <span className="spacer" />
      <Meter label={done} value={task.done} most={task.done + left.count} />
      {left.byQuota ? (
        <span className="muted" title={counted(t.quotaReason, campaign.quota, { waiting })}>{done} · {fill(t.quota, { count: left.count })}</span>
      ) : (
        <span className="muted">{done} · {fill(campaign.more_waiting ? t.manyToGo : t.toGo, { count: left.count })}</span>
      )}
      <LanguageSelect />
      <button type="button" className="small quiet help" onClick={onHelp}>
        <span className="with-keys">{t.help} <Key>?</Key></span><span className="touch-only">{t.helpTouch}</span>
      </button>
    </header>
  );
}

/** The question comes first; who arrives at the first task hears it. */
function Question({ task }: { task: TaskOut }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus();
  }, []);
  const questions: Record<string, string> = messages.forms.questions;
  const question = questions[`${task.kind}_${task.dimension}`] ?? questions[task.kind] ?? task.question;
  const long = task.instruction.length > LONG || task.instruction.split("\n").length > LINES;
  return (
    <section className="question" aria-label={messages.vote.instruction}>
      <h1 ref={heading} tabIndex={-1}>{question}</h1>
      <p className={`instruction ${long ? "long" : ""}`} {...(long ? { tabIndex: 0 } : {})}><Bdi>{task.instruction}</Bdi></p>
      {task.other_answers.length > 0 && <p className="other-answers">{fill(messages.vote.otherAnswers, { answers: task.other_answers.map(answerText).join("; ") })}</p>}
    </section>
  );
}

/** What another rater answered, for who has to decide. */
function answerText({ preference, answer, ratings, comment }: TaskOut["other_answers"][number]): string {
  const values = Object.entries(ratings ?? {}).map(([name, value]) => `${(messages.forms.criteria as Record<string, { label: string }>)[name]?.label ?? name} ${value}`);
  const said = preference ? messages.vote.choices[preference] : answer === null || answer === undefined ? values.join(", ") : answer ? messages.common.yes : messages.common.no;
  return comment ? `${said} (${comment})` : said;
}

/** What went wrong lies over the pictures, so that no button moves. */
function Troubles({ desk }: Pick<TaskProps, "desk">) {
  const [delay, error] = [delayOf(desk.state), errorOf(desk.state)];
  if (!delay && !error) return null;
  return (
    <div className="troubles">
      {delay && <ServerAway error={delay} />}
      {error && <Problem error={error} {...(error.status >= 400 ? { retry: desk.next } : {})} retryText={error.status === 409 ? messages.vote.nextTask : messages.common.retry} />}
    </div>
  );
}

function noticeText(notice: Notice | null): string {
  if (!notice) return "";
  if (notice.name === "saved" || notice.name === "restored") return `✓ ${notice.done ? counted(messages.vote.savedCount, notice.done) : messages.vote.saved}`; // practice and test count nothing
  return messages.vote[notice.name];
}

const busyText = (state: DeskState): string => (state.screen === "task" && state.activity.name === "working" && state.activity.request === "sending" ? messages.vote.sending : "");

interface AnswerButtonProps {
  desk: TaskProps["desk"];
  gate: TaskProps["gate"];
  onAnswer: () => void;
  className?: string;
  choice?: string;
  children: ReactNode;
}

/** A button that answers. It is never disabled for the browser, so that it keeps the focus from task to task. */
export function AnswerButton({ desk, gate, onAnswer, className = "", choice, children }: AnswerButtonProps) {
  return (
    <button type="button" className={`answer ${className}`} aria-disabled={!gate.open || !canAnswer(desk.state)} onClick={onAnswer} {...(choice ? { "data-choice": choice } : {})}>
      {children}
    </button>
  );
}

/** The status of a server without room on its disk: waiting alone does not help, somebody has to know. */
const FULL = 507;

/** The server or its database is away: what was answered is kept and sent again by itself. */
export function ServerAway({ error }: { error: ApiError }) {
  return (
    <div className="warning away" role="alert">
      <strong><InlineCode text={error.message} /></strong> {error.status === FULL ? `${error.hint} ${messages.vote.diskFull}` : messages.vote.retrying}
    </div>
  );
}

function SkipDialog({ onClose, onSkip }: { onClose: () => void; onSkip: (skip: SkipIn) => void }) {
  const [note, setNote] = useState("");
  const reasons = Object.entries(messages.vote.reasons) as [SkipIn["reason"], string][];
  return (
    <Dialog title={messages.vote.skipTitle} onClose={onClose}>
      <label className="field">
        <span>{messages.vote.skipNote}</span>
        <input value={note} maxLength={500} onChange={(event) => setNote(event.target.value)} />
      </label>
      <div className="reasons">
        {reasons.map(([reason, text], index) => (
          <button key={reason} type="button" {...(index === 0 ? { "data-first": true } : {})} onClick={() => { onClose(); onSkip({ reason, note }); }}>{text}</button>
        ))}
      </div>
    </Dialog>
  );
}

type Practice = NonNullable<Receipt["practice"]>;

/** The expected answer; empty where there is none. */
function expectedText({ preference, answer, ratings, tolerance }: Practice): string {
  const t = messages.vote;
  const text = answerText({ preference, answer, ratings, comment: "" });
  return text && Object.keys(ratings).length && tolerance ? fill(t.tolerance, { answer: text, value: tolerance }) : text;
}

function Feedback({ practice, onNext }: { practice: Practice; onNext: () => void }) {
  const t = messages.vote;
  const expected = expectedText(practice);
  return (
    <Dialog title={t.feedback} onClose={onNext}>
      <p className="verdict-line">{practice.correct === null ? t.thanks : practice.correct ? t.correct : t.notExpected}</p>
      {expected && <p>{fill(t.expected, { answer: expected })}</p>}
      {practice.explanation && <p><Bdi>{practice.explanation}</Bdi></p>}
      <button type="button" className="primary" data-first onClick={onNext}>{messages.vote.nextTask}</button>
    </Dialog>
  );
}

/** Sources and references with their names. */
export function contextOf(task: Pick<TaskOut, "sources" | "references">): Named[] {
  const t = messages.view;
  const name = (_: Picture, index: number) => (task.sources.length > 1 ? fill(t.sourceNumber, { number: index + 1 }) : t.source);
  return [
    ...task.sources.map((picture, index) => ({ name: name(picture, index), picture })),
    ...task.references.map((picture, index) => ({ name: fill(t.reference, { number: index + 1 }), picture })),
  ];
}
