import { useEffect, useState } from "react";
import * as calls from "../api/calls";
import { useLoaded } from "../api/use";
import type { ItemLine } from "../api/wire";
import { Select } from "../parts/fields";
import { Link } from "../parts/link";
import { Empty, Shown } from "../parts/state";
import { go, usePlace, withQuery } from "../router";
import { strings } from "../strings";

const FILTERS = ["dataset", "task", "topic"];

/** All items, as small pictures. */
export function ItemsPage() {
  const { path, query } = usePlace();
  const filters = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""]));
  const key = JSON.stringify(filters);
  const facets = useLoaded("facets", calls.facets);
  const loaded = useLoaded(`items ${key}`, () => calls.items(filters));
  const [more, setMore] = useState<{ items: ItemLine[]; cursor: string | null } | null>(null);
  useEffect(() => setMore(null), [key]);
  const pick = (name: string, options: readonly string[]) => (
    <Select label={strings.look.names[name] ?? name} value={query.get(name) ?? ""} options={options} any={strings.look.any}
      onChange={(value) => go(withQuery(path, query, { [name]: value }), { replace: true })} />
  );
  async function grow(cursor: string): Promise<void> {
    const page = await calls.items({ ...filters, cursor });
    setMore({ items: [...(more?.items ?? []), ...page.items], cursor: page.next_cursor });
  }
  return (
    <div className="page wide">
      <h1>{strings.explore.items}</h1>
      {facets.value && (
        <section className="filters" aria-label={strings.look.filters}>
          {pick("dataset", facets.value.datasets)}
          {pick("task", facets.value.tasks)}
          {pick("topic", facets.value.topics)}
        </section>
      )}
      <Shown loaded={loaded}>
        {(page) => {
          const items = [...page.items, ...(more?.items ?? [])];
          const cursor = more ? more.cursor : page.next_cursor;
          if (!items.length) return <Empty>{strings.explore.noItems}</Empty>;
          return (
            <>
              <ul className="thumbs">{items.map((one) => <Thumb key={one.item_id} one={one} />)}</ul>
              {cursor && <button type="button" onClick={() => void grow(cursor)}>{strings.explore.more}</button>}
            </>
          );
        }}
      </Shown>
    </div>
  );
}

function Thumb({ one }: { one: ItemLine }) {
  return (
    <li>
      <Link to={`/items/${one.item_id}`} className="thumb">
        {one.picture ? <img src={one.picture} alt="" loading="lazy" /> : <span className="no-picture" />}
        <span className="thumb-text">{one.instruction}</span>
        <span className="muted">{[one.task, one.topic].filter(Boolean).join(" · ")}</span>
      </Link>
    </li>
  );
}
