// How ratings moved as battles came in.
import * as calls from "../../api/calls";
import { useLoaded } from "../../api/useloaded";
import type { BoardSnapshotOut, RatingHistory } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { count, figure, moment } from "../../parts/format";
import { isolated } from "../../parts/isolated";
import { ScrollArea } from "../../parts/scrollarea";
import { Empty, WhenLoaded } from "../../parts/status";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";
import { HistoryPlot, ratingOf, short } from "./historyplot";

export function HistoryView({ filters }: { filters: Record<string, string> }) {
  const loaded = useLoaded(`history ${JSON.stringify(filters)}`, () => calls.history(filters));
  return <WhenLoaded loaded={loaded}>{(history) => (history.points.length ? <Past history={history} /> : <Empty>{strings.look.noHistory}</Empty>)}</WhenLoaded>;
}

/** The points with the ratings of these models only; without those of before their first battle. */
export function pointsOf(points: readonly BoardSnapshotOut[], models: readonly string[]): BoardSnapshotOut[] {
  const kept = points.map((point) => ({ ...point, ratings: point.ratings.filter((one) => models.includes(one.model)) }));
  return kept.filter((point) => point.ratings.length > 0);
}

function Past({ history }: { history: RatingHistory }) {
  const several = history.groups.length > 1;
  return (
    <>
      <p className="muted">{strings.look.historyHint}</p>
      {history.groups.map((models, index) => (
        <section key={models.join("\n")} aria-label={several ? leadStrings.board.group(index + 1) : undefined}>
          {several && <h2>{leadStrings.board.group(index + 1)} <small>{leadStrings.board.groupHint(models.length)}</small></h2>}
          <Group history={history} models={models} name={several ? leadStrings.board.group(index + 1) : ""} />
        </section>
      ))}
    </>
  );
}

/** The plot and the table of models that met each other. */
function Group({ history, models, name }: { history: RatingHistory; models: readonly string[]; name: string }) {
  const t = strings.look;
  const points = pointsOf(history.points, models);
  const newest = points[points.length - 1]!;
  return (
    <>
      <figure className="history">
        <HistoryPlot points={points} models={models} />
        <figcaption className="muted">
          {t.plotCaption(leadStrings.board.methods[history.method] ?? history.method, moment(points[0]!.moment), moment(newest.moment))}
        </figcaption>
      </figure>
      <ScrollArea label={name ? `${t.tabs[3][1]}, ${name}` : t.tabs[3][1]}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t.moment}</th>
              <th scope="col" className="number">{t.battles}</th>
              {models.map((model) => <th key={model} scope="col" className="number" title={isolated(model)}><Bdi>{short(model)}</Bdi></th>)}
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
      </ScrollArea>
    </>
  );
}
