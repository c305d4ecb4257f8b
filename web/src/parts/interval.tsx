// A rating with its interval, drawn on one scale for all rows.
import type { StandingOut } from "../api/schema";

export interface Span {
  low: number;
  high: number;
}

/** The smallest span that holds every rating and interval, with a little air. */
export function spanOf(standings: readonly StandingOut[]): Span {
  const values = standings.flatMap((one) => [one.rating, one.low ?? one.rating, one.high ?? one.rating]);
  if (!values.length) return { low: 0, high: 1 };
  const low = Math.min(...values);
  const high = Math.max(...values);
  const air = Math.max((high - low) * 0.04, 1e-6);
  return { low: low - air, high: high + air };
}

/** Round values to draw lines at: at most `most` of them. */
export function ticks({ low, high }: Span, most = 6): number[] {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? rough;
  const found: number[] = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) found.push(Number(value.toFixed(10)));
  return found;
}

const WIDTH = 1000;

export function Interval({ standing, span }: { standing: StandingOut; span: Span }) {
  const at = (value: number) => (WIDTH * (value - span.low)) / (span.high - span.low);
  return (
    <svg className="interval" viewBox={`0 0 ${WIDTH} 24`} preserveAspectRatio="none" aria-hidden="true">
      {ticks(span).map((value) => <line key={value} className="tick" x1={at(value)} x2={at(value)} y1={0} y2={24} />)}
      {standing.low !== null && standing.high !== null && (
        <>
          <line className="bar" x1={at(standing.low)} x2={at(standing.high)} y1={12} y2={12} />
          <line className="end" x1={at(standing.low)} x2={at(standing.low)} y1={6} y2={18} />
          <line className="end" x1={at(standing.high)} x2={at(standing.high)} y1={6} y2={18} />
        </>
      )}
      <line className="dot" x1={at(standing.rating)} x2={at(standing.rating)} y1={12} y2={12} />
    </svg>
  );
}

export function Axis({ span }: { span: Span }) {
  const at = (value: number) => `${(100 * (value - span.low)) / (span.high - span.low)}%`;
  return (
    <svg className="axis" aria-hidden="true">
      {ticks(span).map((value) => <text key={value} x={at(value)} y={12}>{value}</text>)}
    </svg>
  );
}
