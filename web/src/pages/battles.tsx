// The battle explorer: every pair that was compared, by whom, with which verdicts.
import { useEffect, useState } from "react";
import * as calls from "../api/calls";
import { useLoaded } from "../api/use";
import type { Battle } from "../api/wire";
import { Select } from "../parts/fields";
import { tally } from "../parts/figures";
import { Link } from "../parts/link";
import { Empty, Shown } from "../parts/state";
import { go, usePlace, withQuery } from "../router";
import { strings } from "../strings";

const FILTERS = ["left", "right", "task", "dataset"];

export function BattlesPage() {
  const { path, query } = usePlace();
  const filters = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""]));
  const key = JSON.stringify(filters);
  const facets = useLoaded("facets", calls.facets);
  const loaded = useLoaded(`battles ${key}`, () => calls.battles(filters));
  const [more, setMore] = useState<{ battles: Battle[]; cursor: string | null } | null>(null);
  useEffect(() => setMore(null), [key]);
  const set = (changes: Record<string, string>) => go(withQuery(path, query, changes), { replace: true });
  const t = strings.explore;
  const pick = (name: string, label: string, options: readonly string[]) => (
    <Select label={label} value={query.get(name) ?? ""} options={options} any={strings.look.any} onChange={(value) => set({ [name]: value })} />
  );
  async function grow(cursor: string): Promise<void> {
    const page = await calls.battles({ ...filters, cursor });
    setMore({ battles: [...(more?.battles ?? []), ...page.battles], cursor: page.next_cursor });
  }
  return (
    <div className="page wide">
      <div className="page-head">
        <h1>{t.battles}</h1>
        <span className="spacer" />
        <a className="button small" href="/api/battles.csv" download>{strings.look.export}</a>
      </div>
      {facets.value && (
        <section className="filters" aria-label={strings.look.filters}>
          {pick("left", t.left, facets.value.editors)}
          {pick("right", t.right, facets.value.editors)}
          {pick("task", t.task, facets.value.tasks)}
          {pick("dataset", strings.look.names.dataset ?? "", facets.value.datasets)}
        </section>
      )}
      <Shown loaded={loaded}>
        {(page) => {
          const battles = [...page.battles, ...(more?.battles ?? [])];
          const cursor = more ? more.cursor : page.next_cursor;
          if (!battles.length) return <Empty>{t.nothing}</Empty>;
          return (
            <>
              <p className="muted">{t.count(page.total)}</p>
              <BattleTable battles={battles} />
              {cursor && <button type="button" onClick={() => void grow(cursor)}>{t.more}</button>}
            </>
          );
        }}
      </Shown>
    </div>
  );
}

function BattleTable({ battles }: { battles: readonly Battle[] }) {
  const t = strings.explore;
  return (
    <table>
      <thead>
        <tr>{[t.instruction, t.task, t.left, t.right, t.votes, t.judgments].map((text) => <th key={text} scope="col">{text}</th>)}</tr>
      </thead>
      <tbody>
        {battles.map((one) => (
          <tr key={one.battle_id}>
            <th scope="row" className="clip"><Link to={`/battles/${one.battle_id}`}>{one.instruction}</Link></th>
            <td>{one.task ?? strings.none}</td>
            <td>{one.left}</td>
            <td>{one.right}</td>
            <td>{tally(one.votes)}</td>
            <td>{tally(one.judgments)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
