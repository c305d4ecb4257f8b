// The first page: what there is to rate, or the leaderboard for those who only look.
import { useEffect } from "react";
import * as calls from "../api/calls";
import { usePages } from "../api/usepages";
import type { RaterCampaign } from "../api/schema";
import { Meter } from "../parts/fields";
import { Link } from "../parts/link";
import { ShowMore } from "../parts/showmore";
import { Empty, WhenLoaded } from "../parts/status";
import { remainingFor } from "../rate/remaining";
import { go } from "../router";
import { useSession } from "../session";
import { strings } from "../strings";

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
  const waits = strings.home.waiting(waiting, more);
  return remainingFor(campaign).byQuota ? `${waits} · ${strings.home.quota(allowed, quota)}` : waits;
}

function MyCampaigns() {
  const loaded = usePages("mine", calls.myCampaigns);
  const found = (loaded.value ?? []).flatMap((page) => page.campaigns);
  const { me } = useSession();
  const leads = me.role === "admin" || me.role === "lead";
  const t = strings.home;
  return (
    <div className="page">
      <h1>{t.title}</h1>
      <WhenLoaded loaded={loaded}>
        {() =>
          found.length ? (
            <ul className="cards">
              {found.map((one) => (
                <li key={one.campaign_id} className="card">
                  <h2>{one.name}</h2>
                  <p className="muted">{t.kinds[one.kind]}</p>
                  <Meter label={t.done(one.done)} value={one.done} most={one.done + remainingFor(one).count} />
                  <p className="muted">{t.done(one.done)} · {ENDED.includes(one.stage) ? strings.stages[one.stage]?.[0] : whatWaits(one)}</p>
                  <Link to={`/rate/${encodeURIComponent(one.campaign_id)}`} className={one.waiting && !ENDED.includes(one.stage) ? "button primary" : "button"}>
                    {!one.waiting || ENDED.includes(one.stage) ? t.open : one.done ? t.goOn : t.start}
                  </Link>
                </li>
              ))}
            </ul>
          ) : (
            <Empty>{leads ? <>{t.nothingForLeads} <Link to="/lead">{t.toCampaigns}</Link></> : t.nothing}</Empty>
          )
        }
      </WhenLoaded>
      <ShowMore pages={loaded} shown={found.length} total={loaded.value?.[0]?.total} />
    </div>
  );
}
