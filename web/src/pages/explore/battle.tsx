// One battle: both pictures, every vote, every judgment with its raw reply.
import * as calls from "../../api/calls";
import { useLoaded } from "../../api/useloaded";
import type { BattleDetail, JudgmentOut } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { moment } from "../../parts/format";
import { isolated } from "../../parts/isolated";
import { Link } from "../../parts/link";
import { Empty, WhenLoaded } from "../../parts/status";
import { contextOf } from "../../rate/frame";
import { strings } from "../../strings";
import { CompareView } from "../../view/compare";

export function BattlePage({ id }: { id: string }) {
  const loaded = useLoaded(`battle ${id}`, () => calls.battle(id));
  return <div className="page wide"><WhenLoaded loaded={loaded}>{(detail) => <Detail detail={detail} />}</WhenLoaded></div>;
}

function Detail({ detail }: { detail: BattleDetail }) {
  const { battle, left, right } = detail;
  const t = strings.explore;
  return (
    <>
      <div className="page-head">
        <h1 className="instruction-title"><Bdi>{battle.instruction}</Bdi></h1>
        <span className="spacer" />
        <Link to={`/items/${battle.item_id}`} className="button small">{t.item}</Link>
      </div>
      {left && right && (
        <div className="explore-desk">
          <CompareView key={battle.battle_id} context={contextOf(detail)} left={{ name: isolated(battle.left), picture: left }}
            right={{ name: isolated(battle.right), picture: right }} />
        </div>
      )}
      <div className="columns">
        <section aria-label={t.votes}>
          <h2>{t.votes}</h2>
          {detail.votes.length === 0 && <Empty>{t.noVotes}</Empty>}
          {detail.votes.map((vote, index) => (
            <article key={index} className={`verdict ${vote.counts ? "" : "taken-back"}`}>
              <strong>{vote.preference ? sideName(battle, vote.preference) : strings.none}</strong>
              <span className="muted"> <Bdi>{vote.rater}</Bdi> · <Bdi>{vote.dimension}</Bdi> · {moment(vote.created_at)}{why(vote)}</span>
              {vote.comment && <p><Bdi>{vote.comment}</Bdi></p>}
            </article>
          ))}
        </section>
        <section aria-label={t.judgments}>
          <h2>{t.judgments}</h2>
          {detail.judgments.length === 0 && <Empty>{t.noJudgments}</Empty>}
          {detail.judgments.map((one, index) => <Said key={index} one={one} battle={battle} />)}
        </section>
      </div>
    </>
  );
}

function Said({ one, battle }: { one: JudgmentOut; battle: BattleDetail["battle"] }) {
  const t = strings.explore;
  return (
    <article className={`verdict ${one.counts || !one.preference ? "" : "taken-back"}`}>
      <strong>{one.preference ? sideName(battle, one.preference) : one.status}</strong>
      <span className="muted">
        {" "}<Bdi>{one.judge}</Bdi> · <Bdi>{one.dimension}</Bdi>{one.order && ` · ${t.order}: ${t.orders[one.order] ?? one.order}`}{one.preference && why(one)}
      </span>
      <Scores scores={one.scores} battle={battle} />
      {one.error && <p className="warning">{one.error}</p>}
      {one.reply !== null && (
        <details>
          <summary>{t.reply}</summary>
          <pre tabIndex={0} role="group" aria-label={t.reply}>{one.reply}</pre>
        </details>
      )}
    </article>
  );
}

/** Scores by criterion, each side in its column. */
function Scores({ scores, battle }: { scores: Record<string, number>; battle: BattleDetail["battle"] }) {
  const names = [...new Set(Object.keys(scores).map((name) => name.replace(/^(left|right)\./, "")))].sort();
  if (!names.length) return null;
  const value = (name: string) => (scores[name] === undefined ? strings.none : scores[name].toFixed(2));
  return (
    <details>
      <summary>{strings.explore.scores}</summary>
      <table className="scores">
        <thead>
          <tr><td /><th scope="col"><Bdi>{battle.left}</Bdi></th><th scope="col"><Bdi>{battle.right}</Bdi></th></tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <th scope="row">{name.replaceAll("_", " ")}</th>
              {`left.${name}` in scores || `right.${name}` in scores ? (
                <><td>{value(`left.${name}`)}</td><td>{value(`right.${name}`)}</td></>
              ) : (
                <td colSpan={2}>{value(name)}</td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** Why a verdict does not count; nothing where it does. */
function why(one: { counts: boolean; reason: string }): string {
  const t = strings.explore;
  if (one.counts) return "";
  return ` · ${one.reason === "retracted" || one.reason === "superseded" ? t.takenBack : t.notCounted(one.reason)}`;
}

function sideName(battle: BattleDetail["battle"], side: string): string {
  if (side === "left") return isolated(battle.left);
  if (side === "right") return isolated(battle.right);
  return strings.vote.choices[side] ?? side;
}
