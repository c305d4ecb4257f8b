// The form beside the picture that is rated: what is required first, then what is not.
import { useState } from "react";
import type { SegmentOut, TaskOut } from "../api/schema";
import { fill, messages } from "../languages";
import { boxName } from "../view/overlay";
import { criterionTexts } from "./criteria";
import { explained, lowered, type Draft, type Missing } from "./draft";
import { MissingAnswers } from "./missinganswers";
import { ANCHOR, Scale } from "./scale";
import { Bdi } from "../parts/bdi";

interface Props {
  task: TaskOut;
  draft: Draft;
  change: (change: Partial<Draft>) => void;
  segments: readonly SegmentOut[] | null;
  /** Are the numbers of the parts shown? */
  numbers: boolean;
  onSegment: (number: number) => void;
  active: string;
  onActive: (criterion: string) => void;
  missing: readonly Missing[];
  onSend: () => void;
}

export function RatingForm({ task, draft, change, segments, numbers, onSegment, active, onActive, missing, onSend }: Props) {
  const t = messages.rating;
  const wanting = lowered(draft, task.criteria) && !explained(draft);
  return (
    <form className="rating-form" aria-label={t.form} onSubmit={(event) => { event.preventDefault(); onSend(); }}>
      <MissingAnswers missing={missing} />
      <Scales task={task} draft={draft} change={change} active={active} onActive={onActive} />
      <Objects task={task} draft={draft} change={change} />
      <Parts draft={draft} change={change} segments={segments} numbers={numbers} onSegment={onSegment} />
      <label className="field" data-field="explanation">
        <span>{t.comment} {wanting && <em className="needed">{t.commentNeeded}</em>}</span>
        <textarea rows={1} maxLength={4000} value={draft.comment} aria-required={wanting}
          onChange={(event) => change({ comment: event.target.value })} />
      </label>
      <WholePicture draft={draft} change={change} />
      <label className="field">
        <span>{t.otherIssues}</span>
        <input value={draft.other} maxLength={500} onChange={(event) => change({ other: event.target.value })} />
      </label>
    </form>
  );
}

type PartProps = Pick<Props, "draft" | "change">;

/** The criteria, and under them what the value under the pointer means, or the one that was chosen. */
function Scales({ task, draft, change, active, onActive }: PartProps & Pick<Props, "task" | "active" | "onActive">) {
  const [near, setNear] = useState<{ name: string; value: number } | null>(null);
  const explainedOne = task.criteria.find((criterion) => criterion.name === (near?.name ?? active));
  const texts = explainedOne && criterionTexts(explainedOne);
  const value = near?.value ?? draft.ratings[active];
  return (
    <div>
      {task.criteria.map((criterion) => (
        <Scale key={criterion.name} criterion={criterion} value={draft.ratings[criterion.name]} active={active === criterion.name}
          onActive={() => onActive(criterion.name)} onNear={(at) => setNear(at === null ? null : { name: criterion.name, value: at })}
          onChange={(rating) => change({ ratings: { ...draft.ratings, [criterion.name]: rating } })} />
      ))}
      <p id={ANCHOR} className="anchor">{texts && <><strong>{texts.label}{value === undefined ? "" : `, ${value}`}:</strong> {texts.anchors[String(value)] ?? texts.question}</>}</p>
    </div>
  );
}

/** A picture cannot be both new and the unchanged source. */
function WholePicture({ draft, change }: PartProps) {
  const t = messages.rating;
  const options = [
    ["neither", t.neither, !draft.newImage && !draft.returnedInput, { newImage: false, returnedInput: false }],
    ["new", t.newImage, draft.newImage, { newImage: true, returnedInput: false }],
    ["same", t.returnedInput, draft.returnedInput && !draft.newImage, { newImage: false, returnedInput: true }],
  ] as const;
  return (
    <fieldset>
      <legend>{t.tags}</legend>
      {options.map(([value, text, checked, next]) => (
        <label key={value} className="check">
          <input type="radio" name="whole-picture" value={value} checked={checked} onChange={() => change(next)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
}

function Parts({ draft, change, segments, numbers, onSegment }: PartProps & Pick<Props, "segments" | "numbers" | "onSegment">) {
  const t = messages.rating;
  const answered = draft.noSegments || draft.segments.length > 0 || draft.boxes.length > 0;
  const chips = (segments ?? []).filter(({ number }) => numbers || draft.segments.includes(number));
  return (
    <fieldset data-field="segments">
      <legend>{t.segments}{!answered && <span className="needed"> *</span>}</legend>
      <label className="check none">
        <input type="checkbox" checked={draft.noSegments}
          onChange={(event) => change(event.target.checked ? { noSegments: true, segments: [], boxes: [] } : { noSegments: false })} />
        {t.noSegments}
      </label>
      <p className="hint">{segments === null ? t.segmentsWaiting : segments.length ? t.segmentsHint : t.segmentsNone}</p>
      <div className="chips">
        {chips.map(({ number }) => (
          <button key={number} type="button" className="chip" aria-label={fill(t.segmentNumber, { number })}
            aria-pressed={draft.segments.includes(number)} onClick={() => onSegment(number)}>
            {number}
          </button>
        ))}
        {draft.boxes.map((box, index) => (
          <span key={box.join()} className="chip on box-chip">
            {boxName(index)}
            <button type="button" aria-label={fill(t.remove, { name: boxName(index) })}
              onClick={() => change({ boxes: draft.boxes.filter((_, other) => other !== index) })}>×</button>
          </span>
        ))}
      </div>
    </fieldset>
  );
}

function Objects({ task, draft, change }: PartProps & Pick<Props, "task">) {
  const t = messages.rating;
  const [typed, setTyped] = useState("");
  const names = [...new Set([...task.expected_objects, ...draft.objects])];
  const toggle = (name: string, on: boolean) =>
    change({ objects: on ? [...draft.objects, name] : draft.objects.filter((one) => one !== name), ...(on ? { noObjects: false } : {}) });
  function add(): void {
    const name = typed.trim();
    if (name && !draft.objects.includes(name)) toggle(name, true);
    setTyped("");
  }
  return (
    <fieldset data-field="objects">
      <legend>{t.objects}{!draft.noObjects && !draft.objects.length && <span className="needed"> *</span>}</legend>
      <label className="check none">
        <input type="checkbox" checked={draft.noObjects}
          onChange={(event) => change(event.target.checked ? { noObjects: true, objects: [] } : { noObjects: false })} />
        {t.noObjects}
      </label>
      <div className="object-list">
        {names.map((name) => (
          <label key={name} className="check">
            <input type="checkbox" checked={draft.objects.includes(name)} onChange={(event) => toggle(name, event.target.checked)} />
            <Bdi>{name}</Bdi>
          </label>
        ))}
      </div>
      <div className="add-row">
        <input aria-label={t.addObject} placeholder={t.addObject} title={t.objectsHint} value={typed} maxLength={500}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => { if (event.key === "Enter") { event.preventDefault(); add(); } }} />
        <button type="button" className="small" disabled={!typed.trim()} onClick={add}>{t.add}</button>
      </div>
    </fieldset>
  );
}
