// How much there is still to do for a rater: what waits for them, or the weekly quota where that comes first.
import { useCallback, useState } from "react";
import * as calls from "../api/calls";
import { useInterval } from "../api/useloaded";
import type { RaterCampaign, Task } from "../api/schema";

const EVERY_MS = 60_000;

export interface Left {
  /** Tasks until nothing is left, or until the quota is used up. */
  count: number;
  /** The quota is the nearer limit. */
  byQuota: boolean;
  waiting: number;
}

/** With a task in hand: since the campaign was counted, so many more answers were given. */
export function remainingFor(campaign: RaterCampaign, task?: Pick<Task, "done" | "quota_left" | "purpose">): Left {
  const since = task ? task.done - campaign.done : 0;
  const waiting = Math.max(campaign.waiting - since, task && task.purpose === "vote" ? 1 : 0);
  const allowed = task ? task.quota_left : campaign.quota_left;
  return { count: Math.min(waiting, allowed), byQuota: allowed < waiting || (campaign.more_waiting && allowed <= waiting), waiting };
}

/** The campaign as it was counted last: others take tasks too. Where it cannot be asked, the last count stays. */
export function useFreshCampaign(campaign: RaterCampaign): RaterCampaign {
  const [newest, setNewest] = useState(campaign);
  const { campaign_id: id } = campaign;
  const look = useCallback(() => {
    calls.myCampaigns().then(
      (found) => setNewest((known) => found.find((one) => one.campaign_id === id) ?? known),
      () => undefined,
    );
  }, [id]);
  useInterval(EVERY_MS, look);
  return newest;
}
