// The first page: what there is to rate, or the leaderboard for those who only look.
import { useEffect } from "react";
import * as calls from "../../api/calls";
import { usePages } from "../../api/usepages";
import type { RaterCampaign } from "../../api/schema";
import { counted, fill, messages } from "../../languages";
import { Bdi } from "../../parts/bdi";
import { Meter } from "../../parts/fields";
import { isolated } from "../../parts/isolated";
import { Link } from "../../parts/link";
import { ShowMore } from "../../parts/showmore";
import { Empty, WhenLoaded } from "../../parts/status";
import { remainingFor, waitingText } from "../../rate/remaining";
import { go } from "../../router";
import { useSession } from "../../session";

export function HomePage() {
  const { me } = useSession();
  const away = me.role === null ? (me.can_look ? "/board" : "/sign-in") : me.role === "viewer" ? "/board" : null;
  useEffect(() => {
    if (away) go(away, { replace: true });
  }, [away]);
  return away ? null : <MyCampaigns />;
}

/** Stages in which nothing is given out, whatever waits. */
const ENDED = ["closed", "paused", "on_hold", "not_qualified", "quota"];

/** What waits; the quota only where it ends the work sooner. */
function whatWaits(campaign: RaterCampaign): string {
  const { waiting, more_waiting: more, quota_left: allowed, quota } = campaign;
  const waits = waitingText(waiting, more);
  return remainingFor(campaign).byQuota ? `${waits} · ${counted(messages.home.quota, allowed, { quota })}` : waits;
}

/** A lead who opened a rater's link has both sessions. */
function RatingAs() {
  const { me, enter } = useSession();
  const name = me.rating_as && isolated(me.rating_as);
  if (!name || me.role === "rater") return null;
  const stop = () => void calls.stopRating().then(calls.me).then(enter).then(() => go("/lead"));
  return (
    <p className="warning">
      {fill(messages.home.ratingAs, { name })} <button type="button" className="small" onClick={stop}>{fill(messages.home.stopRatingAs, { name })}</button>
    </p>
  );
}

function MyCampaigns() {
  const loaded = usePages("mine", calls.myCampaigns);
  const found = (loaded.value ?? []).flatMap((page) => page.campaigns);
  const { me } = useSession();
  const leads = me.role === "admin" || me.role === "lead";
  const t = messages.home;
  const stages: Record<string, { title: string }> = messages.stages;
  return (
    <div className="page">
      <h1>{t.title}</h1>
      <RatingAs />
      <WhenLoaded loaded={loaded}>
        {() =>
          found.length ? (
            <ul className="cards">
              {found.map((one) => (
                <li key={one.campaign_id} className="card">
                  <h2><Bdi>{one.name}</Bdi></h2>
                  <p className="muted">{t.kinds[one.kind]}</p>
                  <Meter label={counted(t.done, one.done)} value={one.done} most={one.done + remainingFor(one).count} />
                  <p className="muted">{counted(t.done, one.done)} · {ENDED.includes(one.stage) ? stages[one.stage]?.title : whatWaits(one)}</p>
                  <Link to={`/rate/${encodeURIComponent(one.campaign_id)}`} className={one.waiting && !ENDED.includes(one.stage) ? "button primary" : "button"}>
                    {!one.waiting || ENDED.includes(one.stage) ? t.open : one.done ? t.continue : t.start}
                  </Link>
                </li>
              ))}
            </ul>
          ) : (
            <Empty>{leads ? <>{t.noneOpen} <Link to="/lead">{t.createCampaign}</Link></> : t.noneJoined}</Empty>
          )
        }
      </WhenLoaded>
      <ShowMore pages={loaded} shown={found.length} total={loaded.value?.[0]?.total} />
    </div>
  );
}
