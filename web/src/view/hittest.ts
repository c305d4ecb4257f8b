// Which segment is under a point.
import type { SegmentOut } from "../api/schema";

type Outline = readonly (readonly number[])[];

/** Even-odd rule over all outlines, so that a hole is not part of its segment. */
export function inside(outlines: readonly Outline[], x: number, y: number): boolean {
  let odd = false;
  for (const outline of outlines) {
    for (let i = 0, j = outline.length - 1; i < outline.length; j = i++) {
      const [xi = 0, yi = 0] = outline[i] ?? [];
      const [xj = 0, yj = 0] = outline[j] ?? [];
      if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) odd = !odd;
    }
  }
  return odd;
}

/** The number whose label is within `reach` of the point, else the smallest segment that holds it, else null. */
export function segmentAt(segments: readonly SegmentOut[], x: number, y: number, reach: number): number | null {
  const label = segments.find((one) => Math.hypot(one.label_x - x, one.label_y - y) <= reach);
  if (label) return label.number;
  const area = ({ box }: SegmentOut) => Math.abs((box[2] - box[0]) * (box[3] - box[1]));
  const holding = segments.filter((one) => inside(one.outlines, x, y)).sort((a, b) => area(a) - area(b));
  return holding[0]?.number ?? null;
}
