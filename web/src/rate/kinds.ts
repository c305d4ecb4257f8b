import type { RaterCampaign, Task } from "../api/wire";
import type { Desk } from "./desk";

export interface TaskProps {
  campaign: RaterCampaign;
  desk: Desk;
  task: Task;
}
