import type { Cell } from "../../api/schema";

export interface Met {
  share: number;
  count: number;
}

/** The share of battles that `row` won against `column`, a tie counting half; null where they have not met. */
export function winShare(cells: readonly Cell[], row: string, column: string): Met | null {
  let won = 0;
  let count = 0;
  for (const cell of cells) {
    const straight = cell.left === row && cell.right === column;
    const mirrored = cell.left === column && cell.right === row;
    if (!straight && !mirrored) continue;
    won += (straight ? cell.wins : cell.losses) + cell.ties / 2;
    count += cell.wins + cell.losses + cell.ties;
    // A matrix may hold both halves: they are the same battles.
    if (count) break;
  }
  return count ? { share: won / count, count } : null;
}
