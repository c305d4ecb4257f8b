// Tasks with known answers for a new campaign: found in votes that agree or in a table, and what each is used for.
import { useState } from "react";
import * as calls from "../../api/calls";
import { asApiError, type ApiError } from "../../api/client";
import type { GoldIn, KnownIn, KnownOut } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { isolated } from "../../parts/isolated";
import { InlineCode } from "../../parts/inlinecode";
import { ScrollArea } from "../../parts/scrollarea";
import { Problem } from "../../parts/status";
import { strings } from "../../strings";

export type Use = "" | "gold" | "practice" | "qualification";

export interface Chosen {
  found: KnownOut;
  use: Use;
  explanation: string;
}

/** The chosen tasks as a campaign takes them. */
export function chosenFor(chosen: readonly Chosen[], use: Use): GoldIn[] {
  return chosen.filter((one) => one.use === use).map((one) => ({ ...one.found.task, explanation: one.explanation.trim() }));
}

/** The first few for practice, the next for the test, the rest as gold; what a table says goes first. */
export function share(found: readonly KnownOut[], practice: number, test: number): Chosen[] {
  let free = 0;
  return found.map((one) => {
    const place = one.use === "" ? free++ : -1;
    const use: Use = one.use || (place < practice ? "practice" : place < practice + test ? "qualification" : "gold");
    return { found: one, use, explanation: one.task.explanation ?? "" };
  });
}

interface Props {
  kind: string;
  datasets: string[];
  chosen: readonly Chosen[];
  onChange: (chosen: Chosen[]) => void;
}

export function KnownTasks({ kind, datasets, chosen, onChange }: Props) {
  const [votes, setVotes] = useState(2);
  const [agree, setAgree] = useState(100);
  const [practice, setPractice] = useState(2);
  const [test, setTest] = useState(5);
  const [problems, setProblems] = useState<string[]>([]);
  const [status, setStatus] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const t = strings.lead;
  function find(body: Partial<KnownIn>): void {
    setError(null);
    calls.knownTasks({ kind: kind as NonNullable<KnownIn["kind"]>, datasets, ...body }).then(
      (page) => {
        onChange(share(page.tasks, practice, test));
        setProblems(page.problems);
        setStatus(t.knownFound(page.tasks.length));
      },
      (reason: unknown) => setError(asApiError(reason)),
    );
  }
  const number = (label: string, value: number, set: (value: number) => void, least: number, most: number) => (
    <label className="field"><span>{label}</span>
      <input type="number" min={least} max={most} value={value} onChange={(event) => set(Number(event.target.value))} />
    </label>
  );
  if (kind === "check") return <p className="muted whole">{t.knownCheck}</p>;
  return (
    <fieldset className="whole known">
      <legend>{t.known}</legend>
      <p className="hint">{t.knownHint}</p>
      <div className="known-find">
        {number(t.leastVotes, votes, setVotes, 1, 1000)}
        {number(t.leastShare, agree, setAgree, 51, 100)}
        {number(t.practiceCount, practice, setPractice, 0, 100)}
        {number(t.testCount, test, setTest, 0, 100)}
      </div>
      <div className="row">
        <button type="button" className="small" onClick={() => find({ least_votes: votes, least_share: agree / 100 })}>{t.fromVotes}</button>
        <label className="button small file">
          {t.fromTable}
          <input type="file" accept=".csv,text/csv" onChange={(event) => {
            const file = event.target.files?.[0];
            if (file) void file.text().then((table) => find({ table: table || "item" }));
            event.target.value = "";
          }} />
        </label>
        {chosen.length > 0 && <button type="button" className="small quiet" onClick={() => { onChange([]); setStatus(""); setProblems([]); }}>{t.knownClear}</button>}
      </div>
      <p role="status" className="muted">{status}</p>
      {error && <Problem error={error} />}
      {problems.length > 0 && <div className="problem"><ul>{problems.slice(0, 8).map((one) => <li key={one}><InlineCode text={one} /></li>)}</ul></div>}
      {chosen.length > 0 && <KnownTable chosen={chosen} onChange={onChange} />}
    </fieldset>
  );
}

function KnownTable({ chosen, onChange }: Pick<Props, "chosen" | "onChange">) {
  const t = strings.lead;
  const set = (place: number, change: Partial<Chosen>) => onChange(chosen.map((one, at) => (at === place ? { ...one, ...change } : one)));
  const uses: [Use, string][] = [["gold", t.uses.gold], ["practice", t.uses.practice], ["qualification", t.uses.qualification], ["", t.uses.none]];
  return (
    <ScrollArea label={t.known} className="known-table">
      <table>
        <thead><tr>{[t.knownTask, t.knownAnswer, t.knownUse, t.knownWhy].map((text) => <th key={text} scope="col">{text}</th>)}</tr></thead>
        <tbody>
          {chosen.map(({ found, use, explanation }, place) => (
            <tr key={`${found.task.item_id} ${found.task.left_id} ${found.task.right_id}`}>
              <th scope="row" title={isolated(found.instruction)}><span className="clip"><Bdi>{found.item}</Bdi></span><small className="muted clip">{found.right ? `${isolated(found.left)} / ${isolated(found.right)}` : <Bdi>{found.left}</Bdi>}</small></th>
              <td>{answerOf(found)}{found.votes > 0 && <small className="muted"> {t.knownVotes(found.votes)}</small>}</td>
              <td>
                <select aria-label={`${t.knownUse}: ${isolated(found.item)}`} value={use} onChange={(event) => set(place, { use: event.target.value as Use })}>
                  {uses.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
                </select>
              </td>
              <td>{use === "practice" && (
                <input aria-label={`${t.knownWhy}: ${isolated(found.item)}`} value={explanation} maxLength={500}
                  onChange={(event) => set(place, { explanation: event.target.value })} />
              )}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

/** The known answer in words. */
export function answerOf({ task, left, right }: KnownOut): string {
  if (task.preference === "left") return isolated(left);
  if (task.preference === "right") return isolated(right);
  if (task.preference) return strings.vote.choices[task.preference] ?? task.preference;
  if (typeof task.answer === "boolean") return task.answer ? strings.yes : strings.no;
  return Object.entries(task.ratings ?? {}).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`).join(", ");
}
