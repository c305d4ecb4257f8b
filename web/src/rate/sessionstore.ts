// What must outlive a reload: the draft of an answer, and the time that was spent looking.
import { useEffect, useRef, useState } from "react";
import type { Ballot, TaskOut } from "../api/schema";
import { EMPTY, fromBallot, type Draft } from "./draft";

const DRAFT = "imarena.draft";
const TIME = "imarena.time";
const BALLOT = "imarena.ballot";

function read<T>(key: string, address: string): T | null {
  try {
    const kept = JSON.parse(window.sessionStorage.getItem(key) ?? "null") as { address: string; value: T } | null;
    return kept?.address === address ? kept.value : null;
  } catch {
    return null;
  }
}

function write(key: string, address: string, value: unknown): void {
  try {
    window.sessionStorage.setItem(key, JSON.stringify({ address, value }));
  } catch {
    // A browser that keeps nothing can still be used.
  }
}

/** State of the task on the screen: it starts anew with the next one. */
export function useTaskState<T>(showing: string, initial: () => T): [T, (change: (was: T) => T) => void] {
  const [kept, setKept] = useState(() => ({ showing, value: initial() }));
  let current = kept;
  if (kept.showing !== showing) {
    current = { showing, value: initial() };
    setKept(current);
  }
  return [current.value, (change) => setKept((was) => (was.showing === showing ? { showing, value: change(was.value) } : was))];
}

/** A draft of this task, as it was before a reload or an undo. */
export function useDraft(task: TaskOut, showing: string): [Draft, (change: Partial<Draft>) => void] {
  const [draft, setDraft] = useTaskState<Draft>(
    showing, () => read<Draft>(DRAFT, task.address) ?? (task.previous ? fromBallot(task.previous) : EMPTY),
  );
  useEffect(() => write(DRAFT, task.address, draft), [task.address, draft]);
  return [draft, (change) => setDraft((was) => ({ ...was, ...change }))];
}

/** Seconds that the task was in front of somebody: a hidden page does not count. */
export function useTimeSpent(address: string): () => number {
  const spent = useRef(0);
  useEffect(() => {
    spent.current = read<number>(TIME, address) ?? 0;
    const timer = window.setInterval(() => {
      if (document.visibilityState !== "visible") return;
      spent.current += 0.25;
      write(TIME, address, spent.current);
    }, 250);
    return () => window.clearInterval(timer);
  }, [address]);
  return () => spent.current;
}

/** A key that no other ballot has. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** An answer that was sent and not yet confirmed; it may be sent again, and is stored once. */
export function pendingBallot(): { address: string; value: Ballot } | null {
  try {
    return JSON.parse(window.sessionStorage.getItem(BALLOT) ?? "null") as { address: string; value: Ballot } | null;
  } catch {
    return null;
  }
}

export const savePendingBallot = (address: string, ballot: Ballot) => write(BALLOT, address, ballot);

export function clearPendingBallot(): void {
  try {
    window.sessionStorage.removeItem(BALLOT);
  } catch {
    // Nothing was kept.
  }
}
