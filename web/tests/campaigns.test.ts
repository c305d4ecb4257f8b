import { describe, expect, it } from "vitest";
import type { CampaignOut, KnownOut, Picture } from "../src/api/schema";
import { chosenFor, share } from "../src/pages/lead/knowntasks";
import { changesFrom, settingsOf } from "../src/pages/lead/campaignsettings";
import { campaignFrom } from "../src/pages/lead/newcampaign";
import { linkFor } from "../src/pages/lead/invitations";
import { tilesFor } from "../src/rate/prefetchpictures";

const campaign = {
  campaign_id: "c", name: "Old", kind: "preference", open: true, paused: false, created_at: "", units: 10, slots: 20, votes: 0,
  held: 0, skipped: 0, raters: 0, complete_units: 0, checks: 0, checks_done: 0, held_until: null, history: [],
  adjudicated: 0, disputed: 0, notices: [],
  settings: { weekly_quota: 200, lease_s: 900, gold_rate: 0, repeat_rate: 0.1, consent: "May we?", guidelines: "", raters_per_unit: null, completion_url: null },
} as CampaignOut;

function form(values: Record<string, string>): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries({ ...settingsOf(campaign), ...values })) made.set(name, value);
  return made;
}

describe("changing a campaign", () => {
  it("sends nothing where nothing was changed", () => {
    expect(changesFrom(form({}), settingsOf(campaign))).toEqual({});
  });
  it("sends what was changed, as numbers and text", () => {
    const changes = changesFrom(form({ name: "New", weekly_quota: "50", consent: "Still?", completion_url: "https://x.example/" }), settingsOf(campaign));
    expect(changes).toEqual({ name: "New", weekly_quota: 50, consent: "Still?", completion_url: "https://x.example/" });
  });
  it("knows how many raters a unit has where nobody said so", () => {
    expect(settingsOf(campaign).raters_per_unit).toBe("2");
    expect(changesFrom(form({ raters_per_unit: "3" }), settingsOf(campaign))).toEqual({ raters_per_unit: 3 });
  });
  it("leaves alone what a disabled field does not send", () => {
    const made = form({});
    made.delete("gold_rate");
    expect(changesFrom(made, settingsOf(campaign))).toEqual({});
  });
});

describe("a new campaign", () => {
  it("asks about the models, tasks and topics that were chosen, or about all", () => {
    const made = new FormData();
    made.set("name", "First");
    expect(campaignFrom(made)).toMatchObject({ name: "First", editors: [], tasks: [], topics: [], weekly_quota: 200 });
    for (const model of ["a", "b"]) made.append("editors", model);
    made.append("topics", "food");
    expect(campaignFrom(made)).toMatchObject({ editors: ["a", "b"], tasks: [], topics: ["food"] });
  });
});

describe("known answers", () => {
  const known = (item: string, use: KnownOut["use"] = "") =>
    ({ task: { item_id: item }, item, instruction: "", left: "a", right: "b", votes: 2, use }) as KnownOut;
  it("shares tasks out, and keeps to what a table says", () => {
    const chosen = share([known("1"), known("2", "gold"), known("3"), known("4"), known("5")], 1, 2);
    expect(chosen.map((one) => one.use)).toEqual(["practice", "gold", "qualification", "qualification", "gold"]);
    expect(chosenFor(chosen, "gold").map((one) => one.item_id)).toEqual(["2", "5"]);
  });
});

describe("a link for a crowd", () => {
  it("has a place for the person before the secret", () => {
    const link = new URL("https://arena.example/join#secret");
    expect(linkFor(link, "")).toBe("https://arena.example/join#secret");
    expect(linkFor(link, "workerId")).toBe("https://arena.example/join?workerId=WHO#secret");
    expect(linkFor(link, "PROLIFIC_PID")).toBe("https://arena.example/join?PROLIFIC_PID={{%PROLIFIC_PID%}}#secret");
  });
});

describe("tiles that are fetched ahead", () => {
  const picture = (width: number, height: number, max_level: number): Picture =>
    ({ url: "/p", tiles_url: "/t", width, height, tile_size: 512, max_level });
  it("are one for a small picture", () => {
    expect(tilesFor(picture(400, 300, 0), 300)).toEqual(["/t/0/0/0"]);
  });
  it("are those of the finest level that is not finer than half a pixel, and the coarser ones", () => {
    // 8,000 x 6,000 at 400 px: level 1 is 1,000 x 750 (0.53 of a pixel), level 2 would be 0.27.
    expect(tilesFor(picture(8000, 6000, 4), 400).sort()).toEqual(["/t/0/0/0", "/t/1/0/0", "/t/1/0/1", "/t/1/1/0", "/t/1/1/1"]);
  });
});
