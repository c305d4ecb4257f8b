// One item with what every editor made of it, side by side and in step.
import { useState } from "react";
import * as calls from "../../api/calls";
import { useLoaded } from "../../api/useloaded";
import type { ItemDetail, OutputOut, StepOut, WordsOut } from "../../api/schema";
import { useKeys } from "../../keys";
import { Bdi } from "../../parts/bdi";
import { copyText } from "../../parts/clipboard";
import { Choices } from "../../parts/fields";
import { isolated } from "../../parts/isolated";
import { WhenLoaded } from "../../parts/status";
import { contextOf } from "../../rate/frame";
import { withBase } from "../../basepath";
import { useSession } from "../../session";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";
import { ViewGroup } from "../../view/viewgroup";
import type { Spot } from "../../view/lens";
import { Overlay } from "../../view/overlay";
import { Pane } from "../../view/pane";
import { Tools, viewKeys } from "../../view/tools";

export function ItemPage({ id }: { id: string }) {
  const loaded = useLoaded(`item ${id}`, () => calls.item(id));
  return <div className="page wide"><WhenLoaded loaded={loaded}>{(detail) => <Detail key={detail.item.item_id} detail={detail} />}</WhenLoaded></div>;
}

function Detail({ detail }: { detail: ItemDetail }) {
  const [group] = useState(() => new ViewGroup());
  const [lens, setLens] = useState(false);
  const [spot, setSpot] = useState<Spot | null>(null);
  const [marks, setMarks] = useState(true);
  const kinds = [...new Set(detail.outputs.map(kindOf))];
  const [kind, setKind] = useState(kinds[0] ?? "");
  useKeys(viewKeys(group, () => setLens(!lens)));
  const panes = { group, lens, spot, onSpot: setSpot };
  const t = strings.explore;
  return (
    <>
      <p className="muted" dir="auto">
        {[detail.item.dataset, detail.item.key, detail.item.family, detail.item.task, detail.item.topic, detail.licence].filter(Boolean).join(" · ")}
      </p>
      {detail.instructions.map((text, index) => <h1 key={index} className="instruction-title"><Bdi>{text}</Bdi></h1>)}
      {detail.words.map((said) => (
        <p key={`${said.output_id} ${said.text}`} className="warning" data-testid="judge-words">
          <strong>{whose(said, detail)}</strong> {t.words(said.text)} {said.excuse && t.wordsExcuse(said.excuse)}
        </p>
      ))}
      <div className="page-head sticky">
        <Tools group={group} lens={lens} onLens={() => setLens(!lens)} />
        {kinds.length > 1 && <Choices label={t.outputs} value={kind} options={kinds.map((one) => [one, one] as const)} onChange={setKind} />}
        <button type="button" className="toggle" aria-pressed={marks} onClick={() => setMarks(!marks)}>{t.showIssues}</button>
      </div>
      <div className="gallery">
        {contextOf(detail).map((one) => <Pane key={one.picture.tiles_url} {...panes} name={one.name} picture={one.picture} className="context" />)}
        {detail.outputs.filter((one) => kindOf(one) === kind).map((one) => <Made key={one.output_id} one={one} panes={panes} marks={marks} />)}
      </div>
      {detail.outputs.filter((one) => kindOf(one) === kind && one.steps.length > 0).map((one) => <Trace key={one.output_id} one={one} />)}
    </>
  );
}

/** How an agent came to its picture: what it understood, planned, tried and chose. */
function Trace({ one }: { one: OutputOut }) {
  const t = strings.explore;
  return (
    <section className="trace" aria-label={t.trace(one.editor ?? t.unnamed)}>
      <h2>{t.trace(one.editor ?? t.unnamed)}</h2>
      <ol>{one.steps.map((step, index) => <Step key={index} step={step} />)}</ol>
    </section>
  );
}

function Step({ step }: { step: StepOut }) {
  const t = strings.explore;
  const more = Object.entries(step.details);
  return (
    <li className="verdict">
      {step.picture && <img src={withBase(step.picture.url)} alt="" loading="lazy" />}
      <div>
        <strong>{t.stages[step.stage] ?? step.stage}</strong>
        <span className="muted">
          {step.by && ` ${step.by}`}{step.status && ` · ${step.status}`}{step.score !== null && ` · ${t.score} ${step.score.toFixed(2)}`}
        </span>
        {step.text && <p>{step.text}</p>}
        {more.length > 0 && (
          <dl>
            {more.map(([name, value]) => <div key={name}><dt>{name.replaceAll("_", " ")}</dt><dd>{value}</dd></div>)}
          </dl>
        )}
      </div>
    </li>
  );
}

/** Whose picture the words stand in. */
function whose(said: WordsOut, detail: ItemDetail): string {
  const t = strings.explore;
  return said.output_id === null ? t.inSource : (isolated(detail.outputs.find((one) => one.output_id === said.output_id)?.editor ?? t.unnamed));
}

interface Panes {
  group: ViewGroup;
  lens: boolean;
  spot: Spot | null;
  onSpot: (spot: Spot | null) => void;
}

function Made({ one, panes, marks }: { one: OutputOut; panes: Panes; marks: boolean }) {
  const t = strings.explore;
  const name = isolated(one.editor ?? t.unnamed);
  const { me } = useSession();
  const { picture } = one;
  const boxes = one.issues.flatMap((issue) => (issue.box ? [issue.box] : []));
  const said = [...Object.entries(one.scores), ...Object.entries(one.ratings)];
  const details = (
    <span className="muted">
      {said.map(([what, value]) => `${what} ${value.toFixed(2)}`).join(" · ")}
      {one.issues.length > 0 && ` · ${t.issues(one.issues.length)}`}
    </span>
  );
  if (!picture) {
    return (
      <figure className="pane">
        <div className="pane-canvas"><p className="pane-broken">{t.failed(one.status)}</p></div>
        <figcaption><span>{name}</span>{details}</figcaption>
      </figure>
    );
  }
  return (
    <Pane {...panes} name={name} picture={picture}
      {...(marks && boxes.length
        ? {
            overlay: (viewer) => (
              <Overlay viewer={viewer} picture={picture} segments={[]} chosen={[]} boxes={boxes} drawing={false}
                onSegment={() => {}} onBox={() => {}} />
            ),
          }
        : {})}>
      {details}
      {(me.role === "admin" || me.role === "lead") && <CopyExample identity={one.output_id} />}
    </Pane>
  );
}

function kindOf(one: OutputOut): string {
  return `${one.mode.replaceAll("_", " ")}, ${strings.explore.turn(one.turn).toLowerCase()}${one.sample ? `, #${one.sample + 1}` : ""}`;
}

/** The line that shows this picture in a campaign's guidelines. */
function CopyExample({ identity }: { identity: string }) {
  const [copied, setCopied] = useState(false);
  const t = leadStrings.lead;
  return (
    <button type="button" className="small quiet" onClick={() => void copyText(`![](${identity})`).then(() => setCopied(true))}>
      {copied ? t.copiedExample : t.copyExample}
    </button>
  );
}
