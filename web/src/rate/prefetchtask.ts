// The task after this one: asked for while this one is looked at, its pictures fetched, given back when the page is left.
import { useEffect, useEffectEvent, useRef, type Dispatch } from "react";
import * as calls from "../api/calls";
import type { TaskOut } from "../api/schema";
import { isBusy, showingOf, type DeskEvent, type DeskState } from "./desk";
import { prefetchPictures } from "./prefetchpictures";

const LOOK_MS = 250;
/** The server keeps a task for two minutes after it was asked for last. */
const AGAIN_MS = 45_000;

const giveBack = (task: TaskOut | null) => {
  if (task) calls.giveBack(task.address).catch(() => undefined);
};

export function usePrefetchedTask(campaignId: string, state: DeskState, dispatch: Dispatch<DeskEvent>): void {
  const key = showingOf(state)?.key ?? "";
  const active = key !== "" && !isBusy(state);
  const left = useRef(false);
  const fetched = useRef("");

  useEffect(() => {
    if (!active) return undefined;
    async function look(): Promise<void> {
      try {
        const { task } = await calls.lookAhead(campaignId);
        if (left.current) return giveBack(task); // others may have it
        if (task && task.address !== fetched.current) prefetchPictures(task);
        fetched.current = task?.address ?? "";
        dispatch({ type: "prefetched", task, key });
      } catch {
        // What comes next is found out when it is needed.
      }
    }
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
  }, [active, key, campaignId, dispatch]);

  const leave = useEffectEvent(() => {
    giveBack(state.prefetched);
    dispatch({ type: "prefetched", task: null, key });
  });
  useEffect(() => {
    left.current = false;
    const hide = () => leave();
    window.addEventListener("pagehide", hide);
    return () => {
      window.removeEventListener("pagehide", hide);
      left.current = true;
      leave();
    };
  }, []);
}
