// The task after this one: kept ready, its pictures fetched, given back when the page is left.
import { useCallback, useEffect, useRef } from "react";
import * as calls from "../api/calls";
import type { Task } from "../api/schema";
import { prefetch } from "./prefetchpictures";

const LOOK_MS = 250;
/** The server keeps a task for two minutes after it was asked for last. */
const AGAIN_MS = 45_000;

/** `active`: a task is on the screen and not being sent. Returns a function that hands the ready task over, once. */
export function usePrefetchedTask(campaignId: string, showing: number, active: boolean): () => Task | null {
  const ready = useRef<Task | null>(null);
  const latest = useRef(0);
  const left = useRef(false);

  const look = useCallback(async () => {
    const mine = ++latest.current;
    try {
      const { task } = await calls.lookAhead(campaignId);
      // The page was left meanwhile: others may have it.
      if (left.current && task) calls.giveBack(task.address).catch(() => undefined);
      if (mine !== latest.current) return;
      if (task && task.address !== ready.current?.address) prefetch(task);
      ready.current = task;
    } catch {
      // What comes next is found out when it is needed.
    }
  }, [campaignId]);

  useEffect(() => {
    if (!active) return undefined;
    // This task's own pictures come first.
    const soon = window.setInterval(() => {
      if (document.querySelector(".pane[data-loaded=false]")) return;
      window.clearInterval(soon);
      void look();
    }, LOOK_MS);
    const again = window.setInterval(() => {
      if (document.visibilityState === "visible") void look();
    }, AGAIN_MS);
    return () => {
      window.clearInterval(soon);
      window.clearInterval(again);
    };
  }, [active, showing, look]);

  useEffect(() => {
    left.current = false;
    function leave(): void {
      latest.current += 1;
      if (ready.current) calls.giveBack(ready.current.address).catch(() => undefined);
      ready.current = null;
    }
    window.addEventListener("pagehide", leave);
    return () => {
      window.removeEventListener("pagehide", leave);
      left.current = true;
      leave();
    };
  }, []);

  return useCallback(() => {
    latest.current += 1;
    const task = ready.current;
    ready.current = null;
    return task;
  }, []);
}
