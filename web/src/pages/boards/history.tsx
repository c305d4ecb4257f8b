// How ratings moved as battles came in.
import * as calls from "../../api/calls";
import { useLoaded } from "../../api/useloaded";
import type { RatingHistory } from "../../api/schema";
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

function Past({ history }: { history: RatingHistory }) {
  const t = strings.look;
  const { points } = history;
  const newest = points[points.length - 1]!;
  const models = newest.ratings.map((one) => one.model);
  return (
    <>
      <p className="muted">{t.historyHint}</p>
      <figure className="history">
        <HistoryPlot points={points} models={models} />
        <figcaption className="muted">
          {t.plotCaption(leadStrings.board.methods[history.method] ?? history.method, moment(points[0]!.moment), moment(newest.moment))}
        </figcaption>
      </figure>
      <ScrollArea label={t.tabs[3][1]}>
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
