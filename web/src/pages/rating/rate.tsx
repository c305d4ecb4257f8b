// A rater at work: consent and guidelines first, then one task after the other.
import { useState } from "react";
import { useLoaded } from "../../api/useloaded";
import type { RaterCampaign } from "../../api/schema";
import { messages } from "../../languages";
import { LanguageSelect } from "../../parts/languageselect";
import { Link } from "../../parts/link";
import { Problem, WhenLoaded, Waiting } from "../../parts/status";
import { CheckTask } from "../../rate/check";
import { canUndo, type DeskState, type Showing } from "../../rate/desk";
import { Finish } from "../../rate/finish";
import { useDesk, type Desk } from "../../rate/usedesk";
import { ServerAway } from "../../rate/frame";
import { useGate } from "../../rate/gate";
import { findMyCampaign, useFreshCampaign } from "../../rate/mycampaign";
import { PreferenceTask } from "../../rate/preference";
import { RatingTask } from "../../rate/rating";
import { YesNoTask } from "../../rate/yesno";
import { ViewGroup } from "../../view/viewgroup";
import { Welcome } from "./welcome";

const FORMS = { preference: PreferenceTask, rating: RatingTask, yes_no: YesNoTask, check: CheckTask };

export function RatePage({ campaignId }: { campaignId: string }) {
  const loaded = useLoaded(`mine ${campaignId}`, async () => ({ campaign: await findMyCampaign(campaignId) }));
  if (loaded.error) return <main className="narrow"><Problem error={loaded.error} retry={loaded.reload} /></main>;
  if (loaded.value === null) return <main><Waiting /></main>;
  return (
    <WhenLoaded loaded={loaded}>
      {({ campaign }) => (campaign ? <Begin key={campaign.campaign_id} campaign={campaign} reload={loaded.reload} /> : <NotMine />)}
    </WhenLoaded>
  );
}

function NotMine() {
  return (
    <main className="narrow card">
      <h1>{messages.home.title}</h1>
      <p>{messages.home.notYours}</p>
      <div className="row"><Link to="/" className="button">{messages.home.title}</Link></div>
    </main>
  );
}

/** Stages in which the server takes nothing back. */
const FINAL = ["closed", "paused", "on_hold", "not_qualified"];
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
  const [group] = useState(() => new ViewGroup());
  const { state } = desk;
  if (state.screen === "end") return <End desk={desk} end={state.end} />;
  if (state.screen === "empty") {
    if (state.activity.name === "failed") return <main className="narrow"><Problem error={state.activity.error} retry={desk.next} /></main>;
    return state.activity.delay ? <main className="narrow"><ServerAway error={state.activity.delay} /></main> : <main><Waiting /></main>;
  }
  return <Task campaign={newest} desk={desk} showing={state.showing} group={group} />;
}

/** The same form for all tasks of a campaign: what the rater set, and where the focus is, stays from task to task. */
function Task({ campaign, desk, showing, group }: { campaign: RaterCampaign; desk: Desk; showing: Showing; group: ViewGroup }) {
  const { task, key } = showing;
  const gate = useGate(task, group);
  const Form = FORMS[task.kind];
  return <Form campaign={campaign} desk={desk} task={task} showing={key} group={group} gate={gate} />;
}

function End({ desk, end }: { desk: Desk; end: Extract<DeskState, { screen: "end" }>["end"] }) {
  const stages: Record<string, { title: string; text: string }> = messages.stages;
  const { title, text } = stages[end.stage] ?? messages.stages.done;
  return (
    <main className="narrow card" data-stage={end.stage}>
      <div className="corner"><LanguageSelect /></div>
      <h1 ref={focusHeading} tabIndex={-1}>{title}</h1>
      <p>{text}</p>
      <Finish end={end} />
      <div className="row">
        {canUndo(desk.state) && !FINAL.includes(end.stage) && <button type="button" onClick={desk.undo}>{messages.vote.undo}</button>}
        <Link to="/" className="button">{messages.home.title}</Link>
      </div>
    </main>
  );
}
