// The rater's desk: take a task, answer it, skip it, take the last answer back.
import { useCallback, useEffect, useRef, useState } from "react";
import * as calls from "../api/calls";
import type { ApiError } from "../api/client";
import { asApiError } from "../api/use";
import type { Ballot, Skip, Task } from "../api/wire";
import { strings } from "../strings";
import { newKey, useTimeSpent } from "./keep";

export type Answer = Omit<Ballot, "idempotency_key">;
export type Stage = "consent" | "practice" | "qualification" | "open" | "not_qualified" | "quota" | "paused" | "done" | "closed";

export interface Desk {
  task: Task | null;
  /** Counts the tasks that were shown: a task that comes back after an undo is shown anew. */
  showing: number;
  stage: Stage | null;
  busy: boolean;
  error: ApiError | null;
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
  const [busy, setBusy] = useState(true);
  const [error, setError] = useState<ApiError | null>(null);
  const [notice, setNotice] = useState("");
  const [feedback, setFeedback] = useState<string | null>(null);
  const [canUndo, setCanUndo] = useState(couldUndo);
  // One key for one showing of a task: a ballot that is sent twice is stored once.
  const key = useRef(newKey());
  const timeSpent = useTimeSpent(task?.address ?? "");

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
    const found = await calls.takeNext(campaignId);
    setStage(found.stage);
    setFeedback(null);
    show(found.task);
  }, [campaignId, show]);

  const next = useCallback(() => void attempt(take), [attempt, take]);
  useEffect(next, [next]);

  function cast(answer: Answer): void {
    if (!task || busy) return;
    void attempt(async () => {
      const ballot = { ...answer, idempotency_key: key.current, time_spent_s: timeSpent() };
      const receipt = await calls.vote(task.address, ballot);
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
      await calls.skip(task.address, reason);
      setNotice(strings.vote.skipped);
      await take();
    });
  }

  function undo(): void {
    if (busy || !canUndo) return;
    void attempt(async () => {
      const found = await calls.undoLast(campaignId);
      setFeedback(null);
      setCanUndo(false);
      setNotice(strings.vote.undone);
      show(found);
    });
  }

  return { task, showing, stage, busy, error, notice, feedback, canUndo, cast, skip, undo, next };
}
