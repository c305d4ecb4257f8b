// A rater at work: consent and guidelines first, then one task after the other.
import { useState } from "react";
import * as calls from "../api/calls";
import { useLoaded } from "../api/useloaded";
import type { RaterCampaign } from "../api/schema";
import { Link } from "../parts/link";
import { Empty, Problem, WhenLoaded, Waiting } from "../parts/status";
import { CheckTask } from "../rate/check";
import { useDesk } from "../rate/usedesk";
import { Away } from "../rate/frame";
import { useFreshCampaign } from "../rate/remaining";
import { PreferenceTask } from "../rate/preference";
import { RatingTask } from "../rate/rating";
import { YesNoTask } from "../rate/yesno";
import { strings } from "../strings";
import { Welcome } from "./welcome";

const FORMS = { preference: PreferenceTask, rating: RatingTask, yes_no: YesNoTask, check: CheckTask };

export function RatePage({ campaignId }: { campaignId: string }) {
  const loaded = useLoaded("mine", calls.myCampaigns);
  return (
    <WhenLoaded loaded={loaded}>
      {(found) => {
        const campaign = found.find((one) => one.campaign_id === campaignId);
        if (!campaign) return <Empty>{strings.home.nothing}</Empty>;
        return <Begin campaign={campaign} reload={loaded.reload} />;
      }}
    </WhenLoaded>
  );
}

/** Stages in which the server takes nothing back. */
const FINAL = ["closed", "paused", "on_hold"];
const SEEN = "imarena.seen";

/** The focus goes to the heading of a page that took the place of a task, so that it is heard. */
const heard = (heading: HTMLHeadingElement | null) => heading?.focus();

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
  if (desk.task) {
    const Form = FORMS[desk.task.kind];
    return <Form key={`${desk.task.address} ${desk.showing}`} campaign={newest} desk={desk} task={desk.task} />;
  }
  if (desk.error) return <main className="narrow"><Problem error={desk.error} retry={desk.next} /></main>;
  if (desk.waiting) return <main className="narrow"><Away error={desk.waiting} /></main>;
  if (desk.busy || desk.stage === null) return <Waiting />;
  const [title, text] = strings.stages[desk.stage] ?? strings.stages.done!;
  return (
    <main className="narrow card" data-stage={desk.stage}>
      <h1 ref={heard} tabIndex={-1}>{title}</h1>
      <p>{text}</p>
      <div className="row">
        {desk.completionUrl && <a className="button primary" href={desk.completionUrl} rel="noreferrer">{strings.finish}</a>}
        {desk.canUndo && !FINAL.includes(desk.stage) && <button type="button" onClick={desk.undo}>{strings.vote.undo}</button>}
        <Link to="/" className="button">{strings.home.title}</Link>
      </div>
    </main>
  );
}
