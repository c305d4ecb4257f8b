// All pictures of a task: side by side in step, or two of them on top of each other.
import { useState } from "react";
import { Choices } from "../parts/fields";
import { strings } from "../strings";
import { useKeys } from "../keys";
import { ViewGroup } from "./viewgroup";
import type { Spot } from "./lens";
import { Pane } from "./pane";
import { Stack, type Named } from "./stack";
import { Tools, viewKeys, type Mode } from "./tools";

interface Props {
  context: readonly Named[];
  left: Named;
  right: Named;
}

/** Another task is another view: it starts at the whole picture, side by side. */
export function CompareView({ context, left, right }: Props) {
  const [group] = useState(() => new ViewGroup());
  const [mode, setMode] = useState<Mode>("side");
  const [lens, setLens] = useState(false);
  const [spot, setSpot] = useState<Spot | null>(null);
  const [shown, setShown] = useState(0);
  useKeys(viewKeys(group, () => setLens(!lens), setMode));
  const beside = context[Math.min(shown, context.length - 1)];
  const panes = { group, lens, spot, onSpot: setSpot };

  return (
    <section className="desk" aria-label={strings.view.pictures}>
      {mode === "side" ? (
        <div className="panes" data-count={beside ? 3 : 2}>
          {beside && (
            <Pane key={shown} {...panes} name={beside.name} picture={beside.picture} className="context">
              {context.length > 1 && (
                <Choices label={strings.view.context} value={String(shown)} onChange={(value) => setShown(Number(value))}
                  options={context.map((one, index) => [String(index), one.name] as const)} />
              )}
            </Pane>
          )}
          <Pane {...panes} name={left.name} picture={left.picture} className="left" />
          <Pane {...panes} name={right.name} picture={right.picture} className="right" />
        </div>
      ) : (
        <Stacked mode={mode} group={group} context={context} left={left} right={right} />
      )}
      <Tools group={group} lens={lens} onLens={() => setLens(!lens)} mode={mode} onMode={setMode} />
    </section>
  );
}

interface StackedProps extends Props {
  mode: Exclude<Mode, "side">;
  group: ViewGroup;
}

function Stacked({ mode, group, context, left, right }: StackedProps) {
  const pairs = [[left, right], ...context.slice(0, 1).flatMap((one) => [[one, left], [one, right]])] as [Named, Named][];
  const [pair, setPair] = useState(0);
  const [under, over] = pairs[pair] ?? pairs[0]!;
  return (
    <div className="panes" data-count="1">
      <Stack key={pair} mode={mode} under={under} over={over} group={group}>
        {pairs.length > 1 && (
          <Choices label={strings.view.pair} value={String(pair)} onChange={(value) => setPair(Number(value))}
            options={pairs.map(([a, b], index) => [String(index), `${a.name} / ${b.name}`] as const)} />
        )}
      </Stack>
    </div>
  );
}
