// The rater's desk: take a task, answer it, skip it, take the last answer back.
import { useCallback, useEffect, useRef, useState } from "react";
import * as calls from "../api/calls";
import { asApiError, ApiError } from "../api/client";
import type { Ballot, Skip, Task } from "../api/schema";
import { strings } from "../strings";
import { usePrefetchedTask } from "./prefetchtask";
import { forgetBallot, keepBallot, keptBallot, newKey, useTimeSpent } from "./sessionstore";
import { retry } from "../api/retry";

export type Answer = Omit<Ballot, "idempotency_key">;
export type Stage = "consent" | "practice" | "qualification" | "open" | "not_qualified" | "quota" | "paused" | "on_hold" | "done" | "closed";

export interface Desk {
  task: Task | null;
  /** Counts the tasks that were shown: a task that comes back after an undo is shown anew. */
  showing: number;
  stage: Stage | null;
  /** Where a crowd platform wants its people sent back to. */
  completionUrl: string | null;
  busy: boolean;
  error: ApiError | null;
  /** Why it takes longer than usual: the server or its database is away, and is asked again. */
  waiting: ApiError | null;
  notice: string;
  feedback: string | null;
  canUndo: boolean;
  cast: (answer: Answer) => void;
  skip: (skip: Skip) => void;
  undo: () => void;
  next: () => void;
}

export function useDesk(campaignId: string, couldUndo: boolean): Desk {
  const [task, setTask] = useState<Task | null>(null);
  const [showing, setShowing] = useState(0);
  const [stage, setStage] = useState<Stage | null>(null);
  const [completionUrl, setCompletionUrl] = useState<string | null>(null);
  const [busy, setBusy] = useState(true);
  const [error, setError] = useState<ApiError | null>(null);
  const [notice, setNotice] = useState("");
  const [feedback, setFeedback] = useState<string | null>(null);
  const [canUndo, setCanUndo] = useState(couldUndo);
  // One key for one showing of a task: a ballot that is sent twice is stored once.
  const key = useRef(newKey());
  const timeSpent = useTimeSpent(task?.address ?? "");
  const [waiting, setWaiting] = useState<ApiError | null>(null);
  const handOver = usePrefetchedTask(campaignId, showing, task !== null && !busy);
  const left = useRef(false);
  useEffect(() => {
    left.current = false;
    return () => {
      left.current = true;
    };
  }, []);
  const sure = useCallback(<T,>(ask: () => Promise<T>) => retry(ask, setWaiting, () => left.current), []);

  const show = useCallback((found: Task | null) => {
    key.current = newKey();
    setTask(found);
    setShowing((count) => count + 1);
  }, []);

  const attempt = useCallback(async (work: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (reason) {
      setError(asApiError(reason));
    } finally {
      setBusy(false);
    }
  }, []);

  const take = useCallback(async () => {
    // The task that is ready is shown at once; it can be answered when the server has put it in our hands.
    const early = handOver();
    if (early) show(early);
    setFeedback(null);
    const found = await sure(() => calls.takeNext(campaignId));
    setStage(found.stage);
    setCompletionUrl(found.completion_url ?? null);
    if (early && found.task?.address === early.address) setTask(found.task);
    else show(found.task);
  }, [campaignId, handOver, show, sure]);

  const send = useCallback(async (address: string, ballot: Ballot) => {
    keepBallot(address, ballot);
    try {
      return await sure(() => calls.vote(address, ballot));
    } finally {
      if (!left.current) forgetBallot();
    }
  }, [sure]);

  /** An answer that was on its way when the page was closed goes first. */
  const begin = useCallback(async () => {
    const kept = keptBallot();
    if (kept) {
      await send(kept.address, kept.value).then(
        (receipt) => {
          setCanUndo(true);
          setNotice(strings.vote.stored(receipt.done));
        },
        () => undefined,
      );
    }
    await take();
  }, [send, take]);

  const next = useCallback(() => void attempt(take), [attempt, take]);
  useEffect(() => void attempt(begin), [attempt, begin]);

  function cast(answer: Answer): void {
    if (!task || busy) return;
    void attempt(async () => {
      const ballot = { ...answer, idempotency_key: key.current, time_spent_s: timeSpent() };
      const receipt = await send(task.address, ballot);
      setCanUndo(true);
      setNotice(receipt.late ? strings.vote.late : strings.vote.stored(receipt.done));
      if (receipt.feedback !== null) {
        setFeedback(receipt.feedback);
        return;
      }
      await take();
    });
  }

  function skip(reason: Skip): void {
    if (!task || busy) return;
    void attempt(async () => {
      await sure(skipOnce(task.address, reason));
      setNotice(strings.vote.skipped);
      await take();
    });
  }

  /** Asked for once: a second time would take the vote before it back. Whether it was done is seen by the task in hand. */
  async function takenBack(): Promise<Task> {
    try {
      return await calls.undoLast(campaignId);
    } catch (reason) {
      const failed = asApiError(reason);
      if (!failed.passing) throw failed;
      setWaiting(failed);
      const found = await sure(() => calls.takeNext(campaignId));
      if (found.task && found.task.address !== task?.address) return found.task;
      throw new ApiError(0, "not_undone", strings.vote.notUndone, strings.vote.notUndoneHint);
    }
  }

  function undo(): void {
    if (busy || !canUndo) return;
    void attempt(async () => {
      const found = await takenBack();
      setFeedback(null);
      setCanUndo(false);
      setNotice(strings.vote.undone);
      show(found);
    });
  }

  return { task, showing, stage, completionUrl, busy, error, waiting, notice, feedback, canUndo, cast, skip, undo, next };
}

/** Skipping a task as often as it takes. A task that is gone after an attempt whose answer was lost was skipped by it. */
function skipOnce(address: string, reason: Skip): () => Promise<void> {
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
