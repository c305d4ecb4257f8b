import { describe, expect, it } from "vitest";
import type { RaterCampaign } from "../src/api/schema";
import { remainingFor } from "../src/rate/remaining";

const campaign = (waiting: number, quotaLeft: number, more = false) =>
  ({ waiting, more_waiting: more, quota_left: quotaLeft, quota: 200, done: 10 }) as RaterCampaign;

describe("what is left for a rater", () => {
  it("is the work that there is, or the quota where that ends sooner", () => {
    expect(remainingFor(campaign(34, 200))).toEqual({ count: 34, byQuota: false, waiting: 34 });
    expect(remainingFor(campaign(340, 20))).toEqual({ count: 20, byQuota: true, waiting: 340 });
    expect(remainingFor(campaign(0, 200)).count).toBe(0);
  });
  it("goes down with every answer since it was counted, and the task in hand is always left", () => {
    const task = (done: number) => ({ done, quota_left: 200 - done, purpose: "vote" as const });
    expect(remainingFor(campaign(5, 190), task(10)).count).toBe(5);
    expect(remainingFor(campaign(5, 190), task(13)).count).toBe(2);
    expect(remainingFor(campaign(5, 190), task(30)).count).toBe(1);
  });
});
