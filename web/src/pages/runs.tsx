// What is at work, what it did and cost, and what failed.
import * as calls from "../api/calls";
import { useEvery, useLoaded } from "../api/use";
import { count, dollars, duration, moment, tally } from "../parts/figures";
import { Empty, Shown } from "../parts/state";
import { strings } from "../strings";

const EVERY_MS = 4000;

export function RunsPage() {
  const loaded = useLoaded("runs", calls.runs);
  useEvery(EVERY_MS, loaded.reload);
  const t = strings.runs;
  return (
    <div className="page wide">
      <h1>{t.title}</h1>
      <Shown loaded={loaded}>
        {(page) => (
          <>
            <div className="tiles" aria-label={t.totals}>
              {Object.entries(page.totals).filter(([, value]) => value > 0).map(([name, value]) => (
                <div key={name} className="tile"><strong>{count(value)}</strong><span>{name}</span></div>
              ))}
            </div>
            <h2>{t.failures}</h2>
            {Object.keys(page.failures).length ? <p className="warning">{tally(page.failures)}</p> : <p className="muted">{t.noFailures}</p>}
            <h2>{t.title}</h2>
            {page.runs.length === 0 ? (
              <Empty>{t.nothing}</Empty>
            ) : (
              <table>
                <thead>
                  <tr>{[t.command, t.state, t.started, t.took, t.counts, t.cost].map((text) => <th key={text} scope="col">{text}</th>)}</tr>
                </thead>
                <tbody>
                  {page.runs.map((run) => (
                    <tr key={run.run_id}>
                      <th scope="row">{run.command}</th>
                      <td><span className={`badge state-${run.state}`}>{run.state}</span></td>
                      <td>{moment(run.created_at)}</td>
                      <td>{duration(run.created_at, run.finished_at)}</td>
                      <td>{tally(run.counts)}</td>
                      <td className="number">{dollars(run.cost_usd)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
            <p className="muted">{t.live}</p>
          </>
        )}
      </Shown>
    </div>
  );
}
