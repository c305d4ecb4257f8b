// How each judge behaves: failures, position bias, agreement with people.
import * as calls from "../api/calls";
import { useLoaded } from "../api/use";
import { count, dollars, share, tally } from "../parts/figures";
import { Empty, Shown } from "../parts/state";
import { strings } from "../strings";

export function JudgesPage() {
  const loaded = useLoaded("judges", calls.judges);
  const t = strings.judges;
  const heads = [strings.explore.judge, strings.explore.dimension, t.ok, t.failed, t.orders, t.first, t.ties, t.people, t.cost];
  return (
    <div className="page wide">
      <h1>{t.title}</h1>
      <Shown loaded={loaded}>
        {({ judges }) =>
          judges.length ? (
            <table>
              <thead><tr>{heads.map((text) => <th key={text} scope="col">{text}</th>)}</tr></thead>
              <tbody>
                {judges.map((one) => (
                  <tr key={`${one.judge} ${one.dimension}`}>
                    <th scope="row">{one.judge}</th>
                    <td>{one.dimension}</td>
                    <td className="number">{count(one.ok)}</td>
                    <td>{tally(one.failed)}</td>
                    <td>{share(one.order_agreement)} <span className="muted">{t.pairs(one.both_orders)}</span></td>
                    <td>{share(one.first_share)}</td>
                    <td>{share(one.tie_share)}</td>
                    <td>{share(one.with_people)} {one.people_pairs > 0 && <span className="muted">{t.pairs(one.people_pairs)}</span>}</td>
                    <td className="number">{dollars(one.cost_usd)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          ) : (
            <Empty>{t.nothing}</Empty>
          )
        }
      </Shown>
    </div>
  );
}
