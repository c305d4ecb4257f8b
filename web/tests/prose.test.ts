import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { Prose } from "../src/parts/prose";

const html = (text: string) => renderToStaticMarkup(createElement(Prose, { text })).replace(/^<div class="prose">|<\/div>$/g, "");
const OUTPUT = `output_${"a".repeat(32)}`;

describe("guidelines", () => {
  it("have headings, lists, emphasis and code", () => {
    expect(html("# Look\nat it")).toBe("<h2>Look</h2><p>at it</p>");
    expect(html("- one\n  more\n- **two**")).toBe("<ul><li>one more</li><li><strong>two</strong></li></ul>");
    expect(html("First:\n1. a\n2. *b*")).toBe("<p>First:</p><ol><li>a</li><li><em>b</em></li></ol>");
    expect(html("Use `**x**` so.")).toBe("<p>Use <code>**x**</code> so.</p>");
    expect(html("> said\n> so")).toBe("<blockquote>said so</blockquote>");
    expect(html("```\n# not a head\n```")).toBe("<pre># not a head</pre>");
  });
  it("show pictures of the arena, and no others", () => {
    expect(html(`![clean](${OUTPUT})`)).toContain(`src="/api/rating/examples/${OUTPUT}" alt="clean"`);
    for (const other of ["https://evil.example/x.png", "/api/session", "data:image/png;base64,AAAA", "output_1", `${OUTPUT}/../x`]) {
      expect(html(`![x](${other})`)).not.toContain("<img");
    }
  });
  it("link to the web, and to nothing that runs", () => {
    expect(html("[a](https://example.org/?b=c)")).toContain('href="https://example.org/?b=c"');
    for (const other of ["javascript:alert(1)", "JaVaScRiPt:alert", "data:text/html,x", "/lead", "//evil.example"]) {
      expect(html(`[x](${other})`)).not.toContain("<a");
    }
  });
  it("are never HTML", () => {
    expect(html('<img src=x onerror="alert(1)"> **<b>**')).toBe("<p>&lt;img src=x onerror=&quot;alert(1)&quot;&gt; <strong>&lt;b&gt;</strong></p>");
  });
  it("end in time, whatever is written", () => {
    const started = performance.now();
    html("*".repeat(20_000));
    html("[".repeat(20_000));
    html("![](".repeat(5_000));
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
