// The rater's desk: take a task, answer it, skip it, take the last answer back.
import { useEffect, useEffectEvent, useReducer, useRef } from "react";
import * as calls from "../api/calls";
import { ApiError, asApiError } from "../api/client";
import { retry } from "../api/retry";
import type { Ballot, Receipt, SkipIn, TaskOut } from "../api/schema";
import { strings } from "../strings";
import { canAnswer, canUndo, opening, reduceDesk, showingOf, type DeskState } from "./desk";
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

  async function send(address: string, ballot: Ballot): Promise<Receipt> {
    savePendingBallot(address, ballot);
    try {
      return await ask(() => calls.vote(address, ballot));
    } finally {
      if (!left.current) clearPendingBallot();
    }
  }

  /** An answer that was on its way when the page was closed goes first. */
  const begin = useEffectEvent(async () => {
    const kept = pendingBallot();
    if (kept) {
      await send(kept.address, kept.value).then((receipt) => dispatch({ type: "restored", receipt }), () => undefined);
    }
    await take();
  });
  useEffect(() => {
    begin().catch((reason: unknown) => dispatch({ type: "failed", error: asApiError(reason) }));
  }, []);

  function cast(answer: Answer): void {
    if (!showing || !canAnswer(state)) return;
    const ballot = { ...answer, idempotency_key: showing.key, time_spent_s: timeSpent() };
    dispatch({ type: "started", request: "sending" });
    attempt(async () => {
      const receipt = await send(showing.task.address, ballot);
      dispatch({ type: "stored", receipt });
      if (receipt.feedback === null) await take();
    });
  }

  function skip(reason: SkipIn): void {
    if (!showing || !canAnswer(state)) return;
    dispatch({ type: "started", request: "skipping" });
    attempt(async () => {
      await ask(skipOnce(showing.task.address, reason));
      dispatch({ type: "skipped" });
      await take();
    });
  }

  /** Asked for once: a second time would take the vote before it back. Whether it was done is seen by the task in hand. */
  async function takeBack(): Promise<TaskOut> {
    try {
      return await calls.undoLast(campaignId);
    } catch (reason) {
      const failed = asApiError(reason);
      if (!failed.passing) throw failed;
      dispatch({ type: "delayed", error: failed });
      const { task } = await ask(() => calls.takeNext(campaignId));
      if (task && task.address !== showing?.task.address) return task;
      throw new ApiError(0, "not_undone", strings.vote.notUndone, strings.vote.notUndoneHint);
    }
  }

  function undo(): void {
    if (!canUndo(state)) return;
    dispatch({ type: "started", request: "undoing" });
    attempt(async () => dispatch({ type: "undone", task: await takeBack(), key: newKey() }));
  }

  return { state, cast, skip, undo, next: () => attempt(take) };
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
