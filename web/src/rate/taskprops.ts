import type { RaterCampaign, TaskOut } from "../api/schema";
import type { Desk } from "./usedesk";

export interface TaskProps {
  campaign: RaterCampaign;
  desk: Desk;
  task: TaskOut;
}
