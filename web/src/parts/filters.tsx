// The filters of all pages that show verdicts. They stand in the address, so that a link shows the same.
import { useState, type ReactNode } from "react";
import type { BoardOut, Facets } from "../api/schema";
import { go, useLocation, withQuery } from "../router";
import { strings } from "../strings";
import { leadStrings } from "../strings_lead";
import { useNarrow } from "./narrow";
import { Choices, Select } from "./fields";

/** Which verdicts count. */
export const VERDICTS = ["source", "judge", "dimension", "dataset", "family", "task", "topic", "track", "mode", "since", "until"];
export const ITEMS = ["dataset", "family", "task", "topic", "track"];

const FACETS: Record<string, keyof Facets> = {
  task: "tasks", topic: "topics", family: "families", track: "tracks", dataset: "datasets", dimension: "dimensions", judge: "judges",
  mode: "modes", left: "editors", right: "editors",
};
const LISTS = ["left", "right", "task", "topic", "family", "track", "dataset", "dimension", "judge", "mode"];

const ALL_JUDGES = "all";

/** The filters with a value, of those named. */
export function chosen(query: URLSearchParams, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? ""]] : [])));
}

/** The address of another page with the same filters. */
export function linkWithFilters(path: string, query: URLSearchParams, changes: Record<string, string> = {}): string {
  return withQuery(path, new URLSearchParams(chosen(query, VERDICTS)), changes);
}

/** The filters of a board with the verdicts that it is made from: a list of battles shows those, and no others. */
export function queryOfBoard(query: URLSearchParams, board: BoardOut): URLSearchParams {
  const found = new URLSearchParams(query);
  if (!query.get("source") && board.source !== "all") found.set("source", board.source);
  if (board.judge) found.set("judge", board.judge);
  return found;
}

export function useFilters(): { query: URLSearchParams; set: (changes: Record<string, string>) => void } {
  const { path, query } = useLocation();
  return { query, set: (changes) => go(withQuery(path, query, changes), { replace: true }) };
}

const DAY = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

/** A day as tables write it. A browser's own field would write it as the country of its maker does. */
function Day({ value, about, onChange }: { value: string; about: string; onChange: (value: string) => void }) {
  // What was typed so far belongs to the day that it is to replace.
  const [draft, setDraft] = useState({ text: value, replaces: value });
  const typed = draft.replaces === value ? draft.text : value;
  return (
    <input type="text" className="day" inputMode="numeric" placeholder={strings.look.day} aria-describedby={about} value={typed} aria-invalid={typed !== "" && !DAY.test(typed)}
      maxLength={10} onChange={(event) => {
        setDraft({ text: event.target.value, replaces: value });
        if (event.target.value === "" || DAY.test(event.target.value)) onChange(event.target.value);
      }} />
  );
}

interface Props {
  facets: Facets;
  names: readonly string[];
  methods?: boolean;
  /** A board is about the whole where no dimension is chosen; a list shows them all. */
  board?: boolean;
}

/** What a filter can be set to. A board can pool all judges: it says so, and does it only when asked. */
function optionsOf(facets: Facets, name: string, board: boolean | undefined): readonly string[] {
  const options = facets[FACETS[name]!];
  return board && name === "judge" && options.length > 1 ? [...options, ALL_JUDGES] : options;
}

export function Filters({ facets, names, methods, board }: Props) {
  const { query, set } = useFilters();
  const t = strings.look;
  const value = (name: string) => query.get(name) ?? "";
  const shown = LISTS.filter((name) => names.includes(name));
  const usual = board ? "auto" : "all";
  const all = methods ? [...names, "method"] : names;
  const hints = leadStrings.board.hints;
  return (
    <section className="filters" aria-label={t.filters}>
      {names.includes("source") && (
        <div className="field source">
          <span aria-hidden="true">{t.source}</span>
          <Choices label={t.source} value={value("source") || usual} options={board ? t.boardSources : t.sources}
            onChange={(found) => set({ source: found === usual ? "" : found })} />
          <small className="muted">{hints.source}</small>
        </div>
      )}
      {shown.map((name) => (
        <Select key={name} label={t.names[name] ?? name} value={value(name)} options={optionsOf(facets, name, board)} any={board && name === "dimension" ? t.whole : t.any} hint={hints[name]}
          onChange={(found) => set({ [name]: found })} />
      ))}
      {methods && (
        <Select label={t.method} value={value("method") || "bt"} options={t.methods} texts={leadStrings.board.methods} hint={hints.method}
          onChange={(found) => set({ method: found === "bt" ? "" : found })} />
      )}
      {names.includes("since") && (
        <div className="days">
          {["since", "until"].map((name) => (
            <div key={name} className="field">
              <label className="field">
                <span>{t.names[name]}</span>
                <Day value={value(name)} about={`about-${name}`} onChange={(found) => set({ [name]: found })} />
              </label>
              <small className="muted" id={`about-${name}`}>{hints[name]}</small>
            </div>
          ))}
        </div>
      )}
      {all.some((name) => query.get(name)) && (
        <button type="button" className="small" onClick={() => set(Object.fromEntries(all.map((name) => [name, ""])))}>{t.clear}</button>
      )}
    </section>
  );
}

/** Controls above a table. On a phone they fold, so that the table comes first. */
export function Folding({ text, children }: { text: string; children: ReactNode }) {
  const narrow = useNarrow();
  if (!narrow) return <>{children}</>;
  return <details className="folding"><summary>{text}</summary>{children}</details>;
}
