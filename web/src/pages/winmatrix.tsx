import type { CSSProperties } from "react";
import type { BoardOut } from "../api/schema";
import { share } from "../parts/format";
import { linkWithFilters } from "../parts/filters";
import { InlineCode } from "../parts/inlinecode";
import { Link } from "../parts/link";
import { Empty } from "../parts/status";
import { strings } from "../strings";
import { winShare } from "./winshare";

/** Who beats whom, best first. */
export function WinMatrixView({ board, query }: { board: BoardOut; query: URLSearchParams }) {
  const t = strings.look;
  const models = board.standings.map((one) => one.model);
  if (!models.length) return <Empty><InlineCode text={board.reason || t.noBoard} /></Empty>;
  return (
    <>
      <p className="muted">{t.matrixHint}</p>
      <div className="scroll">
        <table className="matrix">
          <thead>
            <tr>
              <td />
              {models.map((model) => <th key={model} scope="col" title={model}><span>{model}</span></th>)}
            </tr>
          </thead>
          <tbody>
            {models.map((row) => (
              <tr key={row}>
                <th scope="row" title={row}>{row}</th>
                {models.map((column) => {
                  const met = row === column ? null : winShare(board.matrix, row, column);
                  if (!met) return <td key={column} className="unmet">{row === column ? "" : strings.none}</td>;
                  return (
                    <td key={column} className={met.share >= 0.5 ? "won" : "lost"} title={t.against(row, column, share(met.share), met.count)}
                      style={{ "--strength": `${Math.round(Math.abs(met.share - 0.5) * 200)}%` } as CSSProperties}>
                      <Link to={linkWithFilters("/battles", query, { left: row, right: column })}>{String(Math.round(100 * met.share))}</Link>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
