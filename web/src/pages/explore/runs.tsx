// What is at work, what it did and cost, and what failed. The server pushes what changes; else the page asks every few seconds.
import * as calls from "../../api/calls";
import { usePages } from "../../api/usepages";
import { useStream } from "../../api/usestream";
import { useInterval } from "../../api/useloaded";
import type { RunOut, RunPage } from "../../api/schema";
import { Meter } from "../../parts/fields";
import { count, dollars, duration, missed, moment, tally } from "../../parts/format";
import { DownloadLinks } from "../../parts/download";
import { ScrollArea } from "../../parts/scrollarea";
import { ShowMore } from "../../parts/showmore";
import { Empty, WhenLoaded } from "../../parts/status";
import { strings } from "../../strings";

const EVERY_MS = 4000;

export function RunsPage() {
  const loaded = usePages("runs", calls.runs);
  const pushed = useStream("/api/runs/stream");
  useInterval(EVERY_MS, () => {
    if (!pushed.live) loaded.reload();
  });
  const t = strings.runs;
  return (
    <div className="page wide">
      <div className="page-head">
        <h1>{t.title}</h1>
        <span className="badge" data-live={pushed.live}>{pushed.live ? t.live : t.polled}</span>
        <span className="spacer" />
        <DownloadLinks table="runs" />
      </div>
      <WhenLoaded loaded={loaded}>
        {(pages) => {
          const first = (pushed.live ? pushed.value : null) ?? pages[0]!;
          const later = pages.slice(1).flatMap((page) => page.runs);
          const known = new Set(first.runs.map((run) => run.run_id));
          return <Runs page={first} runs={[...first.runs, ...later.filter((run) => !known.has(run.run_id))]} />;
        }}
      </WhenLoaded>
      <ShowMore pages={loaded} />
    </div>
  );
}

function Runs({ page, runs }: { page: RunPage; runs: readonly RunOut[] }) {
  const t = strings.runs;
  const cost = runs.reduce((sum, run) => sum + run.cost_usd, 0);
  return (
    <>
      <div className="tiles" role="group" aria-label={t.totals}>
        {Object.entries(page.totals).filter(([, value]) => value > 0).map(([name, value]) => (
          <div key={name} className="tile"><strong>{count(value)}</strong><span>{t.records(name, value)}</span></div>
        ))}
        <div className="tile"><strong>{dollars(cost)}</strong><span>{t.allCost}</span></div>
      </div>
      <h2>{t.failures}</h2>
      {Object.keys(page.failures).length ? <p className="warning">{missed(page.failures)}</p> : <p className="muted">{t.noFailures}</p>}
      <h2>{t.title}</h2>
      {runs.length === 0 ? (
        <Empty>{t.nothing}</Empty>
      ) : (
        <ScrollArea label={t.title}>
          <table>
            <thead>
              <tr>{[t.command, t.state, t.started, t.took, t.counts, t.cost].map((text) => <th key={text} scope="col">{text}</th>)}</tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <tr key={run.run_id}>
                  <th scope="row">{run.command}</th>
                  <td><span className={`badge state-${run.state}`}>{run.state}</span></td>
                  <td className="number">{moment(run.created_at)}</td>
                  <td className="number">{duration(run.created_at, run.finished_at)}</td>
                  <td className="wordy"><Done run={run} /></td>
                  <td className="number">{dollars(run.cost_usd)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollArea>
      )}
    </>
  );
}

/** What a run has done; how far it is, where it said how much there is to do. */
function Done({ run }: { run: RunOut }) {
  const { planned, ...counts } = run.counts;
  if (run.state !== "running" || planned === undefined) return <>{tally(run.counts)}</>;
  const done = Object.values(counts).reduce((sum, value) => sum + value, 0);
  return (
    <>
      <Meter label={strings.runs.progress} value={done} most={planned} /> {count(done)} / {count(planned)}
      {done > 0 && <span className="muted"> {tally(counts)}</span>}
    </>
  );
}
