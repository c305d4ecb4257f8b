// The battle explorer: every pair that was compared, by whom, with which verdicts.
import * as calls from "../api/calls";
import { usePages } from "../api/usepages";
import { useLoaded } from "../api/useloaded";
import type { BattleOut } from "../api/schema";
import { tally } from "../parts/format";
import { chosen, Filters, useFilters, VERDICTS } from "../parts/filters";
import { Link } from "../parts/link";
import { DownloadLinks } from "../parts/download";
import { ShowMore } from "../parts/showmore";
import { Empty, WhenLoaded } from "../parts/status";
import { strings } from "../strings";

const FILTERS = ["left", "right", ...VERDICTS];

export function BattlesPage() {
  const { query } = useFilters();
  const filters = chosen(query, FILTERS);
  const facets = useLoaded("facets", calls.facets);
  const loaded = usePages(`battles ${JSON.stringify(filters)}`, (cursor) => calls.battles({ ...filters, cursor }));
  const t = strings.explore;
  return (
    <div className="page wide">
      <div className="page-head">
        <h1>{t.battles}</h1>
        <span className="spacer" />
        <DownloadLinks table="battles" query={filters} />
      </div>
      {facets.value && <Filters facets={facets.value} names={FILTERS} />}
      <WhenLoaded loaded={loaded}>
        {(pages) => {
          const battles = pages.flatMap((page) => page.battles);
          if (!battles.length) return <Empty>{t.nothing}</Empty>;
          return (
            <>
              <p className="muted">{t.count(pages[0]?.total ?? 0)}</p>
              <BattleTable battles={battles} />
              <ShowMore pages={loaded} shown={battles.length} total={pages[0]?.total} />
            </>
          );
        }}
      </WhenLoaded>
    </div>
  );
}

function BattleTable({ battles }: { battles: readonly BattleOut[] }) {
  const t = strings.explore;
  return (
    <div className="scroll">
      <table>
        <thead>
          <tr>{[t.instruction, t.task, t.left, t.right, t.votes, t.judgments].map((text) => <th key={text} scope="col">{text}</th>)}</tr>
        </thead>
        <tbody>
          {battles.map((one) => (
            <tr key={one.battle_id}>
              <th scope="row" className="clip"><Link to={`/battles/${one.battle_id}`}>{one.instruction}</Link></th>
              <td className="word">{one.task ?? strings.none}</td>
              <td className="name">{one.left}</td>
              <td className="name">{one.right}</td>
              <td>{tally(one.votes)}</td>
              <td>{tally(one.judgments)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
