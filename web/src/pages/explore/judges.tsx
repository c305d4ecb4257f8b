// How each judge behaves: failures, position bias, agreement with people.
import * as calls from "../../api/calls";
import { usePages } from "../../api/usepages";
import { Bdi } from "../../parts/bdi";
import { count, dollars, share, tally } from "../../parts/format";
import { DownloadLinks } from "../../parts/download";
import { ScrollArea } from "../../parts/scrollarea";
import { ShowMore } from "../../parts/showmore";
import { Empty, WhenLoaded } from "../../parts/status";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";

export function JudgesPage() {
  const loaded = usePages("judges", calls.judges);
  const judges = (loaded.value ?? []).flatMap((page) => page.judges);
  const t = strings.judges;
  const heads: [string, string][] = [
    [strings.explore.judge, ""], [strings.explore.dimension, leadStrings.board.hints.dimension ?? ""],
    ...(["ok", "failed", "orders", "first", "ties", "people", "cost"] as const).map((name): [string, string] => [t[name], leadStrings.judges.hints[name] ?? ""]),
  ];
  return (
    <div className="page wide">
      <div className="page-head">
        <h1>{t.title}</h1>
        <span className="spacer" />
        <DownloadLinks table="judges" />
      </div>
      <WhenLoaded loaded={loaded}>
        {() =>
          judges.length ? (
            <ScrollArea label={t.title}>
              <table>
                <thead><tr>{heads.map(([text, hint]) => <th key={text} scope="col">{text}{hint && <small>{hint}</small>}</th>)}</tr></thead>
                <tbody>
                  {judges.map((one) => (
                    <tr key={`${one.judge} ${one.dimension}`}>
                      <th scope="row"><Bdi>{one.judge}</Bdi></th>
                      <td><Bdi>{one.dimension}</Bdi></td>
                      <td className="number">{count(one.ok)}</td>
                      <td>{tally(one.failed)}</td>
                      <td>{share(one.order_agreement)} <span className="muted">{t.pairs(one.both_orders)}</span></td>
                      <td>{share(one.first_share)}</td>
                      <td>{share(one.tie_share)}</td>
                      <td>{share(one.with_people)} {one.people_pairs > 0 && <span className="muted">{t.pairs(one.people_pairs)}</span>}</td>
                      <td className="number">{one.cost_usd === null ? strings.none : dollars(one.cost_usd)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </ScrollArea>
          ) : (
            <Empty>{leadStrings.empty.judges}</Empty>
          )
        }
      </WhenLoaded>
      <ShowMore pages={loaded} />
    </div>
  );
}
