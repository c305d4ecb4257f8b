import { describe, expect, it } from "vitest";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import type { Cell, StandingOut } from "../src/api/schema";
import { keyName } from "../src/keys";
import { winShare } from "../src/pages/boards/winshare";
import { InlineCode } from "../src/parts/inlinecode";
import { duration, missed, tally } from "../src/parts/format";
import { strings } from "../src/strings";
import { spanOf, ticks } from "../src/parts/interval";
import { match, withQuery } from "../src/router";

describe("addresses", () => {
  it("match by part and decode names", () => {
    expect(match("/lead/:id", "/lead/a%20b")).toEqual({ id: "a b" });
    expect(match("/lead/:id", "/lead/")).toBeNull();
    expect(match("/lead/:id", "/lead/a/b")).toBeNull();
    expect(match("", "/")).toEqual({});
    expect(match("/items/:id", "/items/%zz")).toBeNull();
  });
  it("keep the other filters, in one order", () => {
    expect(withQuery("/board", new URLSearchParams("task=a&source=human"), { task: "", judge: "x y" })).toBe("/board?judge=x+y&source=human");
  });
});

describe("the win matrix", () => {
  const cell: Cell = { left: "a", right: "b", wins: 6, losses: 2, ties: 2, both_bad: 1 };
  it("mirrors", () => {
    expect(winShare([cell], "a", "b")).toEqual({ share: 0.7, count: 10 });
    expect(winShare([cell], "b", "a")?.share).toBeCloseTo(0.3);
    expect(winShare([cell], "a", "c")).toBeNull();
  });
  it("does not count both halves twice", () => {
    const mirror: Cell = { left: "b", right: "a", wins: 2, losses: 6, ties: 2, both_bad: 1 };
    expect(winShare([cell, mirror], "a", "b")).toEqual({ share: 0.7, count: 10 });
  });
});

describe("figures", () => {
  const standing = (rating: number, low: number | null, high: number | null) => ({ rating, low, high }) as StandingOut;
  it("hold every interval, also where there is none", () => {
    const span = spanOf([standing(1000, 950, 1080), standing(900, null, null)]);
    expect(span.low).toBeLessThan(900);
    expect(span.high).toBeGreaterThan(1080);
  });
  it.each([[0, 1], [-3, 950], [0.001, 0.002]])("has a few round ticks from %d to %d", (low, high) => {
    const found = ticks({ low, high });
    expect(found.length).toBeGreaterThanOrEqual(2);
    expect(found.length).toBeLessThanOrEqual(8);
    expect(found.every((value) => value >= low && value <= high + 1e-9)).toBe(true);
  });
  it("read well", () => {
    expect(tally({ both_bad: 2, left: 0 })).toBe("2 both bad");
    expect(tally({ Item: 12, Evidence: 2 })).toBe("12 items, 2 evidence records");
    expect(strings.runs.records("record of votes taken back or changed", 2)).toBe("records of votes taken back or changed");
    expect(strings.runs.records("reply", 2)).toBe("replies");
    expect(missed({ "outputs api_error": 2, "judgments timeout": 1, "outputs ok": 0 })).toBe("2 outputs: api error; 1 judgment: timeout");
    expect(duration("2026-01-01T00:00:00Z", "2026-01-01T00:02:05Z")).toBe("2 min 5 s");
  });
});

describe("keys", () => {
  const press = (key: string, more: Partial<KeyboardEvent> = {}) =>
    keyName({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more });
  it("leave the browser's own shortcuts alone", () => {
    expect(press("t", { ctrlKey: true })).toBeNull();
    expect(press("T", { shiftKey: true })).toBe("t");
    expect(press("ArrowLeft", { shiftKey: true })).toBe("Shift+ArrowLeft");
  });
});

describe("a sentence with code", () => {
  const html = (text: string) => renderToStaticMarkup(createElement(InlineCode, { text }));
  it("sets what stands between backticks as code, and nothing else", () => {
    expect(html("Run `imarena edit` (`--mode all`).")).toBe("Run <code>imarena edit</code> (<code>--mode all</code>).");
    expect(html("`a` & b")).toBe("<code>a</code> &amp; b");
    expect(html("No code, one ` alone")).toBe("No code, one ` alone");
  });
});
