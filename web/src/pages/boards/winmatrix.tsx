import type { CSSProperties } from "react";
import type { BoardOut } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { share } from "../../parts/format";
import { linkWithFilters } from "../../parts/filters";
import { isolated } from "../../parts/isolated";
import { Link } from "../../parts/link";
import { ScrollArea } from "../../parts/scrollarea";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";
import { winShare } from "./winshare";

const SCALE = [0, 0.25, 0.5, 0.75, 1];

/** How far a share is from even, as the strength of a colour. */
const strengthOf = (won: number) => ({ "--strength": `${Math.round(Math.abs(won - 0.5) * 200)}%` }) as CSSProperties;
const sideOf = (won: number) => (won >= 0.5 ? "won" : "lost");

/** Who beats whom, best first, with how many battles each share is from. */
export function WinMatrixView({ board, query }: { board: BoardOut; query: URLSearchParams }) {
  const t = strings.look;
  const models = board.standings.map((one) => one.model);
  return (
    <>
      <p className="muted">{leadStrings.board.matrixHint}</p>
      <ul className="matrix-scale" aria-label={leadStrings.board.matrixScale}>
        <li className="muted">{leadStrings.board.matrixScale}</li>
        {SCALE.map((won) => <li key={won} className={sideOf(won)} style={strengthOf(won)}>{share(won)}</li>)}
      </ul>
      <ScrollArea label={t.tabs[1][1]}>
        <table className="matrix">
          <thead>
            <tr>
              <td />
              {models.map((model) => <th key={model} scope="col" title={isolated(model)}><span><Bdi>{model}</Bdi></span></th>)}
            </tr>
          </thead>
          <tbody>
            {models.map((row) => (
              <tr key={row}>
                <th scope="row" title={isolated(row)}><Bdi>{row}</Bdi></th>
                {models.map((column) => {
                  const met = row === column ? null : winShare(board.matrix, row, column);
                  if (!met) return <td key={column} className="unmet">{row === column ? "" : strings.none}</td>;
                  const label = t.against(isolated(row), isolated(column), share(met.share), met.count);
                  return (
                    <td key={column} className={sideOf(met.share)} title={label} style={strengthOf(met.share)}>
                      <Link to={linkWithFilters("/battles", query, { left: row, right: column })} >
                        <span aria-hidden="true">{share(met.share)}<small>{String(met.count)}</small></span>
                        <span className="sr-only">{`${share(met.share)}, ${String(met.count)} ${leadStrings.board.cellBattles}`}</span>
                      </Link>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollArea>
    </>
  );
}
