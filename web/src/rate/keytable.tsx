import type { TaskOut } from "../api/schema";
import { messages } from "../languages";
import { useNarrow } from "../parts/narrow";

type Row = readonly [key: string, text: string];

function keysFor(kind: TaskOut["kind"], oneByOne: boolean, region: boolean): Row[] {
  const k = messages.keys;
  const compare: Row[] = kind === "check" ? [] // one picture only
    : [["V", oneByOne ? k.oneByOne : k.side], ["W", k.swipe], ["F", k.flicker], ["X", k.difference]];
  const send: Row = ["Enter", k.send];
  const own: Record<TaskOut["kind"], Row[]> = {
    preference: [["←", k.left], ["→", k.right], ["T", k.tie], ["B", k.bothBad], [k.clickName, k.click]],
    yes_no: [["Y", k.yes], ["N", k.no]],
    rating: [["1 – 5", k.rate], ["↑ ↓", k.criterion], send, ["N", k.numbers], ["D", k.draw]],
    check: [send],
  };
  return [
    ...own[kind], ["S", k.skip], ["U", k.undo], ...compare,
    ["+ −", k.zoom], [k.arrows, k.move], ["0", k.fit], ["P", k.actual], ["M", k.lens], ...(region ? [["R", k.region] as const] : []), ["?", k.help],
  ];
}

/** The keys that work on a task of this kind; `region`: the edit region is outlined. */
export function KeyTable({ kind, region = false }: { kind: TaskOut["kind"]; region?: boolean }) {
  const oneByOne = useNarrow() && kind === "preference"; // as the tools call this view
  return (
    <>
      <p className="touch-only">{messages.keys.touch}</p>
      <dl className="key-table with-keys">
        {keysFor(kind, oneByOne, region).map(([key, text]) => (
          <div key={key}>
            <dt><kbd>{key}</kbd></dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
