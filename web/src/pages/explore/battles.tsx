// The battle explorer: every pair that was compared, by whom, with which verdicts.
import * as calls from "../../api/calls";
import { usePages } from "../../api/usepages";
import { useLoaded } from "../../api/useloaded";
import type { BattleOut } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { tally } from "../../parts/format";
import { chosen, Filters, Folding, useFilters, VERDICTS } from "../../parts/filters";
import { Link } from "../../parts/link";
import { DownloadLinks } from "../../parts/download";
import { ScrollArea } from "../../parts/scrollarea";
import { ShowMore } from "../../parts/showmore";
import { Empty, WhenLoaded } from "../../parts/status";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";

const FILTERS = ["left", "right", ...VERDICTS];

export function BattlesPage() {
  const { query } = useFilters();
  const filters = chosen(query, FILTERS);
  const facets = useLoaded("facets", calls.facets);
  const loaded = usePages(`battles ${JSON.stringify(filters)}`, (cursor) => calls.battles({ ...filters, cursor }));
  const t = strings.explore;
  const { empty } = leadStrings;
  return (
    <div className="page wide">
      <div className="page-head">
        <h1>{t.battles}</h1>
        <span className="spacer" />
        <DownloadLinks table="battles" query={filters} />
      </div>
      <Folding text={leadStrings.board.filtersOnly(Object.keys(filters).length)}>{facets.value && <Filters facets={facets.value} names={FILTERS} />}</Folding>
      <WhenLoaded loaded={loaded}>
        {(pages) => {
          const battles = pages.flatMap((page) => page.battles);
          if (!battles.length) return <Empty>{Object.keys(filters).length ? empty.battlesFiltered : pages[0]?.some_hidden ? "" : empty.battles} {pages[0]?.some_hidden && leadStrings.board.itemsHiddenEmpty}</Empty>;
          return (
            <>
              <p className="muted">{t.count(pages[0]?.total ?? 0)}</p>
              <BattleTable battles={battles} />
              <ShowMore pages={loaded} shown={battles.length} total={pages[0]?.total} />
              {pages[0]?.some_hidden && <p className="muted">{leadStrings.board.itemsHidden}</p>}
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
    <ScrollArea label={t.battles}>
      <table>
        <thead>
          <tr>{[t.instruction, t.task, t.left, t.right, t.votes, t.judgments].map((text) => <th key={text} scope="col">{text}</th>)}</tr>
        </thead>
        <tbody>
          {battles.map((one) => (
            <tr key={one.battle_id}>
              <th scope="row" className="clip"><Link to={`/battles/${one.battle_id}`}><Bdi>{one.instruction}</Bdi></Link></th>
              <td className="word"><Bdi>{one.task ?? strings.none}</Bdi></td>
              <td className="name"><Bdi>{one.left}</Bdi></td>
              <td className="name"><Bdi>{one.right}</Bdi></td>
              <td>{tally(one.votes)}</td>
              <td>{tally(one.judgments)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}
