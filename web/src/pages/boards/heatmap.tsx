// Where raters found something wrong, as a heat map.
import * as calls from "../../api/calls";
import { useLoaded } from "../../api/useloaded";
import type { HeatMap } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { Select } from "../../parts/fields";
import { count } from "../../parts/format";
import { ScrollArea } from "../../parts/scrollarea";
import { Empty, WhenLoaded } from "../../parts/status";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";

const KINDS = ["ratings", "objects", "segments", "boxes", "new_image", "returned_input", "other"] as const;

interface Props {
  editors: readonly string[];
  filters: Record<string, string>;
  query: URLSearchParams;
  set: (changes: Record<string, string>) => void;
}

export function HeatMapView({ editors, filters, query, set }: Props) {
  const editor = query.get("editor") ?? "";
  const asked = editor ? { ...filters, editor } : filters;
  const loaded = useLoaded(`heat ${JSON.stringify(asked)}`, () => calls.heatMap(asked));
  return (
    <>
      <div className="filters">
        <Select label={strings.look.model} value={editor} options={editors} any={strings.all} onChange={(value) => set({ editor: value })} />
      </div>
      <WhenLoaded loaded={loaded}>{(map) => <Heat map={map} />}</WhenLoaded>
    </>
  );
}

function Heat({ map }: { map: HeatMap }) {
  const t = strings.look;
  const labels = Object.entries(map.labels).sort((a, b) => b[1] - a[1]).slice(0, 20);
  const most = Math.max(1, ...map.cells.flat());
  const marked = map.editors.some((one) => KINDS.some((kind) => kind !== "ratings" && one[kind] > 0));
  if (!map.boxes && !labels.length && !marked) return <Empty>{t.noHeat}</Empty>;
  return (
    <>
      <div className="heat">
        <figure>
          <svg viewBox={`0 0 ${map.columns} ${map.rows}`} role="img" aria-label={`${t.heat}: ${t.heatBoxes(map.boxes)}`}>
            {map.cells.flatMap((row, y) =>
              row.map((value, x) => (
                <rect key={`${x} ${y}`} x={x} y={y} width={1.02} height={1.02} opacity={value / most}>
                  {value > 0 && <title>{t.heatBoxes(value)}</title>}
                </rect>
              )),
            )}
          </svg>
          <figcaption className="muted">{t.heat}: {t.heatBoxes(map.boxes)}</figcaption>
          {map.boxes > 0 && <Scale most={most} />}
        </figure>
        {labels.length > 0 && (
          <table>
            <caption>{t.heatLabels}</caption>
            <tbody>
              {labels.map(([label, times]) => (
                <tr key={label}><th scope="row"><Bdi>{label}</Bdi></th><td className="number">{times}</td></tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
      <ScrollArea label={t.heatEditors}>
        <table>
          <caption>{t.heatEditors}</caption>
          <thead>
            <tr><th scope="col">{t.model}</th>{KINDS.map((kind) => <th key={kind} scope="col" className="number">{t.heatKinds[kind]}</th>)}</tr>
          </thead>
          <tbody>
            {map.editors.map((one) => (
              <tr key={one.editor}>
                <th scope="row" className="name"><Bdi>{one.editor}</Bdi></th>
                {KINDS.map((kind) => <td key={kind} className="number">{count(one[kind])}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollArea>
    </>
  );
}

const STEPS = 16;

/** What a shade means, from no box to the most that cover one place. */
function Scale({ most }: { most: number }) {
  const middle = most > 2 ? Math.round(most / 2) : null;
  return (
    <div className="heat-scale" role="img" aria-label={`${leadStrings.board.heatScale}: 0 – ${count(most)}`}>
      <span className="muted">{leadStrings.board.heatScale}</span>
      <svg viewBox={`0 0 ${STEPS} 1`} preserveAspectRatio="none" aria-hidden="true">
        {Array.from({ length: STEPS }, (_, step) => <rect key={step} x={step} y={0} width={1.02} height={1} opacity={step / (STEPS - 1)} />)}
      </svg>
      <span className="muted ends"><span>0</span>{middle !== null && <span>{count(middle)}</span>}<span>{count(most)}</span></span>
    </div>
  );
}
