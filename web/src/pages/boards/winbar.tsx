import type { Cell } from "../../api/schema";

/** Wins, ties, both bad and losses as one bar; the figures stand beside it. */
export function WinBar({ cell }: { cell: Cell }) {
  const parts: [string, number][] = [["left", cell.wins], ["tie", cell.ties], ["bad", cell.both_bad], ["right", cell.losses]];
  const total = parts.reduce((sum, [, value]) => sum + value, 0);
  const starts = parts.map((_, index) => parts.slice(0, index).reduce((sum, [, value]) => sum + value, 0));
  return (
    <svg className="duel-bar" viewBox={`0 0 ${Math.max(total, 1)} 1`} preserveAspectRatio="none" aria-hidden="true">
      {parts.map(([name, value], index) => <rect key={name} className={name} x={starts[index]} y={0} width={value} height={1} />)}
    </svg>
  );
}
