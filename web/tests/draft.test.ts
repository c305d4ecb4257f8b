import { describe, expect, it } from "vitest";
import type { Criterion, TaskOut } from "../src/api/schema";
import { EMPTY, explained, fromBallot, missing, toBallot, type Draft } from "../src/rate/draft";

const criterion = (name: string): Criterion => ({ name, label: name, question: "", low: 1, high: 5, anchors: [] });
const rating: Pick<TaskOut, "kind" | "criteria" | "checks"> = { kind: "rating", criteria: [criterion("a"), criterion("b")], checks: [] };
const none = { noObjects: true, noSegments: true };
const whats = (draft: Draft) => missing(draft, rating).map((one) => one.what);

describe("a rating", () => {
  it("needs every criterion and both lists", () => {
    expect(whats(EMPTY)).toEqual(["rating", "rating", "objects", "segments"]);
  });

  it("at the highest values needs no explanation", () => {
    expect(whats({ ...EMPTY, ...none, ratings: { a: 5, b: 5 } })).toEqual([]);
  });

  it.each([1, 2, 3, 4])("is refused with a %i and no explanation", (value) => {
    expect(whats({ ...EMPTY, ...none, ratings: { a: 5, b: value } })).toEqual(["explanation"]);
  });

  it.each<Partial<Draft>>([{ comment: "blurred" }, { other: "noise" }, { objects: ["hat"] }, { segments: [3] }, { boxes: [[0, 0, 2, 2]] }])(
    "is explained by %o",
    (change) => {
      expect(explained({ ...EMPTY, ...change })).toBe(true);
    },
  );

  it("is not explained by blanks", () => {
    expect(explained({ ...EMPTY, comment: "  \n", other: " " })).toBe(false);
  });

  it("comes back from its ballot unchanged", () => {
    const draft: Draft = {
      ...EMPTY, ratings: { a: 2, b: 5 }, objects: ["hat", "<b>"], segments: [2, 9], boxes: [[1, 2, 30, 40]], other: "noise",
      comment: "too dark", newImage: true,
    };
    expect(fromBallot({ ...toBallot(draft, "rating"), idempotency_key: "12345678" })).toEqual(draft);
  });
});

describe("a check", () => {
  const task: Pick<TaskOut, "kind" | "criteria" | "checks"> = { kind: "check", criteria: [], checks: [criterion("visible")] };
  it("needs each check, a decision, and words for a repair", () => {
    expect(missing(EMPTY, task).map((one) => one.what)).toEqual(["check", "decision"]);
    const filled: Draft = { ...EMPTY, checks: { visible: false }, decision: "repair" };
    expect(missing(filled, task).map((one) => one.what)).toEqual(["repair"]);
    expect(missing({ ...filled, comment: "crop it" }, task)).toEqual([]);
  });
});
