// How ratings moved as battles came in.
import * as calls from "../api/calls";
import { useLoaded } from "../api/use";
import type { BoardThen, RatingHistory } from "../api/wire";
import { count, figure, moment } from "../parts/figures";
import { Empty, Shown } from "../parts/state";
import { strings } from "../strings";
import { spread } from "./spread";

const WIDTH = 900;
const LEAST_HEIGHT = 340;
const EDGE = 20;
const LABELS = 230;
const LINE = 17;
const LONGEST = 22;

export function HistoryView({ filters }: { filters: Record<string, string> }) {
  const loaded = useLoaded(`history ${JSON.stringify(filters)}`, () => calls.history(filters));
  return <Shown loaded={loaded}>{(history) => (history.points.length ? <Past history={history} /> : <Empty>{strings.look.noHistory}</Empty>)}</Shown>;
}

function Past({ history }: { history: RatingHistory }) {
  const t = strings.look;
  const { points } = history;
  const newest = points[points.length - 1]!;
  const models = newest.ratings.map((one) => one.model);
  return (
    <>
      <p className="muted">{t.historyHint}</p>
      <figure className="history">
        <Lines points={points} models={models} />
        <figcaption className="muted">
          {moment(points[0]!.moment)} ({t.made(history.method, points[0]!.n_battles)}) – {moment(newest.moment)} ({t.made(history.method, newest.n_battles)})
        </figcaption>
      </figure>
      <div className="scroll" role="region" aria-label={t.tabs[3][1]} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t.moment}</th>
              <th scope="col" className="number">{t.battles}</th>
              {models.map((model) => <th key={model} scope="col" className="number" title={model}>{short(model)}</th>)}
            </tr>
          </thead>
          <tbody>
            {[...points].reverse().map((point) => (
              <tr key={point.moment}>
                <th scope="row" className="number">{moment(point.moment)}</th>
                <td className="number">{count(point.n_battles)}</td>
                {models.map((model) => <td key={model} className="number">{figure(ratingOf(point, model), 0)}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** A name that has room beside a line or above a column. */
const short = (name: string) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name);

function ratingOf(point: BoardThen, model: string): number | null {
  return point.ratings.find((one) => one.model === model)?.rating ?? null;
}

function Lines({ points, models }: { points: readonly BoardThen[]; models: readonly string[] }) {
  const values = points.flatMap((point) => point.ratings.map((one) => one.rating));
  const low = Math.min(...values);
  const high = Math.max(...values);
  const first = points[0]!.n_battles;
  const all = points[points.length - 1]!.n_battles - first;
  const x = (point: BoardThen) => 20 + (WIDTH - LABELS - 40) * (all ? (point.n_battles - first) / all : 1);
  const height = Math.max(LEAST_HEIGHT, models.length * LINE + 2 * EDGE); // every model has its line of text
  const y = (value: number) => EDGE + ((height - 2 * EDGE) * (high - value)) / Math.max(high - low, 1e-9);
  const last = points[points.length - 1]!;
  const labels = spread(models.map((model) => y(ratingOf(last, model) ?? low)), LINE, EDGE, height - EDGE);
  return (
    <svg viewBox={`0 0 ${WIDTH} ${height}`} className={height > LEAST_HEIGHT ? "tall" : ""} role="img" aria-label={strings.look.tabs[3][1]}>
      {models.map((model, index) => {
        const line = points.flatMap((point) => {
          const rating = ratingOf(point, model);
          return rating === null ? [] : [[x(point), y(rating)] as const];
        });
        return (
          <g key={model} className={`series series-${index % 8}`}>
            <polyline points={line.map((at) => at.join(",")).join(" ")} />
            {line.map(([cx, cy]) => <circle key={cx} cx={cx} cy={cy} r={3} />)}
            <text x={WIDTH - LABELS} y={(labels[index] ?? 0) + 4}><title>{model}</title>{short(model)} {figure(ratingOf(last, model), 0)}</text>
          </g>
        );
      })}
    </svg>
  );
}
