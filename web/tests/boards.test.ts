import { describe, expect, it } from "vitest";
import { balanced, isolated } from "../src/parts/isolated";
import { orderFrom, orderText, sortedBy } from "../src/parts/sortable";
import { spanOf } from "../src/parts/interval";
import { groupsOf, partsOf, winShareOf } from "../src/pages/boards/standings";

describe("sorting", () => {
  const rows = [{ name: "b10", value: 2 }, { name: "b9", value: null }, { name: "a", value: 7 }];
  it("puts what has no value last, whichever way", () => {
    expect(sortedBy(rows, (row) => row.value, false).map((row) => row.name)).toEqual(["b10", "a", "b9"]);
    expect(sortedBy(rows, (row) => row.value, true).map((row) => row.name)).toEqual(["a", "b10", "b9"]);
  });
  it("reads numbers in names as numbers", () => {
    expect(sortedBy(rows, (row) => row.name, false).map((row) => row.name)).toEqual(["a", "b9", "b10"]);
  });
  it("stands in the address", () => {
    expect(orderFrom("-battles", { column: "rank", down: false })).toEqual({ column: "battles", down: true });
    expect(orderText({ column: "battles", down: true })).toBe("-battles");
    expect(orderFrom(null, { column: "rank", down: false })).toEqual({ column: "rank", down: false });
  });
});

describe("a share of wins", () => {
  it("counts a tie half, and is nothing without battles", () => {
    expect(winShareOf({ wins: 1, losses: 0, ties: 2 })).toBeCloseTo(2 / 3);
    expect(winShareOf({ wins: 0, losses: 0, ties: 0 })).toBeNull();
  });
});

describe("groups that never met", () => {
  const standings = ["a", "x", "y"].map((model) => ({ model })) as never[];
  it("are numbered from the largest, and absent if all models met", () => {
    const notices = [{ code: "groups_never_met", text: "", values: { groups: 2, models: [["a"], ["x", "y"]] } }] as never[];
    expect([...groupsOf({ notices, standings })]).toEqual([["x", 1], ["y", 1], ["a", 2]]);
    expect(groupsOf({ notices: [], standings }).size).toBe(0);
  });
  it("are parts of their own, and one part if all models met", () => {
    const models = (found: { standings: { model: string }[] }[]) => found.map((part) => part.standings.map((one) => one.model));
    expect(models(partsOf(standings, new Map([["x", 1], ["y", 1], ["a", 2]])))).toEqual([["x", "y"], ["a"]]);
    expect(models(partsOf(standings, new Map()))).toEqual([["a", "x", "y"]]);
  });
  it("have axes of their own", () => {
    const rated = (model: string, rating: number) => ({ model, rating, low: rating - 10, high: rating + 10 }) as never;
    const [first, second] = partsOf([rated("x", 1500), rated("y", 1400), rated("a", 1000)], new Map([["x", 1], ["y", 1], ["a", 2]]));
    expect(spanOf(first!.standings).low).toBeGreaterThan(1380);
    expect(spanOf(second!.standings).high).toBeLessThan(1020);
  });
});

describe("names as text", () => {
  it("are left alone where nothing turns them around", () => {
    expect(isolated("FLUX.1-dev é 模型")).toBe("FLUX.1-dev é 模型");
  });
  it("cannot end their isolation", () => {
    const hostile = "good\u2069\u202e dab";
    expect(isolated(hostile)).toBe("\u2068good dab\u2069");
    expect(isolated("שלום")).toBe("\u2068שלום\u2069");
  });
  it("end what they open, and nothing else", () => {
    expect(balanced("plain é 模型")).toBe("plain é 模型");
    expect(balanced("a\u202eb\u2066c")).toBe("a\u202eb\u2066c\u2069\u202c");
    expect(balanced("a\u2069b\u202cc")).toBe("abc");
    expect(balanced("\u2067שלום\u2069 a")).toBe("\u2067שלום\u2069 a");
  });
});
