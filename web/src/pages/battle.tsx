// One battle: both pictures, every vote, every judgment with its raw reply.
import * as calls from "../api/calls";
import { useLoaded } from "../api/use";
import type { BattleDetail, JudgmentOut } from "../api/wire";
import { moment } from "../parts/figures";
import { Link } from "../parts/link";
import { Empty, Shown } from "../parts/state";
import { contextOf } from "../rate/frame";
import { strings } from "../strings";
import { CompareDesk } from "../view/desk";

export function BattlePage({ id }: { id: string }) {
  const loaded = useLoaded(`battle ${id}`, () => calls.battle(id));
  return <div className="page wide"><Shown loaded={loaded}>{(detail) => <Detail detail={detail} />}</Shown></div>;
}

function Detail({ detail }: { detail: BattleDetail }) {
  const { battle, left, right } = detail;
  const t = strings.explore;
  return (
    <>
      <div className="page-head">
        <h1 className="instruction-title">{battle.instruction}</h1>
        <span className="spacer" />
        <Link to={`/items/${battle.item_id}`} className="button small">{t.item}</Link>
      </div>
      {left && right && (
        <div className="explore-desk">
          <CompareDesk id={battle.battle_id} context={contextOf(detail)} left={{ name: battle.left, picture: left }}
            right={{ name: battle.right, picture: right }} />
        </div>
      )}
      <div className="columns">
        <section aria-label={t.votes}>
          <h2>{t.votes}</h2>
          {detail.votes.length === 0 && <Empty>{t.noVotes}</Empty>}
          {detail.votes.map((vote, index) => (
            <article key={index} className={`verdict ${vote.live ? "" : "taken-back"}`}>
              <strong>{vote.preference ? sideName(battle, vote.preference) : strings.none}</strong>
              <span className="muted"> {vote.rater} · {vote.dimension} · {moment(vote.created_at)}{!vote.live && ` · ${t.takenBack}`}</span>
              {vote.comment && <p>{vote.comment}</p>}
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
  const scores = Object.entries(one.scores);
  return (
    <article className="verdict">
      <strong>{one.preference ? sideName(battle, one.preference) : one.status}</strong>
      <span className="muted">
        {" "}{one.judge} · {one.dimension}{one.order && ` · ${t.order}: ${t.orders[one.order] ?? one.order}`}
      </span>
      {scores.length > 0 && <p className="muted">{scores.map(([name, value]) => `${name} ${value.toFixed(2)}`).join(" · ")}</p>}
      {one.error && <p className="warning">{one.error}</p>}
      {one.reply !== null && (
        <details>
          <summary>{t.reply}</summary>
          <pre>{one.reply}</pre>
        </details>
      )}
    </article>
  );
}

function sideName(battle: BattleDetail["battle"], side: string): string {
  if (side === "left") return battle.left;
  if (side === "right") return battle.right;
  return strings.vote.choices[side] ?? side;
}
