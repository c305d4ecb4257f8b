// The rater's desk: take a task, answer it, skip it, take the last answer back.
import { useEffect, useEffectEvent, useReducer, useRef } from "react";
import * as calls from "../api/calls";
import { ApiError, asApiError } from "../api/client";
import { retry } from "../api/retry";
import type { Ballot, Receipt, SkipIn, TaskOut } from "../api/schema";
import { useInterval } from "../api/useloaded";
import { messages } from "../languages";
import { canAnswer, canUndo, opening, reduceDesk, showingOf, type DeskState } from "./desk";
import { requestPictures } from "./prefetchpictures";
import { usePrefetchedTask } from "./prefetchtask";
import { clearPendingBallot, savePendingBallot, pendingBallot, newKey, useTimeSpent } from "./sessionstore";

export type Answer = Omit<Ballot, "idempotency_key">;

export interface Desk {
  state: DeskState;
  cast: (answer: Answer) => void;
  skip: (skip: SkipIn) => void;
  undo: () => void;
  next: () => void;
}

/** Tasks that others hold may come back: they are asked for again this often. */
const WAITING_MS = 60_000;

export function useDesk(campaignId: string, couldUndo: boolean): Desk {
  const [state, dispatch] = useReducer(reduceDesk, couldUndo, opening);
  const showing = showingOf(state);
  const timeSpent = useTimeSpent(showing?.task.address ?? "");
  usePrefetchedTask(campaignId, state, dispatch);
  const left = useRef(false);
  useEffect(() => {
    left.current = false;
    return () => {
      left.current = true;
    };
  }, []);

  /** Ask until there is an answer. */
  function ask<T>(request: () => Promise<T>): Promise<T> {
    return retry(request, (error) => dispatch({ type: "delayed", error }), () => left.current);
  }
  function attempt(work: () => Promise<void>): void {
    work().catch((reason: unknown) => dispatch({ type: "failed", error: asApiError(reason) }));
  }

  async function take(): Promise<void> {
    dispatch({ type: "taking", key: newKey() });
    const next = await ask(() => calls.takeNext(campaignId));
    dispatch({ type: "took", next, key: newKey() });
  }

  /** Send an answer until it is stored or refused. `task`: what is on the screen; null after a reload. */
  async function send(address: string, ballot: Ballot, task: TaskOut | null): Promise<Receipt> {
    savePendingBallot(address, ballot);
    try {
      return await ask(() => votePrepared(address, ballot, task));
    } finally {
      if (!left.current) clearPendingBallot();
    }
  }

  /** An answer that was on its way when the page was closed goes first. */
  const begin = useEffectEvent(async () => {
    const kept = pendingBallot();
    if (kept) {
      await send(kept.address, kept.value, null).then((receipt) => dispatch({ type: "restored", receipt }), () => undefined);
    }
    await take();
  });
  useEffect(() => {
    begin().catch((reason: unknown) => dispatch({ type: "failed", error: asApiError(reason) }));
  }, []);
  useInterval(WAITING_MS, () => {
    if (state.screen === "end" && state.end.stage === "waiting") attempt(async () => {
      const next = await calls.takeNext(campaignId);
      if (next.task || next.stage !== "waiting") dispatch({ type: "took", next, key: newKey() });
    });
  });

  function cast(answer: Answer): void {
    if (!showing || !canAnswer(state)) return;
    const ballot = { ...answer, idempotency_key: showing.key, time_spent_s: timeSpent() };
    dispatch({ type: "started", request: "sending" });
    attempt(async () => {
      const receipt = await send(showing.task.address, ballot, showing.task);
      dispatch({ type: "stored", receipt });
      if (!receipt.practice) await take();
    });
  }

  function skip(reason: SkipIn): void {
    if (!showing || !canAnswer(state)) return;
    const { address } = showing.task;
    dispatch({ type: "started", request: "skipping" });
    attempt(async () => {
      await ask(skipOnce(address, reason));
      dispatch({ type: "skipped", address });
      await take();
    });
  }

  /** Asked for once: a second time would take the vote before it back. Whether it was done is seen by the task in hand. */
  async function takeBack(request: () => Promise<TaskOut>): Promise<TaskOut> {
    try {
      return await request();
    } catch (reason) {
      const failed = asApiError(reason);
      if (!failed.passing) throw failed;
      dispatch({ type: "delayed", error: failed });
      const { task } = await ask(() => calls.takeNext(campaignId));
      if (task && task.address !== showing?.task.address) return task;
      throw new ApiError(0, "not_undone", messages.vote.notUndone, messages.common.retry);
    }
  }

  function undo(): void {
    const { undoable } = state;
    if (!canUndo(state) || !undoable) return;
    dispatch({ type: "started", request: "undoing" });
    const skipped = undoable.name === "skip";
    const request = () => (undoable.name === "skip" ? calls.unskip(undoable.address) : calls.undoLast(campaignId));
    attempt(async () => dispatch({ type: "undone", task: await takeBack(request), key: newKey(), skip: skipped }));
  }

  return { state, cast, skip, undo, next: () => attempt(take) };
}

const pause = (seconds: number) => new Promise<void>((done) => window.setTimeout(done, 1000 * seconds));

/** Vote, and mend once what the server misses: a picture that the browser had kept and not requested, or a moment of time. */
async function votePrepared(address: string, ballot: Ballot, task: TaskOut | null): Promise<Receipt> {
  try {
    return await calls.vote(address, ballot);
  } catch (reason) {
    const refused = asApiError(reason);
    if (refused.code === "pictures_not_seen" && task) await requestPictures(task, refused.fields);
    else if (refused.code === "too_soon") await pause(refused.retryAfterS);
    else throw refused;
    return calls.vote(address, ballot);
  }
}

/** Skipping a task as often as it takes. A task that is gone after an attempt whose answer was lost was skipped by it. */
function skipOnce(address: string, reason: SkipIn): () => Promise<void> {
  let unsure = false;
  return async () => {
    try {
      await calls.skip(address, reason);
    } catch (caught) {
      const failed = asApiError(caught);
      if (unsure && [404, 409].includes(failed.status)) return;
      unsure ||= failed.passing;
      throw failed;
    }
  };
}
