import { describe, expect, it } from "vitest";
import { nearest } from "../src/pages/boards/historyplot";

describe("the moment under the pointer", () => {
  const points = [10, 20, 100].map((n_battles) => ({ moment: "", n_battles, ratings: [] }));
  it("is the one with the nearest count of battles", () => {
    expect([-5, 14, 16, 59, 61, 900].map((battles) => nearest(points, battles))).toEqual([0, 0, 1, 1, 2, 2]);
  });
});
