// How much there is still to do for a rater: what waits for them, or the weekly quota where that comes first.
import { counted, fill, messages } from "../languages";
import type { RaterCampaign, TaskOut } from "../api/schema";

export interface Remaining {
  /** Tasks until nothing is left, or until the quota is used up. */
  count: number;
  /** The quota is the nearer limit. */
  byQuota: boolean;
  waiting: number;
}

/** With a task in hand, the answers that were given since the campaign was counted are taken off. */
export function remainingFor(campaign: RaterCampaign, task?: Pick<TaskOut, "done" | "quota_left" | "purpose">): Remaining {
  const since = task ? task.done - campaign.done : 0;
  const waiting = Math.max(campaign.waiting - since, task && task.purpose === "vote" ? 1 : 0);
  const allowed = task ? task.quota_left : campaign.quota_left;
  return { count: Math.min(waiting, allowed), byQuota: allowed < waiting || (campaign.more_waiting && allowed <= waiting), waiting };
}

/** How many tasks there are still for the rater. */
export function waitingText(count: number, more: boolean): string {
  const t = messages.home;
  if (more) return fill(t.manyWaiting, { count });
  return count ? counted(t.waiting, count) : t.noneWaiting;
}
