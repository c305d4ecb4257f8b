import { describe, expect, it } from "vitest";
import { ApiError } from "../src/api/client";
import type { Next, Receipt, TaskOut } from "../src/api/schema";
import {
  canAnswer, canUndo, delayOf, errorOf, isBusy, opening, reduceDesk, showingOf, type DeskEvent, type DeskState,
} from "../src/rate/desk";

const task = (address: string): TaskOut => ({ address, kind: "preference" }) as TaskOut;
const next = (address: string): Next => ({ stage: "open", task: task(address) });
const receipt = (extra: Partial<Receipt> = {}): Receipt => ({ done: 3, feedback: null, late: false, quota_left: 9, can_undo: true, practice: null, ...extra });
const practice = { correct: true, preference: "left" as const, answer: null, ratings: {}, tolerance: 1, explanation: "" };
const away = new ApiError(503, "away", "The database is away.", "");
const refused = new ApiError(409, "gone", "This task is not yours any more.", "");

const after = (state: DeskState, ...events: DeskEvent[]) => events.reduce(reduceDesk, state);
const atWork = (couldUndo = false) => after(opening(couldUndo), { type: "took", next: next("a"), key: "1" });
const prefetched = () => after(atWork(), { type: "prefetched", task: task("b"), key: "1" });
const SENDING: DeskEvent[] = [{ type: "started", request: "sending" }, { type: "stored", receipt: receipt() }];

describe("the first task", () => {
  it("is waited for, shown, and can then be answered", () => {
    const waiting = opening(false);
    expect(waiting.screen).toBe("empty");
    expect(isBusy(waiting)).toBe(true);
    const ready = atWork();
    expect(showingOf(ready)).toEqual({ task: task("a"), key: "1" });
    expect([canAnswer(ready), isBusy(ready), canUndo(ready)]).toEqual([true, false, false]);
  });
  it("says why it is late, and nothing any more when it is there", () => {
    const late = after(opening(false), { type: "delayed", error: away });
    expect(delayOf(late)).toBe(away);
    expect(delayOf(after(late, { type: "delayed", error: null }))).toBeNull();
    expect(delayOf(after(late, { type: "took", next: next("a"), key: "1" }))).toBeNull();
  });
  it("is an error on an empty page where it cannot be had, and can be asked for again", () => {
    const failed = after(opening(false), { type: "failed", error: refused });
    expect([failed.screen, errorOf(failed), isBusy(failed)]).toEqual(["empty", refused, false]);
    expect(errorOf(after(failed, { type: "taking", key: "1" }))).toBeNull();
  });
  it("comes after an answer that was on its way when the page was closed", () => {
    const state = after(opening(false), { type: "restored", receipt: receipt({ done: 1 }) }, { type: "took", next: next("a"), key: "1" });
    expect([state.notice, canUndo(state)]).toEqual([{ name: "restored", done: 1 }, true]);
  });
  it("may not be there: then the page says why", () => {
    const state = after(opening(true), { type: "took", next: { stage: "quota", task: null, completion_url: "https://x.example/" }, key: "1" });
    expect(state).toMatchObject({ screen: "end", end: { stage: "quota", completion_url: "https://x.example/" } });
    expect([canAnswer(state), canUndo(state)]).toEqual([false, true]);
  });
});

describe("an answer", () => {
  it("keeps its task on the screen while it is sent, and takes no second one", () => {
    const sending = after(atWork(), { type: "started", request: "sending" });
    expect(showingOf(sending)?.task.address).toBe("a");
    expect([isBusy(sending), canAnswer(sending)]).toEqual([true, false]);
    expect(after(sending, { type: "started", request: "skipping" })).toBe(sending);
    expect(after(sending, { type: "started", request: "undoing" })).toBe(sending);
  });
  it("that is stored can be taken back; one that came too late says so", () => {
    expect(after(atWork(), ...SENDING)).toMatchObject({ undoable: { name: "answer" }, notice: { name: "saved", done: 3 } });
    const late = after(atWork(), { type: "started", request: "sending" }, { type: "stored", receipt: receipt({ late: true }) });
    expect(late.notice).toEqual({ name: "savedLate" });
  });
  it("that is refused leaves the task with the reason and the same key, so that it can be sent again", () => {
    const failed = after(atWork(), { type: "started", request: "sending" }, { type: "failed", error: refused });
    expect([errorOf(failed), showingOf(failed)?.key, canAnswer(failed)]).toEqual([refused, "1", true]);
    expect(errorOf(after(failed, { type: "started", request: "sending" }))).toBeNull();
  });
  it("to a practice task shows what was expected, and nothing can be done but to go on", () => {
    const told = after(atWork(), { type: "started", request: "sending" }, { type: "stored", receipt: receipt({ feedback: "Left.", practice }) });
    expect(told).toMatchObject({ screen: "feedback", practice, undoable: { name: "answer" } });
    expect([canAnswer(told), canUndo(told), isBusy(told)]).toEqual([false, false, false]);
    const on = after(told, { type: "taking", key: "2" });
    expect([on.screen, showingOf(on)?.task.address, isBusy(on)]).toEqual(["task", "a", true]);
  });
});

describe("the prefetched task", () => {
  it("is shown at once, and can be answered when the server has put it in our hands", () => {
    const early = after(prefetched(), ...SENDING, { type: "taking", key: "2" });
    expect([showingOf(early)?.task.address, canAnswer(early), early.prefetched]).toEqual(["b", false, null]);
    const ours = after(early, { type: "took", next: next("b"), key: "3" });
    expect([showingOf(ours)?.key, canAnswer(ours)]).toEqual(["2", true]);
  });
  it("gives way where the server gives another one, or none", () => {
    const early = after(prefetched(), ...SENDING, { type: "taking", key: "2" });
    expect(showingOf(after(early, { type: "took", next: next("c"), key: "3" }))).toEqual({ task: task("c"), key: "3" });
    expect(after(early, { type: "took", next: { stage: "done", task: null }, key: "3" }).screen).toBe("end");
  });
  it("is dropped where it was asked for during another task, or comes when the next one is being taken", () => {
    const state = after(atWork(), { type: "prefetched", task: task("z"), key: "0" });
    expect(state.prefetched).toBeNull();
    const taking = after(atWork(), ...SENDING, { type: "taking", key: "2" });
    expect(after(taking, { type: "prefetched", task: task("z"), key: "1" }).prefetched).toBeNull();
  });
  it("is kept while an answer is sent, skipped or taken back", () => {
    for (const request of ["sending", "skipping"] as const) {
      expect(after(prefetched(), { type: "started", request }).prefetched?.address).toBe("b");
    }
    const sent = after(atWork(), { type: "started", request: "sending" }, { type: "prefetched", task: task("b"), key: "1" });
    expect(sent.prefetched?.address).toBe("b");
  });
});

describe("taking back", () => {
  const undoing: DeskEvent = { type: "started", request: "undoing" };
  it("shows the task anew, once", () => {
    const undone = after(atWork(true), undoing, { type: "undone", task: task("a"), key: "2", skip: false });
    expect([showingOf(undone)?.key, canAnswer(undone), canUndo(undone)]).toEqual(["2", true, false]);
    expect(undone.notice).toEqual({ name: "undone" });
    expect(after(undone, undoing)).toBe(undone);
  });
  it("works from the page that says that all is done, which gives way to waiting", () => {
    const end = after(opening(true), { type: "took", next: { stage: "done", task: null }, key: "1" });
    const waiting = after(end, undoing);
    expect([waiting.screen, isBusy(waiting)]).toEqual(["empty", true]);
    expect(after(waiting, { type: "undone", task: task("a"), key: "2", skip: false }).screen).toBe("task");
    expect(errorOf(after(waiting, { type: "failed", error: refused }))).toBe(refused);
  });
});

describe("skipping", () => {
  it("is said, and the next task comes", () => {
    const state = after(atWork(), { type: "started", request: "skipping" }, { type: "skipped", address: "a" }, { type: "taking", key: "2" }, { type: "took", next: next("b"), key: "3" });
    expect([state.notice, showingOf(state)]).toEqual([{ name: "skipped" }, { task: task("b"), key: "3" }]);
    expect([state.undoable, canUndo(state)]).toEqual([{ name: "skip", address: "a" }, true]);
  });
});

describe("the test", () => {
  const test = { ...task("a"), purpose: "qualification" } as TaskOut;
  const atTest = () => after(opening(true), { type: "took", next: { stage: "qualification", task: test }, key: "1" });
  it("is final: neither its answers nor its skips can be undone", () => {
    const answered = after(atTest(), { type: "started", request: "sending" }, { type: "stored", receipt: receipt({ can_undo: false }) });
    const skipped = after(atTest(), { type: "started", request: "skipping" }, { type: "skipped", address: "a" });
    expect([answered.undoable, skipped.undoable]).toEqual([null, null]);
  });
});
