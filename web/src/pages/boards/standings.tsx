// The table of ratings: sorted by any column, searched by name.
import { useDeferredValue } from "react";
import type { BoardOut, StandingOut } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { count, figure, share } from "../../parts/format";
import { linkWithFilters, queryOfBoard } from "../../parts/filters";
import { Axis, Interval, spanOf, type Span } from "../../parts/interval";
import { Link } from "../../parts/link";
import { ScrollArea } from "../../parts/scrollarea";
import { orderFrom, orderText, sortedBy, SortHead, type SortOrder } from "../../parts/sortable";
import { Empty } from "../../parts/status";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";

const BY_RANK: SortOrder = { column: "rank", down: false };

/** Share of battles won, a tie counting half; null without battles. */
export function winShareOf({ wins, losses, ties }: { wins: number; losses: number; ties: number }): number | null {
  const all = wins + losses + ties;
  return all ? (wins + ties / 2) / all : null;
}

/** The number of each model's group, from 1, the largest group first; empty if all models met. Ranks hold within a group. */
export function groupsOf(board: Pick<BoardOut, "notices" | "standings">): Map<string, number> {
  const names = board.notices.find((one) => one.code === "groups_never_met")?.values.models;
  const here = new Set(board.standings.map((one) => one.model));
  const groups = (Array.isArray(names) ? names : []).map((group) => (group as string[]).filter((name) => here.has(name)));
  const sorted = groups.filter((group) => group.length > 0).sort((one, other) => other.length - one.length);
  return new Map(sorted.length > 1 ? sorted.flatMap((group, at) => group.map((name) => [name, at + 1] as const)) : []);
}

export interface BoardPart {
  number: number;
  standings: StandingOut[];
}

/** The standings by group, from group 1; one part if all models met. */
export function partsOf(standings: readonly StandingOut[], groups: ReadonlyMap<string, number>): BoardPart[] {
  const numbers = groups.size ? [...new Set(groups.values())].sort((one, other) => one - other) : [1];
  return numbers.map((number) => ({ number, standings: standings.filter((one) => (groups.get(one.model) ?? 1) === number) }));
}

const VALUES: Record<string, (one: StandingOut) => number | string | null> = {
  rank: (one) => one.rank, model: (one) => one.model, rating: (one) => one.rating, battles: (one) => one.battles,
  share: winShareOf, coverage: (one) => one.coverage,
};

interface Props {
  board: BoardOut;
  query: URLSearchParams;
  set: (changes: Record<string, string>) => void;
}

export function Standings({ board, query, set }: Props) {
  const t = strings.look;
  const words = leadStrings.board;
  const search = query.get("find") ?? "";
  const wanted = useDeferredValue(search).trim().toLowerCase();
  const order = orderFrom(query.get("sort"), BY_RANK);
  const matches = board.standings.filter((one) => one.model.toLowerCase().includes(wanted));
  const groups = groupsOf(board);
  const value = VALUES[order.column] ?? VALUES.rank!;
  const parts = partsOf(board.standings, groups);
  const span = parts.length === 1 ? spanOf(board.standings) : null;
  const sort = (next: SortOrder) => set({ sort: orderText(next) === orderText(BY_RANK) ? "" : orderText(next) });
  const head = (column: string, text: string, hint: string, options: { down?: boolean; className?: string } = {}) => (
    <SortHead column={column} order={order} onSort={sort} {...options}>
      <span>{text}<small>{hint}</small></span>
    </SortHead>
  );
  return (
    <>
      <div className="row find">
        <input type="search" aria-label={words.search} placeholder={words.search} value={search} maxLength={200} onChange={(event) => set({ find: event.target.value })} />
        {wanted && <span className="muted" role="status">{words.found(matches.length, board.standings.length)}</span>}
      </div>
      {matches.length === 0 ? <Empty>{words.noMatch(search)}</Empty> : (
        <ScrollArea label={strings.pages.board}>
          <table className="standings">
            <thead>
              <tr>
                {head("rank", t.rank, words.rankHint)}
                {head("model", t.model, "")}
                {head("rating", t.rating, words.ratingHint, { down: true, className: "number" })}
                <th scope="col" className="chart"><span>{t.interval}<small>{words.intervalHint}</small></span>{span && <Axis span={span} />}</th>
                {head("battles", t.battles, words.battlesHint, { down: true, className: "number" })}
                <th scope="col" className="number"><span>{t.record}<small>{words.recordHint}</small></span></th>
                {head("share", words.share, words.shareHint, { down: true, className: "number" })}
                {head("coverage", t.coverage, words.coverageHint, { down: true, className: "number" })}
              </tr>
            </thead>
            {parts.map((part) => (
              <Part
                key={part.number} part={part} several={parts.length > 1} rows={sortedBy(matches.filter((one) => part.standings.includes(one)), value, order.down)}
                link={(model) => linkWithFilters("/model", queryOfBoard(query, board), { model })}
              />
            ))}
          </table>
        </ScrollArea>
      )}
      {board.standings.some((one) => one.low !== null) && <p className="muted">{words.significance}</p>}
    </>
  );
}

interface PartProps {
  part: BoardPart;
  several: boolean;
  rows: readonly StandingOut[];
  link: (model: string) => string;
}

/** The models of one group, with an axis of their own: ratings of two groups cannot be compared. */
function Part({ part, several, rows, link }: PartProps) {
  const span = spanOf(part.standings);
  const words = leadStrings.board;
  return (
    <tbody>
      {several && rows.length > 0 && (
        <tr className="part">
          <th scope="rowgroup" colSpan={3}>{words.group(part.number)} <small>{words.groupHint(part.standings.length)}</small></th>
          <td className="chart"><Axis span={span} /></td>
          <td colSpan={4} />
        </tr>
      )}
      {rows.map((one) => <Row key={one.model} one={one} span={span} to={link(one.model)} />)}
    </tbody>
  );
}

const digitsOf = (rating: number) => (Math.abs(rating) >= 10 ? 0 : 2);

function Row({ one, span, to }: { one: StandingOut; span: Span; to: string }) {
  const write = (value: number | null) => figure(value, digitsOf(one.rating));
  return (
    <tr>
      <td className="number-left">
        <strong>{one.rank}</strong>{" "}
        {one.rank_low !== null && one.rank_high !== null && one.rank_low !== one.rank_high && (
          <span className="muted">{one.rank_low}–{one.rank_high}</span>
        )}
      </td>
      <th scope="row" className="name"><Link to={to}><Bdi>{one.model}</Bdi></Link></th>
      <td className="number">
        {write(one.rating)}
        {one.low !== null && one.high !== null && <div className="muted only-narrow" aria-hidden="true">{write(one.low)}–{write(one.high)}</div>}
      </td>
      <td className="chart">
        <span className="sr-only">{write(one.low)} – {write(one.high)}</span>
        <Interval standing={one} span={span} />
      </td>
      <td className="number">{count(one.battles)}</td>
      <td className="number">{count(one.wins)}, {count(one.losses)}, {count(one.ties)}</td>
      <td className="number">{share(winShareOf(one))}</td>
      <td className="number">{share(one.coverage)}</td>
    </tr>
  );
}
