// Two models against each other, over all and by task.
import * as calls from "../../api/calls";
import { useLoaded } from "../../api/useloaded";
import type { BoardOut, Cell, HeadToHead } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { Select } from "../../parts/fields";
import { linkWithFilters } from "../../parts/filters";
import { InlineCode } from "../../parts/inlinecode";
import { Link } from "../../parts/link";
import { isolated } from "../../parts/isolated";
import { ScrollArea } from "../../parts/scrollarea";
import { Empty, WhenLoaded } from "../../parts/status";
import { strings } from "../../strings";
import { WinBar } from "./winbar";

interface Props {
  board: BoardOut;
  filters: Record<string, string>;
  query: URLSearchParams;
  set: (changes: Record<string, string>) => void;
}

/** The two models that are compared: those of the address, else the first two of the board. */
export function modelsCompared(board: BoardOut, query: URLSearchParams): Record<string, string> {
  const models = board.standings.map((one) => one.model);
  const left = query.get("left") ?? models[0] ?? "";
  const right = query.get("right") ?? models.find((one) => one !== left) ?? "";
  return left && right && left !== right ? { left, right } : {};
}

export function HeadToHeadView({ board, filters, query, set }: Props) {
  const models = board.standings.map((one) => one.model);
  const { left = query.get("left") ?? "", right = query.get("right") ?? "" } = modelsCompared(board, query);
  const t = strings.look;
  if (models.length < 2) return <Empty><InlineCode text={board.reason || t.noBoard} /></Empty>;
  return (
    <>
      <div className="filters">
        <Select label={t.duelLeft} value={left} options={models} onChange={(value) => set({ left: value })} />
        <Select label={t.duelRight} value={right} options={models} onChange={(value) => set({ right: value })} />
        <Link to={linkWithFilters("/battles", query, { left, right })} className="button small">{strings.explore.battles}</Link>
      </div>
      {left !== right && <Duel left={left} right={right} filters={filters} />}
    </>
  );
}

function Duel({ left, right, filters }: { left: string; right: string; filters: Record<string, string> }) {
  const asked = { ...filters, left, right };
  const loaded = useLoaded(`duel ${JSON.stringify(asked)}`, () => calls.headToHead(asked));
  return <WhenLoaded loaded={loaded}>{(found) => <Bars found={found} />}</WhenLoaded>;
}

function Bars({ found }: { found: HeadToHead }) {
  const t = strings.look;
  const rows: [string, Cell][] = [[t.overall, found.total], ...Object.entries(found.by_task).sort()];
  const met = rows.filter(([, cell]) => cell.wins + cell.losses + cell.ties + cell.both_bad > 0);
  if (!met.length) return <Empty>{t.noDuel}</Empty>;
  return (
    <>
      <p className="legend">
        <span className="swatch left" /> {t.wins(isolated(found.left))} <span className="swatch tie" /> {t.ties}
        <span className="swatch bad" /> {t.bothBad} <span className="swatch right" /> {t.wins(isolated(found.right))}
      </p>
      <ScrollArea label={t.tabs[2][1]}>
        <table className="duel">
          <thead><tr><th scope="col">{t.names.task}</th><td /><th scope="col" className="number">{t.record}</th></tr></thead>
          <tbody>
            {met.map(([task, cell]) => (
              <tr key={task}>
                <th scope="row"><Bdi>{task}</Bdi></th>
                <td><WinBar cell={cell} /></td>
                <td className="number">{cell.wins}, {cell.losses}, {cell.ties}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollArea>
    </>
  );
}
