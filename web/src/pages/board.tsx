// The leaderboard and the other views of the same battles. Every filter stands in the address, so that a link shows the same.
import * as calls from "../api/calls";
import { useInterval, useLoaded } from "../api/useloaded";
import type { BoardOut } from "../api/schema";
import { Choices } from "../parts/fields";
import { count, figure, share, tally } from "../parts/format";
import { chosen, Filters, linkWithFilters, queryOfBoard, useFilters, VERDICTS } from "../parts/filters";
import { Axis, Interval, spanOf } from "../parts/interval";
import { InlineCode } from "../parts/inlinecode";
import { Link } from "../parts/link";
import { DownloadLinks } from "../parts/download";
import { Empty, WhenLoaded } from "../parts/status";
import { strings } from "../strings";
import { modelsCompared, HeadToHeadView } from "./headtohead";
import { HeatMapView } from "./heatmap";
import { HistoryView } from "./history";
import { WinMatrixView } from "./winmatrix";

/** A board without battles may get some: a run is perhaps at work. */
const EMPTY_MS = 5000;
const TABLES: Record<string, string> = { board: "board", matrix: "matrix", duel: "head-to-head", history: "history", heat: "issues" };

export function BoardPage() {
  const { query, set } = useFilters();
  const verdicts = chosen(query, VERDICTS);
  const filters = chosen(query, [...VERDICTS, "method"]);
  const facets = useLoaded("facets", calls.facets);
  const loaded = useLoaded(`board ${JSON.stringify(filters)}`, () => calls.board(filters));
  useInterval(EMPTY_MS, () => {
    if (loaded.value && !loaded.value.n_battles) loaded.reload();
  });
  const view = query.get("view") ?? "board";
  const t = strings.look;
  const duel = view === "duel" && loaded.value ? modelsCompared(loaded.value, query) : {};
  const saved = view === "duel" ? { ...verdicts, ...duel } : view === "heat" ? { ...verdicts, ...chosen(query, ["editor"]) } : filters;
  const waits = loaded.loading && view !== "history" && view !== "heat";
  return (
    <div className="page wide">
      <div className="page-head">
        <h1>{strings.pages.board}</h1>
        <Choices label={t.views} value={view} options={t.tabs} onChange={(value) => set({ view: value === "board" ? "" : value })} />
        <span className="spacer" />
        {(view !== "duel" || "left" in duel) && <DownloadLinks table={TABLES[view] ?? "board"} query={saved} />}
      </div>
      <WhenLoaded loaded={facets}>{(found) => <Filters facets={found} names={VERDICTS} board methods={view !== "heat" && view !== "duel"} />}</WhenLoaded>
      <div aria-live="polite" aria-busy={waits} className={waits ? "stale" : ""}>
        {view === "history" ? <HistoryView filters={filters} /> : view === "heat" ? (
          <HeatMapView editors={facets.value?.editors ?? []} filters={verdicts} query={query} set={set} />
        ) : (
          <WhenLoaded loaded={loaded}>
            {(board) => {
              if (view === "matrix") return <WinMatrixView board={board} query={queryOfBoard(query, board)} />;
              if (view === "duel") return <HeadToHeadView board={board} filters={verdicts} query={queryOfBoard(query, board)} set={set} />;
              return <Ratings board={board} query={queryOfBoard(query, board)} filtered={Object.keys(verdicts).length > 0} />;
            }}
          </WhenLoaded>
        )}
      </div>
    </div>
  );
}

const digitsOf = (rating: number) => (Math.abs(rating) >= 10 ? 0 : 2);

function Ratings({ board, query, filtered }: { board: BoardOut; query: URLSearchParams; filtered: boolean }) {
  const t = strings.look;
  const span = spanOf(board.standings);
  const excluded = tally(board.excluded);
  return (
    <>
      <p className="muted">
        {[
          t.made(board.method, board.n_battles, board.by_scores), t.verdictsOf(board.verdicts), board.resampled,
          excluded === strings.none ? "" : t.excluded(excluded),
        ].filter(Boolean).join(" · ")}
      </p>
      {board.beside && <p><InlineCode text={t.beside(board.verdicts, board.beside)} /></p>}
      {board.warnings.map((warning) => <p key={warning} className="warning"><InlineCode text={warning} /></p>)}
      {board.standings.length === 0 ? (
        <Empty><InlineCode text={board.n_battles || filtered ? board.reason || t.noBoard : t.notYet} /></Empty>
      ) : (
        <div className="scroll">
          <table className="standings">
            <thead>
              <tr>
                <th scope="col">{t.rank}</th>
                <th scope="col">{t.model}</th>
                <th scope="col" className="number">{t.rating}</th>
                <th scope="col" className="chart">{t.interval}<Axis span={span} /></th>
                <th scope="col" className="number">{t.battles}</th>
                <th scope="col" className="number">{t.record}</th>
                <th scope="col" className="number">{t.coverage}</th>
              </tr>
            </thead>
            <tbody>
              {board.standings.map((one) => (
                <tr key={one.model}>
                  <td className="number-left">
                    <strong>{one.rank}</strong>{" "}
                    {one.rank_low !== null && one.rank_high !== null && one.rank_low !== one.rank_high && (
                      <span className="muted">{one.rank_low}–{one.rank_high}</span>
                    )}
                  </td>
                  <th scope="row" className="name"><Link to={linkWithFilters("/battles", query, { left: one.model })}>{one.model}</Link></th>
                  <td className="number">
                  {figure(one.rating, digitsOf(one.rating))}
                  {one.low !== null && one.high !== null && <div className="muted only-narrow" aria-hidden="true">{figure(one.low, digitsOf(one.rating))}–{figure(one.high, digitsOf(one.rating))}</div>}
                </td>
                  <td className="chart">
                    <span className="sr-only">{figure(one.low, digitsOf(one.rating))} – {figure(one.high, digitsOf(one.rating))}</span>
                    <Interval standing={one} span={span} />
                  </td>
                  <td className="number">{count(one.battles)}</td>
                  <td className="number">{count(one.wins)}, {count(one.losses)}, {count(one.ties)}</td>
                  <td className="number">{share(one.coverage)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {board.signature && <p className="muted signature">{t.signature}: <code>{board.signature}</code></p>}
    </>
  );
}
