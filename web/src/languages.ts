// The texts of the rater's pages in the rater's language. English is built in; the server lists and serves the others:
// its own and those that a lead put into the workspace (docs/guide/languages.md).
import english from "../../src/imarena/web/languages/en.json";
import { useSyncExternalStore } from "react";
import { withBase } from "./basepath";

export type Messages = typeof english;
/** One text for each plural form that the language has; `other` is always there. */
export type Counted = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

export { english };
/** The texts in the language that is chosen now. Pages read them while they render, never before. */
export let messages: Messages = english;
let code = "en";

const CHOICE = "imarena.language";
const listeners = new Set<() => void>();

/** The languages that the server has, by their code, each with its own name. */
export function availableLanguages(): Record<string, string> {
  const listed = document.querySelector('meta[name="imarena-languages"]')?.getAttribute("content");
  try {
    return { en: english.name, ...(JSON.parse(listed ?? "{}") as Record<string, string>) };
  } catch {
    return { en: english.name };
  }
}

/** The first language of the browser that there is: `zh-Hant-TW` also takes `zh`. English where there is none. */
export function pickLanguage(wanted: readonly string[], available: readonly string[]): string {
  const known = new Map(available.map((one) => [one.toLowerCase(), one]));
  for (const tag of wanted) {
    const parts = tag.toLowerCase().split("-");
    for (let length = parts.length; length > 0; length -= 1) {
      const match = known.get(parts.slice(0, length).join("-"));
      if (match) return match;
    }
  }
  return "en";
}

const PLURALS: readonly string[] = ["zero", "one", "two", "few", "many", "other"];

/** Plural forms of one text, and not several texts of which one is called "other"? */
export const isCounted = (node: object): node is Counted => Object.keys(node).every((key) => PLURALS.includes(key));

/** A language over English: a text that it lacks is shown in English. */
export function overEnglish<T>(base: T, over: unknown): T {
  if (typeof base === "string") return (typeof over === "string" ? over : base) as T;
  if (typeof base !== "object" || base === null || typeof over !== "object" || over === null) return base;
  const texts = over as Record<string, unknown>;
  if (isCounted(base)) return (typeof texts.other === "string" ? over : base) as T;
  return Object.fromEntries(Object.entries(base).map(([key, value]) => [key, overEnglish(value as unknown, texts[key])])) as T;
}

async function load(wanted: string): Promise<void> {
  let [next, texts] = ["en", english];
  if (wanted !== "en") {
    try {
      const answer = await fetch(withBase(`/languages/${wanted}.json`), { credentials: "same-origin" });
      if (answer.ok) [next, texts] = [wanted, overEnglish(english, await answer.json())];
    } catch {
      // English is always there.
    }
  }
  [code, messages] = [next, texts];
  document.documentElement.lang = code;
  for (const listener of listeners) listener();
}

/** The language that was chosen here before, or the browser's. */
export async function loadFirstLanguage(): Promise<void> {
  const chosen = window.localStorage.getItem(CHOICE);
  await load(pickLanguage([...(chosen ? [chosen] : []), ...navigator.languages], Object.keys(availableLanguages())));
}

export function chooseLanguage(wanted: string): void {
  window.localStorage.setItem(CHOICE, wanted);
  void load(wanted);
}

/** The code of the language; the component is shown again when it changes. */
export function useLanguage(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => code,
  );
}

type Values = Record<string, string | number>;

export const number = (value: number): string => value.toLocaleString(code);

/** A text with its `{names}` filled in. */
export function fill(text: string, values: Values): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : typeof value === "number" ? number(value) : value;
  });
}

/** The form of a text that fits a count, filled in. */
export function counted(forms: Counted, count: number, values: Values = {}): string {
  return fill(forms[new Intl.PluralRules(code).select(count)] ?? forms.other, { count, ...values });
}
