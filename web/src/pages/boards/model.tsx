// One model: its place on the board, its results by opponent and by group of items, its best and worst outputs.
import * as calls from "../../api/calls";
import { useLoaded } from "../../api/useloaded";
import type { Cell, ExampleOut, ModelOut } from "../../api/schema";
import { withBase } from "../../basepath";
import { Bdi } from "../../parts/bdi";
import { chosen, Filters, Folding, linkWithFilters, useFilters, VERDICTS } from "../../parts/filters";
import { count, figure, share } from "../../parts/format";
import { InlineCode } from "../../parts/inlinecode";
import { Link } from "../../parts/link";
import { ScrollArea } from "../../parts/scrollarea";
import { Empty, WhenLoaded } from "../../parts/status";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";
import { winShareOf } from "./standings";
import { WinBar } from "./winbar";

const GROUPS = ["task", "topic", "family", "track", "dataset", "mode"];

export function ModelPage() {
  const { query } = useFilters();
  const model = query.get("model") ?? "";
  const filters = chosen(query, [...VERDICTS, "method"]);
  const facets = useLoaded("facets", calls.facets);
  const loaded = useLoaded(`model ${model} ${JSON.stringify(filters)}`, () => calls.model({ ...filters, model }));
  const t = leadStrings.model;
  return (
    <div className="page wide">
      <p><Link to={linkWithFilters("/board", query)}>← {t.back}</Link></p>
      <div className="page-head">
        <h1><Bdi>{model}</Bdi></h1>
        <span className="spacer" />
        <Link to={linkWithFilters("/battles", query, { left: model })} className="button small">{t.allBattles}</Link>
      </div>
      <Folding text={leadStrings.board.filtersOnly(Object.keys(filters).length)}>
        {facets.value && <Filters facets={facets.value} names={VERDICTS} board methods />}
      </Folding>
      <div aria-busy={loaded.loading} className={loaded.loading ? "stale" : ""}>
        <WhenLoaded loaded={loaded}>{(found) => <Results found={found} query={query} />}</WhenLoaded>
      </div>
    </div>
  );
}

function Results({ found, query }: { found: ModelOut; query: URLSearchParams }) {
  const t = leadStrings.model;
  const { standing, total } = found;
  const tile = (text: string, value: string) => <div className="tile"><strong>{value}</strong><span>{text}</span></div>;
  const ratingText = standing?.low != null && standing.high != null ? t.interval(figure(standing.low, 0), figure(standing.high, 0)) : t.rating;
  return (
    <>
      <p className="muted">{t.verdicts(found.verdicts)}</p>
      {!standing && found.reason && <Empty><InlineCode text={found.reason} /></Empty>}
      <div className="tiles">
        {standing && tile(found.group === null ? t.rank : t.placeInGroup(found.group), t.place(standing.rank, found.models))}
        {standing && tile(ratingText, figure(standing.rating, 0))}
        {tile(t.share, share(winShareOf(total)))}
        {tile(t.record, `${count(total.wins)}, ${count(total.losses)}, ${count(total.ties)}`)}
        {total.both_bad > 0 && tile(t.bothBad, count(total.both_bad))}
      </div>
      <div className="columns">
        <section aria-label={t.opponents}>
          <h2>{t.opponents}</h2>
          {found.opponents.length ? (
            <Counts head={t.opponent} rows={[...found.opponents].sort((one, other) => (winShareOf(other) ?? 0) - (winShareOf(one) ?? 0))
              .map((cell) => ({ name: cell.right, cell, to: linkWithFilters("/model", query, { model: cell.right }) }))} />
          ) : <Empty>{t.noOpponents}</Empty>}
        </section>
        {GROUPS.map((by) => <Group key={by} by={by} found={found} query={query} />)}
      </div>
      <Examples title={t.best} hint={t.bestHint} nothing={t.noBest} examples={found.best} />
      <Examples title={t.worst} hint={t.worstHint} nothing={t.noWorst} examples={found.worst} />
      {found.some_hidden && <p className="muted">{leadStrings.board.itemsHidden}</p>}
    </>
  );
}

/** Nothing where all items have the same value: it would repeat the total. */
function Group({ by, found, query }: { by: string; found: ModelOut; query: URLSearchParams }) {
  const t = leadStrings.model;
  const groups = found.groups.filter((one) => one.by === by);
  if (groups.length < 2) return null;
  const title = t.by[by] ?? by;
  const rows = groups.map(({ value, counts }) => ({
    name: value || t.unset, cell: counts, to: value ? linkWithFilters("/model", query, { model: found.model, [by]: value }) : "",
  }));
  return <section aria-label={title}><h2>{title}</h2><Counts head={strings.look.names[by] ?? by} rows={rows} /></section>;
}

interface CountRow {
  name: string;
  cell: Cell;
  to: string;
}

function Counts({ head, rows }: { head: string; rows: readonly CountRow[] }) {
  const t = leadStrings.model;
  return (
    <ScrollArea label={head}>
      <table className="duel">
        <thead>
          <tr><th scope="col">{head}</th><td /><th scope="col" className="number">{t.share}</th><th scope="col" className="number">{t.record}</th></tr>
        </thead>
        <tbody>
          {rows.map(({ name, cell, to }) => (
            <tr key={name}>
              <th scope="row" className="name">{to ? <Link to={to}><Bdi>{name}</Bdi></Link> : name}</th>
              <td><WinBar cell={cell} /></td>
              <td className="number">{share(winShareOf(cell))}</td>
              <td className="number">{count(cell.wins)}, {count(cell.losses)}, {count(cell.ties)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

function Examples({ title, hint, nothing, examples }: { title: string; hint: string; nothing: string; examples: readonly ExampleOut[] }) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {examples.length ? <p className="muted">{hint}</p> : <p className="muted">{nothing}</p>}
      <ul className="thumbs pairs">{examples.map((one) => <Example key={`${one.item_id} ${one.picture}`} one={one} />)}</ul>
    </section>
  );
}

function Example({ one }: { one: ExampleOut }) {
  const t = leadStrings.model;
  const picture = (address: string | null, alt: string) =>
    address ? <img src={withBase(address)} alt={alt} loading="lazy" /> : <span className="no-picture muted">{strings.explore.noPicture}</span>;
  return (
    <li>
      <Link to={`/items/${one.item_id}`} className="thumb">
        <span className="pair">{picture(one.source, t.source)}{picture(one.picture, t.output)}</span>
        <span className="thumb-text"><Bdi>{one.instruction}</Bdi></span>
        <span className="muted">{[t.result(one.counts.wins, one.counts.losses, one.counts.ties), one.task].filter(Boolean).join(" · ")}</span>
      </Link>
    </li>
  );
}
