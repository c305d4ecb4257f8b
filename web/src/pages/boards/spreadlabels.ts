interface Block {
  members: number[];
  middle: number;
}

/** Places as close to the wanted ones as can be, in the same order, none nearer to the next than `gap`, all from `low` to `high`
 * as far as there is room. */
export function spreadLabels(wanted: readonly number[], gap: number, low = -Infinity, high = Infinity): number[] {
  const order = wanted.map((_, index) => index).sort((a, b) => wanted[a]! - wanted[b]!);
  const placed = [...wanted];
  const around = (members: number[]): Block => {
    const middle = members.reduce((sum, one) => sum + wanted[one]!, 0) / members.length;
    const half = ((members.length - 1) / 2) * gap;
    return { members, middle: Math.max(low + half, Math.min(high - half, middle)) };
  };
  // Places that would touch become a block around their middle; a block that touches another joins it.
  const blocks: Block[] = [];
  for (const index of order) {
    let block = around([index]);
    for (let last = blocks[blocks.length - 1]; last && touches(last, block, gap); last = blocks[blocks.length - 1]) {
      blocks.pop();
      block = around([...last.members, ...block.members]);
    }
    blocks.push(block);
  }
  for (const { members, middle } of blocks) {
    members.forEach((member, at) => {
      placed[member] = middle + (at - (members.length - 1) / 2) * gap;
    });
  }
  return placed;
}

function touches(above: Block, below: Block, gap: number): boolean {
  return below.middle - above.middle < ((above.members.length + below.members.length) / 2) * gap;
}
