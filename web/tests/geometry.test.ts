import { describe, expect, it } from "vitest";
import type { SegmentOut } from "../src/api/schema";
import { boxBetween, fitScale, percent, trueScale } from "../src/view/geometry";
import { inside, segmentAt } from "../src/view/hittest";

describe("scales", () => {
  it("fit a wide picture by its width and a tall one by its height", () => {
    expect(fitScale({ width: 400, height: 300 }, { width: 2000, height: 1000 })).toBe(200);
    expect(fitScale({ width: 400, height: 300 }, { width: 1000, height: 2000 })).toBe(300);
  });

  it("are 100 % at true pixels, whatever the screen", () => {
    for (const ratio of [1, 1.5, 2]) {
      const picture = { width: 6000, height: 4000 };
      expect(percent(picture, trueScale(picture, ratio), ratio)).toBeCloseTo(100);
    }
  });
});

describe("a box", () => {
  const picture = { width: 100, height: 50 };
  it("takes its corners in any order and stays inside", () => {
    expect(boxBetween([90, 60], [-5, 10], picture)).toEqual([0, 10, 90, 50]);
  });
  it("is nothing outside of the picture", () => {
    expect(boxBetween([120, 10], [140, 20], picture)).toBeNull();
  });
});

describe("segments", () => {
  const ring: SegmentOut = {
    number: 1, label_x: 2, label_y: 2, box: [0, 0, 10, 10],
    outlines: [[[0, 0], [10, 0], [10, 10], [0, 10]], [[4, 4], [6, 4], [6, 6], [4, 6]]],
  };
  const core: SegmentOut = { number: 2, label_x: 5, label_y: 5, box: [3, 3, 7, 7], outlines: [[[3, 3], [7, 3], [7, 7], [3, 7]]] };

  it("have holes", () => {
    expect(inside(ring.outlines, 1, 1)).toBe(true);
    expect(inside(ring.outlines, 5, 5)).toBe(false);
  });

  it("are found by label first, then the smallest", () => {
    expect(segmentAt([ring, core], 3.5, 3.5, 0.1)).toBe(2);
    expect(segmentAt([ring, core], 9, 9, 0.1)).toBe(1);
    expect(segmentAt([ring, core], 2.2, 2.2, 0.5)).toBe(1);
    expect(segmentAt([ring, core], 20, 20, 0.5)).toBeNull();
  });
});
