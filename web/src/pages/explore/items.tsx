import * as calls from "../../api/calls";
import { usePages } from "../../api/usepages";
import { useLoaded } from "../../api/useloaded";
import type { ItemLine } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { chosen, Filters, Folding, ITEMS, useFilters } from "../../parts/filters";
import { Link } from "../../parts/link";
import { DownloadLinks } from "../../parts/download";
import { ShowMore } from "../../parts/showmore";
import { Empty, WhenLoaded } from "../../parts/status";
import { withBase } from "../../basepath";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";

/** All items, as small pictures. */
export function ItemsPage() {
  const { query } = useFilters();
  const filters = chosen(query, ITEMS);
  const facets = useLoaded("facets", calls.facets);
  const loaded = usePages(`items ${JSON.stringify(filters)}`, (cursor) => calls.items({ ...filters, cursor }));
  const { empty } = leadStrings;
  return (
    <div className="page wide">
      <div className="page-head">
        <h1>{strings.explore.items}</h1>
        <span className="spacer" />
        <DownloadLinks table="items" query={filters} />
      </div>
      <Folding text={leadStrings.board.filtersOnly(Object.keys(filters).length)}>{facets.value && <Filters facets={facets.value} names={ITEMS} />}</Folding>
      <WhenLoaded loaded={loaded}>
        {(pages) => {
          const items = pages.flatMap((page) => page.items);
          if (!items.length) return <Empty>{Object.keys(filters).length ? empty.itemsFiltered : pages[0]?.some_hidden ? "" : empty.items} {pages[0]?.some_hidden && leadStrings.board.itemsHiddenEmpty}</Empty>;
          return (
            <>
              <ul className="thumbs">{items.map((one) => <Thumb key={one.item_id} one={one} />)}</ul>
              <ShowMore pages={loaded} />
              {pages[0]?.some_hidden && <p className="muted">{leadStrings.board.itemsHidden}</p>}
            </>
          );
        }}
      </WhenLoaded>
    </div>
  );
}

function Thumb({ one }: { one: ItemLine }) {
  return (
    <li>
      <Link to={`/items/${one.item_id}`} className="thumb">
        {one.picture ? <img src={withBase(one.picture)} alt="" loading="lazy" /> : <span className="no-picture muted">{strings.explore.noPicture}</span>}
        <span className="thumb-text"><Bdi>{one.instruction}</Bdi></span>
        <span className="muted"><Bdi>{[one.task, one.topic].filter(Boolean).join(" · ")}</Bdi></span>
      </Link>
    </li>
  );
}
