// How ratings moved from one stored board to the next.
import * as calls from "../api/calls";
import { useLoaded } from "../api/use";
import type { BoardPast } from "../api/wire";
import { figure, moment } from "../parts/figures";
import { Empty, Shown } from "../parts/state";
import { strings } from "../strings";

const WIDTH = 900;
const HEIGHT = 320;
const LABELS = 160;

export function HistoryView() {
  const loaded = useLoaded("history", calls.history);
  return (
    <Shown loaded={loaded}>
      {({ boards }) => (boards.length ? <Past boards={[...boards].reverse()} /> : <Empty>{strings.look.noHistory}</Empty>)}
    </Shown>
  );
}

function Past({ boards }: { boards: readonly BoardPast[] }) {
  const newest = boards[boards.length - 1]!;
  const models = newest.standings.map((one) => one.model);
  const values = boards.flatMap((board) => board.standings.map((one) => one.rating));
  const low = Math.min(...values);
  const high = Math.max(...values);
  const x = (index: number) => 20 + ((WIDTH - LABELS - 40) * index) / Math.max(boards.length - 1, 1);
  const y = (value: number) => 20 + ((HEIGHT - 40) * (high - value)) / Math.max(high - low, 1e-9);
  const line = (model: string) =>
    boards.flatMap((board, index) => {
      const found = board.standings.find((one) => one.model === model);
      return found ? [`${x(index)},${y(found.rating)}`] : [];
    });
  return (
    <figure className="history">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={strings.look.tabs[3][1]}>
        {models.map((model, index) => {
          const points = line(model);
          const last = newest.standings.find((one) => one.model === model);
          return (
            <g key={model} className={`series series-${index % 8}`}>
              <polyline points={points.join(" ")} />
              {points.map((point) => <circle key={point} cx={point.split(",")[0]} cy={point.split(",")[1]} r={3} />)}
              {last && <text x={WIDTH - LABELS} y={y(last.rating) + 4}>{model} {figure(last.rating, 0)}</text>}
            </g>
          );
        })}
      </svg>
      <figcaption className="muted">{moment(boards[0]!.created_at)} – {moment(newest.created_at)}</figcaption>
    </figure>
  );
}
