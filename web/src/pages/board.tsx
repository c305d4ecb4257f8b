// The leaderboard. Every filter stands in the address, so that a link shows the same.
import * as calls from "../api/calls";
import { address } from "../api/client";
import { useLoaded } from "../api/use";
import type { Board, Facets } from "../api/wire";
import { Choices, Select } from "../parts/fields";
import { count, figure, share, tally } from "../parts/figures";
import { Axis, Interval, spanOf } from "../parts/interval";
import { Link } from "../parts/link";
import { Empty, Shown } from "../parts/state";
import { go, usePlace, withQuery } from "../router";
import { strings } from "../strings";
import { DuelView } from "./duel";
import { HeatView } from "./heat";
import { HistoryView } from "./history";
import { MatrixView } from "./matrix";

const FILTERS = ["source", "method", "judge", "dimension", "dataset", "family", "task", "topic", "track", "mode", "since", "until"];

export function BoardPage() {
  const { path, query } = usePlace();
  const filters = Object.fromEntries(FILTERS.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? ""]] : [])));
  const key = JSON.stringify(filters);
  const facets = useLoaded("facets", calls.facets);
  const loaded = useLoaded(`board ${key}`, () => calls.board(filters));
  const view = query.get("view") ?? "board";
  const set = (changes: Record<string, string>) => go(withQuery(path, query, changes), { replace: true });
  const t = strings.look;
  return (
    <div className="page wide">
      <div className="page-head">
        <h1>{strings.pages.board}</h1>
        <Choices label={t.views} value={view} options={t.tabs} onChange={(value) => set({ view: value === "board" ? "" : value })} />
        <span className="spacer" />
        <a className="button small" href={address("/api/board.csv", filters)} download>{t.export}</a>
      </div>
      <Shown loaded={facets}>{(found) => <Filters facets={found} query={query} set={set} />}</Shown>
      <div aria-live="polite" aria-busy={loaded.loading} className={loaded.loading ? "stale" : ""}>
        {view === "history" ? <HistoryView /> : view === "heat" ? (
          <HeatView editors={facets.value?.editors ?? []} />
        ) : (
          <Shown loaded={loaded}>
            {(board) => {
              if (view === "matrix") return <MatrixView board={board} />;
              if (view === "duel") return <DuelView board={board} source={query.get("source") ?? ""} query={query} set={set} />;
              return <Ratings board={board} />;
            }}
          </Shown>
        )}
      </div>
    </div>
  );
}

interface FiltersProps {
  facets: Facets;
  query: URLSearchParams;
  set: (changes: Record<string, string>) => void;
}

function Filters({ facets, query, set }: FiltersProps) {
  const t = strings.look;
  const value = (name: string) => query.get(name) ?? "";
  const pick = (name: string, options: readonly string[]) => (
    <Select key={name} label={t.names[name] ?? name} value={value(name)} options={options} any={t.any} onChange={(found) => set({ [name]: found })} />
  );
  const active = FILTERS.some((name) => query.get(name));
  return (
    <section className="filters" aria-label={t.filters}>
      <Choices label={t.source} value={value("source") || "all"} options={t.sources}
        onChange={(found) => set({ source: found === "all" ? "" : found })} />
      {pick("task", facets.tasks)}
      {pick("topic", facets.topics)}
      {pick("family", facets.families)}
      {pick("track", facets.tracks)}
      {pick("dataset", facets.datasets)}
      {pick("dimension", facets.dimensions)}
      {pick("judge", facets.judges)}
      {pick("mode", facets.modes)}
      <Select label={t.method} value={value("method") || "bt"} options={t.methods} onChange={(found) => set({ method: found === "bt" ? "" : found })} />
      {["since", "until"].map((name) => (
        <label key={name} className="field">
          <span>{t.names[name]}</span>
          <input type="date" value={value(name)} onChange={(event) => set({ [name]: event.target.value })} />
        </label>
      ))}
      {active && (
        <button type="button" className="small" onClick={() => set(Object.fromEntries(FILTERS.map((name) => [name, ""])))}>{t.clear}</button>
      )}
    </section>
  );
}

function Ratings({ board }: { board: Board }) {
  const t = strings.look;
  const span = spanOf(board.standings);
  const excluded = tally(board.excluded);
  return (
    <>
      <p className="muted">
        {t.made(board.method, board.n_battles)}{excluded !== strings.none && ` · ${t.excluded(excluded)}`}
      </p>
      {board.warnings.map((warning) => <p key={warning} className="warning">{warning}</p>)}
      {board.standings.length === 0 ? (
        <Empty>{board.reason || t.noBoard}</Empty>
      ) : (
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
                <td>
                  <strong>{one.rank}</strong>{" "}
                  {one.rank_low !== null && one.rank_high !== null && one.rank_low !== one.rank_high && (
                    <span className="muted">{one.rank_low}–{one.rank_high}</span>
                  )}
                </td>
                <th scope="row"><Link to={withQuery("/battles", new URLSearchParams(), { left: one.model })}>{one.model}</Link></th>
                <td className="number">{figure(one.rating, Math.abs(one.rating) >= 10 ? 0 : 2)}</td>
                <td className="chart">
                  <span className="sr-only">{figure(one.low, 1)} – {figure(one.high, 1)}</span>
                  <Interval standing={one} span={span} />
                </td>
                <td className="number">{count(one.battles)}</td>
                <td className="number">{count(one.wins)}, {count(one.losses)}, {count(one.ties)}</td>
                <td className="number">{share(one.coverage)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
