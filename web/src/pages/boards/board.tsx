// The leaderboard and the other views of the same battles. Every filter stands in the address, so that a link shows the same.
import * as calls from "../../api/calls";
import { useInterval, useLoaded } from "../../api/useloaded";
import type { BoardOut } from "../../api/schema";
import { Choices } from "../../parts/fields";
import { chosen, Filters, Folding, queryOfBoard, useFilters, VERDICTS } from "../../parts/filters";
import { InlineCode } from "../../parts/inlinecode";
import { useNarrow } from "../../parts/narrow";
import { Notices } from "../../parts/notices";
import { DownloadLinks } from "../../parts/download";
import { Empty, WhenLoaded } from "../../parts/status";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";
import { modelsCompared, HeadToHeadView } from "./headtohead";
import { HeatMapView } from "./heatmap";
import { HistoryView } from "./history";
import { Standings } from "./standings";
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
      <div className="page-head"><h1>{strings.pages.board}</h1></div>
      <Folding text={leadStrings.board.controls(Object.keys(filters).length)}>
        <div className="page-head">
          <Choices label={t.views} value={view} options={t.tabs} onChange={(value) => set({ view: value === "board" ? "" : value })} />
          <span className="spacer" />
          {(view !== "duel" || "left" in duel) && <DownloadLinks table={TABLES[view] ?? "board"} query={saved} />}
        </div>
        <WhenLoaded loaded={facets}>{(found) => <Filters facets={found} names={VERDICTS} board methods={view !== "heat" && view !== "duel"} />}</WhenLoaded>
      </Folding>
      <div aria-live="polite" aria-busy={waits} className={waits ? "stale" : ""}>
        {view === "history" ? <HistoryView filters={filters} /> : view === "heat" ? (
          <HeatMapView editors={facets.value?.editors ?? []} filters={verdicts} query={query} set={set} />
        ) : (
          <WhenLoaded loaded={loaded}>
            {(board) => {
              if (!board.standings.length) return <NoBoard board={board} filtered={Object.keys(verdicts).length > 0} />;
              if (view === "matrix") return <WinMatrixView board={board} query={queryOfBoard(query, board)} />;
              if (view === "duel") return <HeadToHeadView board={board} filters={verdicts} query={queryOfBoard(query, board)} set={set} />;
              return <Ratings board={board} query={query} set={set} />;
            }}
          </WhenLoaded>
        )}
      </div>
    </div>
  );
}

/** Why there is no board: the true reason, as far as this visitor may know it. */
function NoBoard({ board, filtered }: { board: BoardOut; filtered: boolean }) {
  const t = strings.look;
  const reason = board.votes_withheld && !board.n_battles ? leadStrings.board.withheldEmpty : board.n_battles || filtered ? board.reason || t.noBoard : t.notYet;
  return <Empty><InlineCode text={reason} /></Empty>;
}

function Ratings({ board, query, set }: { board: BoardOut; query: URLSearchParams; set: (changes: Record<string, string>) => void }) {
  const narrow = useNarrow();
  const about = <About board={board} />;
  return (
    <>
      {!narrow && about}
      <Standings board={board} query={query} set={set} />
      {narrow && about}
      {board.signature && <p className="muted signature">{strings.look.signature}: <code>{board.signature}</code></p>}
    </>
  );
}

/** What the board is made from, and what to know about it. */
function About({ board }: { board: BoardOut }) {
  const t = strings.look;
  const warnings = board.notices.filter((notice) => notice.code !== "battles_left_out").map((notice) => notice.text); // said below
  const texts = [
    ...new Set(warnings), ...(board.beside ? [t.beside(board.verdicts, board.beside)] : []), ...(board.votes_withheld ? [leadStrings.board.withheld] : []),
  ];
  return (
    <>
      <p className="muted">
        {[
          t.made(leadStrings.board.methods[board.method] ?? board.method, board.n_battles, board.by_scores), t.verdictsOf(board.verdicts), board.resampled,
        ].filter(Boolean).join(" · ")}
      </p>
      {board.left_out.length > 0 && <p className="muted">{t.leftOut(board.left_out)}</p>}
      <Notices texts={texts} />
    </>
  );
}
