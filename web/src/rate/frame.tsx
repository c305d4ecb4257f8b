// The frame around every kind of task: instruction, progress, help, skip, feedback.
import { useState, type ReactNode } from "react";
import type { ApiError } from "../api/client";
import type { Picture, RaterCampaign, SkipIn, TaskOut } from "../api/schema";
import { useKeys } from "../keys";
import { Dialog } from "../parts/dialog";
import { Key, Meter } from "../parts/fields";
import { InlineCode } from "../parts/inlinecode";
import { Link } from "../parts/link";
import { Prose } from "../parts/prose";
import { Problem } from "../parts/status";
import { strings } from "../strings";
import type { Named } from "../view/stack";
import { canUndo, delayOf, errorOf, isBusy } from "./desk";
import type { Desk } from "./usedesk";
import { KeyTable } from "./keytable";
import { remainingFor } from "./remaining";

/** An instruction of more characters is set smaller, and can be scrolled with keys where even that is not enough. */
const LONG = 220;

interface Props {
  campaign: RaterCampaign;
  desk: Desk;
  task: TaskOut;
  children: ReactNode;
  /** The buttons that answer. */
  answers: ReactNode;
}

export function TaskFrame({ campaign, desk, task, children, answers }: Props) {
  const [asking, setAsking] = useState(false);
  const [help, setHelp] = useState(false);
  const t = strings.vote;
  useKeys({ s: () => setAsking(true), u: desk.undo, "?": () => setHelp(true) });
  const { state } = desk;
  const [busy, delay, error] = [isBusy(state), delayOf(state), errorOf(state)];
  const left = remainingFor(campaign, task);
  return (
    <main className="task" data-task={task.address} aria-busy={busy}>
      <header className="task-head">
        <Link to="/" className="brand">{strings.name}</Link>
        <span className="task-name">{campaign.name}</span>
        {task.purpose !== "vote" && <span className="badge">{task.purpose === "practice" ? t.practice : t.qualification}</span>}
        <span className="spacer" />
        <Meter label={t.progress(task.done)} value={task.done} most={task.done + left.count} />
        {left.byQuota ? (
          <span className="muted" title={t.quotaWhy(campaign.quota, strings.home.waiting(left.waiting, campaign.more_waiting))}>{t.progress(task.done)} · {t.quota(left.count)}</span>
        ) : (
          <span className="muted">{t.progress(task.done)} · {t.toGo(left.count, campaign.more_waiting)}</span>
        )}
        <button type="button" className="small quiet" onClick={() => setHelp(true)}>{t.help} <Key>?</Key></button>
      </header>
      <section className="instruction" aria-label={t.instruction}>
        <h1 {...(task.instruction.length > LONG ? { className: "long", tabIndex: 0 } : {})}>{task.instruction}</h1>
        <span className="muted">{task.question}</span>
      </section>
      {children}
      {delay && <ServerAway error={delay} />}
      {error && <Problem error={error} {...(error.status >= 400 ? { retry: desk.next } : {})} retryText={error.status === 409 ? t.goOn : strings.again} />}
      <div className="answers" aria-label={t.answers} role="group">
        {answers}
        <span className="answers-rest">
          <button type="button" className="quiet" disabled={busy} onClick={() => setAsking(true)}>{t.skip} <Key>S</Key></button>
          <button type="button" className="quiet" disabled={!canUndo(state)} onClick={desk.undo}>{t.undo} <Key>U</Key></button>
        </span>
      </div>
      <p className="sr-only" role="status" aria-live="polite">{state.notice}</p>
      {asking && <SkipDialog onClose={() => setAsking(false)} onSkip={desk.skip} />}
      {help && <Dialog title={strings.keys.title} onClose={() => setHelp(false)}><KeyTable kind={task.kind} />{campaign.guidelines && <Prose text={campaign.guidelines} />}</Dialog>}
      {state.screen === "feedback" && <Feedback text={state.feedback} onNext={desk.next} />}
    </main>
  );
}

/** The status of a server without room on its disk: waiting alone does not help, somebody has to know. */
const FULL = 507;

/** The server or its database is away: what was answered is kept and sent again by itself. */
export function ServerAway({ error }: { error: ApiError }) {
  return (
    <div className="warning away" role="alert">
      <strong><InlineCode text={error.message} /></strong> {error.status === FULL ? `${error.hint} ${strings.vote.full}` : strings.vote.away}
    </div>
  );
}

function SkipDialog({ onClose, onSkip }: { onClose: () => void; onSkip: (skip: SkipIn) => void }) {
  const [note, setNote] = useState("");
  return (
    <Dialog title={strings.vote.skipTitle} onClose={onClose}>
      <label className="field">
        <span>{strings.vote.skipNote}</span>
        <input value={note} maxLength={500} onChange={(event) => setNote(event.target.value)} />
      </label>
      <div className="reasons">
        {strings.vote.reasons.map(([reason, text], index) => (
          <button key={reason} type="button" {...(index === 0 ? { "data-first": true } : {})} onClick={() => { onClose(); onSkip({ reason, note }); }}>{text}</button>
        ))}
      </div>
    </Dialog>
  );
}

function Feedback({ text, onNext }: { text: string; onNext: () => void }) {
  return (
    <Dialog title={strings.vote.feedback} onClose={onNext}>
      {text.split("\n").map((line, index) => <p key={index} className={index ? "" : "verdict-line"}>{line}</p>)}
      <button type="button" className="primary" data-first onClick={onNext}>{strings.vote.goOn}</button>
    </Dialog>
  );
}

/** Sources and references with their names. */
export function contextOf(task: Pick<TaskOut, "sources" | "references">): Named[] {
  const name = (_: Picture, index: number) => (task.sources.length > 1 ? strings.view.sourceNumber(index + 1) : strings.view.source);
  return [
    ...task.sources.map((picture, index) => ({ name: name(picture, index), picture })),
    ...task.references.map((picture, index) => ({ name: strings.view.reference(index + 1), picture })),
  ];
}
