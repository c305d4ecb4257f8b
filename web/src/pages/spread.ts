/** Places as close to the wanted ones as can be, in the same order, none nearer to the next than `gap`. */
export function spread(wanted: readonly number[], gap: number): number[] {
  const order = wanted.map((_, index) => index).sort((a, b) => wanted[a]! - wanted[b]!);
  const placed = [...wanted];
  // Places that would touch become a block around their middle; a block that touches another joins it.
  const blocks: { members: number[]; middle: number }[] = [];
  for (const index of order) {
    let block = { members: [index], middle: wanted[index]! };
    for (let last = blocks[blocks.length - 1]; last && touches(last, block, gap); last = blocks[blocks.length - 1]) {
      blocks.pop();
      const members: number[] = [...last.members, ...block.members];
      block = { members, middle: members.reduce((sum, one) => sum + wanted[one]!, 0) / members.length };
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

function touches(above: { members: number[]; middle: number }, below: { members: number[]; middle: number }, gap: number): boolean {
  return below.middle - above.middle < ((above.members.length + below.members.length) / 2) * gap;
}
