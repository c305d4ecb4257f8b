// All pictures of a task: side by side in step, or two of them on top of each other.
import type OpenSeadragon from "openseadragon";
import { useEffect, useState, type ReactNode } from "react";
import type { RegionBox } from "../api/schema";
import { useKeys } from "../keys";
import { messages } from "../languages";
import { Choices } from "../parts/fields";
import { useNarrow } from "../parts/narrow";
import { Empty } from "../parts/status";
import type { Spot } from "./lens";
import { RegionOutline } from "./overlay";
import { Pane } from "./pane";
import { Stack, type Named } from "./stack";
import { Tools, viewKeys, type Mode } from "./tools";
import { ViewGroup } from "./viewgroup";

interface Props {
  group: ViewGroup;
  context: readonly Named[];
  /** The pictures that are judged: one or two. */
  judged: readonly Named[];
  /** A click on a judged picture. */
  onChoose?: ((index: number) => void) | undefined;
  /** Marks over the one picture that is judged. */
  overlay?: ((viewer: OpenSeadragon.Viewer) => ReactNode) | undefined;
  /** Where the edit was to happen: outlined on every picture. */
  region?: readonly RegionBox[] | undefined;
  /** Tools of the task, before those of the pictures. */
  tools?: ReactNode;
}

const MOST_BESIDE = 2;

/** The way to look stays as it was set from one task to the next. */
export function PictureView({ group, context, judged, onChoose, overlay, region, tools }: Props) {
  const [mode, setMode] = useState<Mode>("side");
  const [lens, setLens] = useState(false);
  const [spot, setSpot] = useState<Spot | null>(null);
  const oneByOne = useNarrow() && judged.length === 2; // two do not fit beside each other: a swipe shows the other
  const canStack = judged.length + context.length > 1;
  useKeys(viewKeys(group, () => setLens(!lens), canStack ? setMode : undefined));
  if (!judged.length && !context.length) {
    return <section className="desk" aria-label={messages.view.pictures}><Empty>{messages.view.noPictures}</Empty></section>;
  }
  const shownMode = canStack ? mode : "side";
  return (
    <section className="desk" aria-label={messages.view.pictures}>
      {shownMode === "side" ? (
        <SideBySide oneByOne={oneByOne} group={group} context={context} judged={judged} onChoose={onChoose} overlay={overlay} region={region} panes={{ group, lens, spot, onSpot: setSpot }} />
      ) : (
        <Stacked mode={shownMode} group={group} context={context} judged={judged} region={region} />
      )}
      <Tools group={group} lens={lens} oneByOne={oneByOne} onLens={() => setLens(!lens)} {...(canStack ? { mode, onMode: setMode } : {})}>{tools}</Tools>
    </section>
  );
}

/** Two pictures to look at, with nothing to answer. */
export function CompareView({ context, left, right }: { context: readonly Named[]; left: Named; right: Named }) {
  const [group] = useState(() => new ViewGroup());
  return <PictureView group={group} context={context} judged={[left, right]} />;
}

interface SideProps extends Pick<Props, "group" | "context" | "judged" | "onChoose" | "overlay" | "region"> {
  oneByOne: boolean;
  panes: { group: ViewGroup; lens: boolean; spot: Spot | null; onSpot: (spot: Spot | null) => void };
}

function SideBySide({ oneByOne, group, context, judged, onChoose, overlay, region, panes }: SideProps) {
  const [shown, setShown] = useState(0);
  // Every task starts with its left picture.
  const first = judged[0]?.picture.tiles_url ?? "";
  const [chosen, setChosen] = useState({ first, front: 0 });
  const front = chosen.first === first ? chosen.front : 0;
  useEffect(() => (oneByOne ? group.onSwipe((step) => setChosen({ first, front: step === 1 ? 1 : 0 })) : undefined), [group, oneByOne, first]);
  const one = context.length + judged.length > MOST_BESIDE + 1;
  const at = Math.min(shown, context.length - 1);
  const beside = one ? context.slice(at, at + 1) : context;
  const sides = judged.length === 2 ? ["left", "right"] : ["result"];
  const outlined = ({ picture }: Named) => (region?.length ? (viewer: OpenSeadragon.Viewer) => <RegionOutline viewer={viewer} picture={picture} region={region} /> : undefined);
  return (
    <>
      <div className="panes" data-count={beside.length + judged.length} {...(oneByOne ? { "data-front": sides[front] } : {})}>
        {beside.map((picture, index) => (
          <Pane key={index} {...panes} name={picture.name} picture={picture.picture} className="context" overlay={outlined(picture)}>
            {one && (
              <Choices label={messages.view.context} value={String(at)} onChange={(value) => setShown(Number(value))}
                options={context.map((other, number) => [String(number), other.name] as const)} />
            )}
          </Pane>
        ))}
        {judged.map((picture, index) => (
          <Pane key={sides[index]} {...panes} name={picture.name} picture={picture.picture} className={`judged ${sides[index]}`} hidden={oneByOne && index !== front}
            overlay={overlay ?? outlined(picture)} onChoose={onChoose && (() => onChoose(index))} />
        ))}
      </div>
      {oneByOne && (
        <Choices label={messages.view.showPicture} value={String(front)} onChange={(value) => setChosen({ first, front: Number(value) })}
          options={judged.map((picture, index) => [String(index), picture.name] as const)} />
      )}
    </>
  );
}

interface StackedProps extends Pick<Props, "group" | "context" | "judged" | "region"> {
  mode: Exclude<Mode, "side">;
}

/** The two judged ones, and each of them with the source. */
function Stacked({ mode, group, context, judged, region }: StackedProps) {
  const [pair, setPair] = useState(0);
  const [first, second] = judged;
  const pairs: [Named, Named][] = first && second ? [[first, second]] : [];
  for (const source of context) for (const picture of judged) if (source === context[0] || judged.length === 1) pairs.push([source, picture]);
  const [under, over] = pairs[pair] ?? pairs[0] ?? [context[0], context[1]];
  if (!under || !over) return null;
  return (
    <div className="panes" data-count="1">
      <Stack mode={mode} under={under} over={over} group={group} region={region}>
        {pairs.length > 1 && (
          <Choices label={messages.view.pair} value={String(Math.min(pair, pairs.length - 1))} onChange={(value) => setPair(Number(value))}
            options={pairs.map(([a, b], index) => [String(index), `${a.name} / ${b.name}`] as const)} />
        )}
      </Stack>
    </div>
  );
}
