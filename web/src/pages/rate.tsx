// A rater at work: consent and guidelines first, then one task after the other.
import { useState } from "react";
import { useLoaded } from "../api/useloaded";
import type { Next, RaterCampaign } from "../api/schema";
import { Link } from "../parts/link";
import { Empty, Problem, WhenLoaded, Waiting } from "../parts/status";
import { CheckTask } from "../rate/check";
import { canUndo } from "../rate/desk";
import { useDesk, type Desk } from "../rate/usedesk";
import { ServerAway } from "../rate/frame";
import { findMyCampaign, useFreshCampaign } from "../rate/mycampaign";
import { PreferenceTask } from "../rate/preference";
import { RatingTask } from "../rate/rating";
import { YesNoTask } from "../rate/yesno";
import { strings } from "../strings";
import { Welcome } from "./welcome";

const FORMS = { preference: PreferenceTask, rating: RatingTask, yes_no: YesNoTask, check: CheckTask };

export function RatePage({ campaignId }: { campaignId: string }) {
  const loaded = useLoaded(`mine ${campaignId}`, async () => ({ campaign: await findMyCampaign(campaignId) }));
  return (
    <WhenLoaded loaded={loaded}>
      {({ campaign }) =>
        campaign ? <Begin key={campaign.campaign_id} campaign={campaign} reload={loaded.reload} /> : <Empty>{strings.home.nothing}</Empty>
      }
    </WhenLoaded>
  );
}

/** Stages in which the server takes nothing back. */
const FINAL = ["closed", "paused", "on_hold"];
const SEEN = "imarena.seen";

/** The focus goes to the heading of a page that took the place of a task, so that it is heard. */
const focusHeading = (heading: HTMLHeadingElement | null) => heading?.focus();

/** Consent where it is asked for; guidelines and keys before the first task. */
function Begin({ campaign, reload }: { campaign: RaterCampaign; reload: () => void }) {
  const [seen, setSeen] = useState(() => campaign.done > 0 || window.sessionStorage.getItem(SEEN) === campaign.campaign_id);
  function ready(): void {
    window.sessionStorage.setItem(SEEN, campaign.campaign_id);
    setSeen(true);
    reload();
  }
  if (campaign.stage === "consent" || !seen) return <Welcome campaign={campaign} onReady={ready} />;
  return <Work campaign={campaign} />;
}

function Work({ campaign }: { campaign: RaterCampaign }) {
  const desk = useDesk(campaign.campaign_id, campaign.can_undo);
  const newest = useFreshCampaign(campaign);
  const { state } = desk;
  if (state.screen === "end") return <End desk={desk} stage={state.stage} completionUrl={state.completionUrl} />;
  if (state.screen === "empty") {
    if (state.activity.name === "failed") return <main className="narrow"><Problem error={state.activity.error} retry={desk.next} /></main>;
    return state.activity.delay ? <main className="narrow"><ServerAway error={state.activity.delay} /></main> : <Waiting />;
  }
  const { task, key } = state.showing;
  const Form = FORMS[task.kind];
  return <Form key={key} campaign={newest} desk={desk} task={task} />;
}

function End({ desk, stage, completionUrl }: { desk: Desk; stage: Next["stage"]; completionUrl: string | null }) {
  const [title, text] = strings.stages[stage] ?? strings.stages.done!;
  return (
    <main className="narrow card" data-stage={stage}>
      <h1 ref={focusHeading} tabIndex={-1}>{title}</h1>
      <p>{text}</p>
      <div className="row">
        {completionUrl && <a className="button primary" href={completionUrl} rel="noreferrer">{strings.finish}</a>}
        {canUndo(desk.state) && !FINAL.includes(stage) && <button type="button" onClick={desk.undo}>{strings.vote.undo}</button>}
        <Link to="/" className="button">{strings.home.title}</Link>
      </div>
    </main>
  );
}
