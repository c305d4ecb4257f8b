// One campaign as its rater sees it.
import { useState } from "react";
import * as calls from "../api/calls";
import type { RaterCampaign } from "../api/schema";
import { useInterval } from "../api/useloaded";

/** Read the rater's campaigns page by page until this one is found; null where it is not among them. */
export async function findMyCampaign(id: string): Promise<RaterCampaign | null> {
  let cursor: calls.Cursor = null;
  do {
    const page: Awaited<ReturnType<typeof calls.myCampaigns>> = await calls.myCampaigns(cursor);
    const found = page.campaigns.find((one) => one.campaign_id === id);
    if (found) return found;
    cursor = page.next_cursor;
  } while (cursor !== null);
  return null;
}

const EVERY_MS = 60_000;

/** The campaign as it was counted last: others take tasks too. Where it cannot be asked, the last count stays. */
export function useFreshCampaign(campaign: RaterCampaign): RaterCampaign {
  const [newest, setNewest] = useState(campaign);
  useInterval(EVERY_MS, () => {
    findMyCampaign(campaign.campaign_id).then((found) => found && setNewest(found), () => undefined);
  });
  return newest;
}
