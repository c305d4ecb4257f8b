import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { counted, english, fill, isCounted, overEnglish, pickLanguage } from "../src/languages";

const FOLDER = new URL("../../src/imarena/web/languages/", import.meta.url);

/** Every text by its key; a text with plural forms is one text. */
function textsOf(node: unknown, key = ""): Record<string, string[]> {
  if (typeof node === "string") return { [key]: [node] };
  const object = node as Record<string, unknown>;
  if (isCounted(object)) return { [key]: Object.values(object) };
  return Object.fromEntries(Object.entries(object).flatMap(([name, value]) => Object.entries(textsOf(value, key ? `${key}.${name}` : name))));
}

const placeholders = (texts: readonly string[]) => [...new Set(texts.flatMap((text) => text.match(/\{\w+\}/g) ?? []))].sort();

describe("the language files", () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
  const expected = textsOf(english);
  it.each(files)("%s has every text, with the same placeholders", (file) => {
    const texts = textsOf(JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")));
    expect(Object.keys(texts).sort()).toEqual(Object.keys(expected).sort());
    for (const [key, forms] of Object.entries(texts)) expect([key, placeholders(forms)]).toEqual([key, placeholders(expected[key] ?? [])]);
  });
});

describe("a language", () => {
  it("is the first of the browser that there is", () => {
    expect(pickLanguage(["fr-FR", "zh-CN", "en"], ["en", "zh"])).toBe("zh");
    expect(pickLanguage(["pt-BR"], ["en", "pt-BR", "pt"])).toBe("pt-BR");
    expect(pickLanguage(["xx"], ["en", "zh"])).toBe("en");
  });
  it("shows English for a text that it lacks", () => {
    const base = { a: "A", more: { b: "B", many: { one: "{count} x", other: "{count} xs" } } };
    expect(overEnglish(base, { more: { many: { other: "{count} y" } } })).toEqual({ a: "A", more: { b: "B", many: { other: "{count} y" } } });
    expect(overEnglish(base, { a: 3, more: "no" })).toEqual(base);
  });
  it("has plural forms", () => {
    expect([1, 2, 1200].map((count) => counted({ one: "{count} answer", other: "{count} answers" }, count))).toEqual(["1 answer", "2 answers", "1,200 answers"]);
    expect(fill("{a} of {b}", { a: 1, b: "two" })).toBe("1 of two");
  });
});
