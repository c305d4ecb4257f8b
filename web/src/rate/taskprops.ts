import type { RaterCampaign, TaskOut } from "../api/schema";
import type { ViewGroup } from "../view/viewgroup";
import type { Gate } from "./gate";
import type { Desk } from "./usedesk";

export interface TaskProps {
  campaign: RaterCampaign;
  desk: Desk;
  task: TaskOut;
  /** New each time that a task is shown. */
  showing: string;
  group: ViewGroup;
  gate: Gate;
}
