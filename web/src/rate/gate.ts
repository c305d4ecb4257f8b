// When a task can be answered: its pictures were drawn, the lead's minimum time has passed, and the hand has come to rest.
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { TaskOut } from "../api/schema";
import { counted, messages } from "../languages";
import type { ViewGroup } from "../view/viewgroup";

/** Keys pressed in a row without such a pause are one answer: the next task was not looked at. */
const PAUSE_MS = 400;

export interface Gate {
  open: boolean;
  /** Why it is closed, where the rater has to wait or to do something. */
  reason: string;
  /** An answer is given: true where it may be. */
  press: () => boolean;
}

export function useGate(task: TaskOut, group: ViewGroup): Gate {
  const judged = [task.left, task.right].flatMap((picture) => picture ?? []);
  const required = (judged.length ? judged : [...task.sources, ...task.references].slice(0, 1)).map((picture) => picture.tiles_url);
  const look = useSyncExternalStore((listener) => group.onChange(listener), () => (required.length ? group.lookState(required) : "seen"));
  const seconds = useSecondsLeft(task);
  const [resting, setResting] = useState(true);
  const timer = useRef(0);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const open = look === "seen" && seconds === 0 && resting;
  function press(): boolean {
    if (open || !resting) {
      setResting(false);
      window.clearTimeout(timer.current);
      timer.current = window.setTimeout(() => setResting(true), PAUSE_MS);
    }
    return open;
  }
  return { open, press, reason: reasonFor(look, seconds) };
}

function reasonFor(look: "drawing" | "unseen" | "seen", seconds: number): string {
  if (look === "drawing") return messages.vote.drawing;
  if (look === "unseen") return messages.vote.lookAtAll;
  return seconds > 0 ? counted(messages.vote.lookFor, seconds) : "";
}

/** Whole seconds until the server takes an answer. */
function useSecondsLeft(task: TaskOut): number {
  const [left, setLeft] = useState({ task, seconds: Math.ceil(task.wait_s) });
  useEffect(() => {
    if (!(task.wait_s > 0)) return undefined;
    const end = performance.now() + 1000 * task.wait_s;
    const timer = window.setInterval(() => {
      const seconds = Math.max(0, Math.ceil((end - performance.now()) / 1000));
      setLeft({ task, seconds });
      if (!seconds) window.clearInterval(timer);
    }, 200);
    return () => window.clearInterval(timer);
  }, [task]);
  return left.task === task ? left.seconds : Math.ceil(task.wait_s);
}
