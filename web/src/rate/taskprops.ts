import type { RaterCampaign, Task } from "../api/schema";
import type { Desk } from "./usedesk";

export interface TaskProps {
  campaign: RaterCampaign;
  desk: Desk;
  task: Task;
}
