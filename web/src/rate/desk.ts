// The voting desk as states and events: what is on the screen, and what the server is asked for meanwhile.
// Nothing here talks to the server or to the browser: usedesk.ts does, and says what happened as an event.
import type { ApiError } from "../api/client";
import type { Next, Receipt, TaskOut } from "../api/schema";

/** A task on the screen. Its key is new each time: a task that comes back after an undo is shown anew, and a ballot that is
 * sent twice is stored once. */
export interface Showing {
  task: TaskOut;
  key: string;
}

/** What is asked for. Confirming: the prefetched task is on the screen, and the server puts it in our hands. */
export type Request = "taking" | "confirming" | "sending" | "skipping" | "undoing";

export interface Working {
  name: "working";
  request: Request;
  /** Why it takes longer than usual: the server or its database is away, and is asked again. */
  delay: ApiError | null;
}

export interface Failed {
  name: "failed";
  error: ApiError;
}

type Screen =
  /** Nothing to show: the first task is on its way, or could not be had. */
  | { screen: "empty"; activity: Working | Failed }
  | { screen: "task"; showing: Showing; activity: Working | Failed | { name: "ready" } }
  /** A practice task was answered: what the expected answer was. */
  | { screen: "feedback"; showing: Showing; practice: NonNullable<Receipt["practice"]> }
  /** No task for this rater. Crowd platforms want their people sent back to an address, or give them a code to enter. */
  | { screen: "end"; end: Pick<Next, "stage" | "outcome" | "completion_url" | "completion_code"> };

/** What happened last: the page says it, and a screen reader. */
export type Notice =
  | { name: "saved" | "restored"; done: number }
  | { name: "savedLate" | "skipped" | "undone" | "skipUndone" };

/** What "Undo" does: takes the last answer back, or brings the task back that was skipped last. */
export type Undoable = { name: "answer" } | { name: "skip"; address: string };

export type DeskState = Screen & {
  /** The task after this one, shown at once when this one is answered. */
  prefetched: TaskOut | null;
  undoable: Undoable | null;
  notice: Notice | null;
};

export type DeskEvent =
  | { type: "started"; request: "sending" | "skipping" | "undoing" }
  /** The next task is asked for; the key is that of the prefetched one, where there is one. */
  | { type: "taking"; key: string }
  | { type: "took"; next: Next; key: string }
  | { type: "stored"; receipt: Receipt }
  /** An answer that was on its way when the page was closed is stored. */
  | { type: "restored"; receipt: Receipt }
  | { type: "skipped"; address: string }
  | { type: "undone"; task: TaskOut; key: string; skip: boolean }
  /** The server is away and is asked again; null: it answered. */
  | { type: "delayed"; error: ApiError | null }
  | { type: "failed"; error: ApiError }
  /** The key is that of the task on the screen when it was asked what comes next. */
  | { type: "prefetched"; task: TaskOut | null; key: string };

const working = (request: Request): Working => ({ name: "working", request, delay: null });

export function opening(couldUndo: boolean): DeskState {
  return { screen: "empty", activity: working("taking"), prefetched: null, undoable: undoableIf(couldUndo), notice: null };
}

const undoableIf = (possible: boolean): Undoable | null => (possible ? { name: "answer" } : null);


export function showingOf(state: DeskState): Showing | null {
  return state.screen === "task" || state.screen === "feedback" ? state.showing : null;
}

function workOf(state: DeskState): Working | null {
  return (state.screen === "task" || state.screen === "empty") && state.activity.name === "working" ? state.activity : null;
}

export const isBusy = (state: DeskState): boolean => workOf(state) !== null;
/** May the task on the screen be answered or skipped? */
export const canAnswer = (state: DeskState): boolean => state.screen === "task" && !isBusy(state);
export const canUndo = (state: DeskState): boolean => state.undoable !== null && (state.screen === "end" || canAnswer(state));
export const delayOf = (state: DeskState): ApiError | null => workOf(state)?.delay ?? null;
export const errorOf = (state: DeskState): ApiError | null =>
  (state.screen === "task" || state.screen === "empty") && state.activity.name === "failed" ? state.activity.error : null;

const show = (task: TaskOut, key: string): Screen => ({ screen: "task", showing: { task, key }, activity: { name: "ready" } });

/** What is on the screen stays there while the server is asked. */
function ask(state: DeskState, request: Request): Screen {
  const showing = showingOf(state);
  return showing ? { screen: "task", showing, activity: working(request) } : { screen: "empty", activity: working(request) };
}

/** What the server gave. A prefetched task that is on the screen already stays as it is. */
function taken(state: DeskState, next: Next, key: string): Screen {
  if (!next.task) return { screen: "end", end: next };
  const shown = workOf(state)?.request === "confirming" ? showingOf(state) : null;
  return show(next.task, shown?.task.address === next.task.address ? shown.key : key);
}

function withActivity(state: DeskState, activity: Working | Failed): DeskState {
  return state.screen === "empty" || state.screen === "task" ? { ...state, activity } : state;
}

export function reduceDesk(state: DeskState, event: DeskEvent): DeskState {
  const { prefetched, notice } = state;
  const kept = { prefetched, undoable: state.undoable, notice };
  const work = workOf(state);
  switch (event.type) {
    case "started": {
      const allowed = event.request === "undoing" ? canUndo(state) : canAnswer(state);
      return allowed ? { ...kept, ...ask(state, event.request) } : state;
    }
    case "taking":
      if (!prefetched) return { ...kept, ...ask(state, "taking") };
      return { ...kept, prefetched: null, screen: "task", showing: { task: prefetched, key: event.key }, activity: working("confirming") };
    case "took":
      return { ...kept, ...taken(state, event.next, event.key) };
    case "stored": {
      const { late, done, practice, can_undo: possible } = event.receipt;
      const after = { undoable: undoableIf(possible), notice: late ? { name: "savedLate" as const } : { name: "saved" as const, done } };
      const showing = showingOf(state);
      return showing && practice ? { ...kept, ...after, screen: "feedback", showing, practice } : { ...state, ...after };
    }
    case "restored":
      return { ...state, undoable: undoableIf(event.receipt.can_undo), notice: { name: "restored", done: event.receipt.done } };
    case "skipped":
      // The answers of the test decide who takes part: nothing of it is undone.
      return { ...state, undoable: showingOf(state)?.task.purpose === "qualification" ? null : { name: "skip", address: event.address }, notice: { name: "skipped" } };
    case "undone":
      return { ...kept, undoable: undoableIf(event.task.can_undo ?? false), notice: { name: event.skip ? "skipUndone" : "undone" }, ...show(event.task, event.key) };
    case "delayed":
      return work ? withActivity(state, { ...work, delay: event.error }) : state;
    case "failed":
      return withActivity(state, { name: "failed", error: event.error });
    case "prefetched": {
      const late = showingOf(state)?.key !== event.key || work?.request === "taking" || work?.request === "confirming";
      return late ? state : { ...state, prefetched: event.task };
    }
  }
}
