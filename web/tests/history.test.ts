import { describe, expect, it } from "vitest";
import { pointsOf } from "../src/pages/boards/history";
import { nearest } from "../src/pages/boards/historyplot";

describe("the moment under the pointer", () => {
  const points = [10, 20, 100].map((n_battles) => ({ moment: "", n_battles, ratings: [] }));
  it("is the one with the nearest count of battles", () => {
    expect([-5, 14, 16, 59, 61, 900].map((battles) => nearest(points, battles))).toEqual([0, 0, 1, 1, 2, 2]);
  });
});

describe("the points of a group", () => {
  it("hold its models only, from their first battle on", () => {
    const rating = (model: string) => ({ model, rating: 1000, rank: 1 });
    const points = [["a"], ["a", "x"], ["a", "b", "x"]].map((models, index) => ({ moment: "", n_battles: index, ratings: models.map(rating) }));
    const found = pointsOf(points, ["x", "y"]);
    expect(found.map((point) => [point.n_battles, point.ratings.map((one) => one.model)])).toEqual([[1, ["x"]], [2, ["x"]]]);
  });
});
