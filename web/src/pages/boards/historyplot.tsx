// Ratings over the battles decided so far: axes with units, a line for each model, and the figures under the pointer.
import { useLayoutEffect, useRef, useState, type PointerEvent } from "react";
import type { BoardSnapshotOut } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { count, figure, moment } from "../../parts/format";
import { ticks } from "../../parts/interval";
import { isolated } from "../../parts/isolated";
import { strings } from "../../strings";
import { spreadLabels } from "./spreadlabels";

const LEAST_HEIGHT = 380;
const TOP = 14;
const FOOT = 48;
const LEFT = 64;
const RIGHT = 18;
const LABELS = 220;
const LINE = 17;
const LONGEST = 22;
/** Under this width names stand below the plot, not beside it. */
const NARROW = 640;
const COLOURS = 8;
/** Past eight models colours come again, in another stroke. */
const STROKES = ["", "7 4", "2 3"];

/** A name that has room beside a line or above a column. */
export const short = (name: string) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name);

export function ratingOf(point: BoardSnapshotOut, model: string): number | null {
  return point.ratings.find((one) => one.model === model)?.rating ?? null;
}

/** The point whose count of battles is nearest. */
export function nearest(points: readonly BoardSnapshotOut[], battles: number): number {
  let best = 0;
  for (const [index, point] of points.entries()) {
    if (Math.abs(point.n_battles - battles) < Math.abs((points[best]?.n_battles ?? 0) - battles)) best = index;
  }
  return best;
}

function useWidth() {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(900);
  useLayoutEffect(() => {
    const found = element.current;
    if (!found) return;
    const watch = new ResizeObserver(() => setWidth(Math.max(280, found.clientWidth)));
    watch.observe(found);
    return () => watch.disconnect();
  }, []);
  return [element, width] as const;
}

interface Props {
  points: readonly BoardSnapshotOut[];
  /** Best first, as on the newest board. */
  models: readonly string[];
}

export function HistoryPlot({ points, models }: Props) {
  const [element, width] = useWidth();
  const [at, setAt] = useState<number | null>(null);
  const t = strings.look;
  const last = points[points.length - 1]!;
  const beside = width >= NARROW;
  const values = points.flatMap((point) => point.ratings.map((one) => one.rating));
  const air = Math.max((Math.max(...values) - Math.min(...values)) * 0.05, 1);
  const span = { low: Math.min(...values) - air, high: Math.max(...values) + air };
  const end = width - (beside ? LABELS : RIGHT);
  const height = Math.max(LEAST_HEIGHT, beside ? models.length * LINE + TOP + FOOT : 0);
  const x = (battles: number) => LEFT + ((end - LEFT) * battles) / Math.max(last.n_battles, 1);
  const y = (rating: number) => TOP + ((height - TOP - FOOT) * (span.high - rating)) / (span.high - span.low);
  const labels = spreadLabels(models.map((model) => y(ratingOf(last, model) ?? span.low)), LINE, TOP, height - FOOT);
  const look = (event: PointerEvent<SVGSVGElement>) => {
    const from = event.currentTarget.getBoundingClientRect().left;
    setAt(nearest(points, (last.n_battles * (event.clientX - from - LEFT)) / Math.max(end - LEFT, 1)));
  };
  const seen = at === null ? undefined : points[at];
  return (
    <div className="plot" ref={element}>
      <svg width={width} height={height} role="img" aria-label={t.plotName(models.length, last.n_battles)} onPointerMove={look} onPointerDown={look} onPointerLeave={() => setAt(null)}>
        {ticks(span, 9).map((value) => (
          <g key={value} className="grid">
            <line x1={LEFT} x2={end} y1={y(value)} y2={y(value)} />
            <text x={LEFT - 8} y={y(value) + 4} textAnchor="end">{count(value)}</text>
          </g>
        ))}
        {ticks({ low: 0, high: last.n_battles }, beside ? 10 : 5).filter(Number.isInteger).map((value) => (
          <g key={value} className="grid">
            <line x1={x(value)} x2={x(value)} y1={height - FOOT} y2={height - FOOT + 5} />
            <text x={x(value)} y={height - FOOT + 19} textAnchor="middle">{count(value)}</text>
          </g>
        ))}
        <path className="axes" d={`M${LEFT},${TOP}V${height - FOOT}H${end}`} />
        <text className="axis-name" x={(LEFT + end) / 2} y={height - 8} textAnchor="middle">{t.axisBattles}</text>
        <text className="axis-name" transform={`translate(14 ${(TOP + height - FOOT) / 2}) rotate(-90)`} textAnchor="middle">{t.axisRating}</text>
        {seen && <line className="guide" x1={x(seen.n_battles)} x2={x(seen.n_battles)} y1={TOP} y2={height - FOOT} />}
        {models.map((model, index) => {
          const line = points.flatMap((point) => {
            const rating = ratingOf(point, model);
            return rating === null ? [] : [[x(point.n_battles), y(rating)] as const];
          });
          return (
            <g key={model} className={`series series-${index % COLOURS}`}>
              <polyline points={line.map((place) => place.join(",")).join(" ")} strokeDasharray={STROKES[Math.floor(index / COLOURS) % STROKES.length]} />
              {line.map(([cx, cy]) => <circle key={cx} cx={cx} cy={cy} r={seen && cx === x(seen.n_battles) ? 5 : 3} />)}
              {beside && <text x={end + 12} y={(labels[index] ?? 0) + 4}><title>{isolated(model)}</title>{isolated(short(model))} {figure(ratingOf(last, model), 0)}</text>}
            </g>
          );
        })}
      </svg>
      {seen && <Tip point={seen} models={models} left={x(seen.n_battles)} flip={x(seen.n_battles) > width / 2} />}
      {!beside && (
        <ul className="plot-key">
          {models.map((model, index) => <li key={model} className={`series series-${index % COLOURS}`}><Bdi>{short(model)}</Bdi> {figure(ratingOf(last, model), 0)}</li>)}
        </ul>
      )}
    </div>
  );
}

/** The board at one moment, beside the pointer. The table below holds the same for those who do not point. */
function Tip({ point, models, left, flip }: { point: BoardSnapshotOut; models: readonly string[]; left: number; flip: boolean }) {
  const rows = [...point.ratings].sort((one, other) => other.rating - one.rating);
  const place = flip ? { right: `calc(100% - ${left - 14}px)` } : { left: left + 14 };
  return (
    <div className="tip" aria-hidden="true" style={place}>
      <strong>{moment(point.moment)} {strings.look.utc}</strong>
      <div className="muted">{strings.explore.count(point.n_battles)}</div>
      <table>
        <tbody>
          {rows.map((one) => (
            <tr key={one.model} className={`series series-${models.indexOf(one.model) % COLOURS}`}>
              <td>{one.rank}</td><td><Bdi>{short(one.model)}</Bdi></td><td className="number">{figure(one.rating, 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
