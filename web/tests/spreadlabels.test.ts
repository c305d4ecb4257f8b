import { describe, expect, it } from "vitest";
import { spreadLabels } from "../src/pages/boards/spreadlabels";

describe("labels that would touch", () => {
  it("stay where they are if they do not", () => {
    expect(spreadLabels([10, 50, 90], 14)).toEqual([10, 50, 90]);
  });
  it("are moved apart around their middle, in the same order", () => {
    expect(spreadLabels([50, 50], 14)).toEqual([43, 57]);
    expect(spreadLabels([52, 50, 10], 10)).toEqual([56, 46, 10]);
  });
  it("stay inside, as far as there is room", () => {
    expect(spreadLabels([0, 0, 1, 99], 10, 0, 100)).toEqual([0, 10, 20, 99]);
    expect(spreadLabels([100, 100, 100], 10, 0, 100)).toEqual([80, 90, 100]);
  });
  it("never come nearer than the gap, however many there are", () => {
    const wanted = Array.from({ length: 40 }, (_, index) => (index * 37) % 23);
    const placed = spreadLabels(wanted, 5);
    const sorted = [...placed].sort((a, b) => a - b);
    for (let index = 1; index < sorted.length; index += 1) expect(sorted[index]! - sorted[index - 1]!).toBeGreaterThanOrEqual(5 - 1e-9);
    for (const [one, other] of [[0, 1], [3, 7]] as const) expect(Math.sign(placed[one]! - placed[other]!)).toBe(Math.sign(wanted[one]! - wanted[other]!));
  });
});
