// The form beside the picture that is rated.
import { useState } from "react";
import type { SegmentOut, TaskOut } from "../api/schema";
import { strings } from "../strings";
import { explained, lowered, type Draft, type Missing } from "./draft";
import { MissingAnswers } from "./missinganswers";
import { Scale } from "./scale";

interface Props {
  task: TaskOut;
  draft: Draft;
  change: (change: Partial<Draft>) => void;
  segments: readonly SegmentOut[] | null;
  onSegment: (number: number) => void;
  missing: readonly Missing[];
  onSend: () => void;
}

export function RatingForm({ task, draft, change, segments, onSegment, missing, onSend }: Props) {
  const t = strings.rating;
  const wanting = lowered(draft, task.criteria) && !explained(draft);
  return (
    <form className="rating-form" aria-label={t.form} onSubmit={(event) => { event.preventDefault(); onSend(); }}>
      <MissingAnswers missing={missing} />
      {task.criteria.map((criterion) => (
        <Scale key={criterion.name} criterion={criterion} value={draft.ratings[criterion.name]}
          onChange={(value) => change({ ratings: { ...draft.ratings, [criterion.name]: value } })} />
      ))}
      <Objects task={task} draft={draft} change={change} />
      <fieldset>
        <legend>{t.segments}</legend>
        <p className="hint">{segments === null ? t.segmentsWaiting : segments.length ? t.segmentsHint : t.segmentsNone}</p>
        <div className="chips">
          {(segments ?? []).map(({ number }) => (
            <button key={number} type="button" className="chip" aria-label={t.segmentNumber(number)}
              aria-pressed={draft.segments.includes(number)} onClick={() => onSegment(number)}>
              {number}
            </button>
          ))}
          {draft.boxes.map((box, index) => (
            <span key={box.join()} className="chip on box-chip">
              {t.boxName(index)}
              <button type="button" aria-label={t.remove(t.boxName(index))}
                onClick={() => change({ boxes: draft.boxes.filter((_, other) => other !== index) })}>×</button>
            </span>
          ))}
        </div>
        <label className="check">
          <input type="checkbox" checked={draft.noSegments}
            onChange={(event) => change(event.target.checked ? { noSegments: true, segments: [], boxes: [] } : { noSegments: false })} />
          {t.noSegments}
        </label>
      </fieldset>
      <fieldset>
        <legend>{t.tags}</legend>
        <label className="check">
          <input type="checkbox" checked={draft.newImage} onChange={(event) => change({ newImage: event.target.checked })} />
          {t.newImage}
        </label>
        <label className="check">
          <input type="checkbox" checked={draft.returnedInput} onChange={(event) => change({ returnedInput: event.target.checked })} />
          {t.returnedInput}
        </label>
      </fieldset>
      <label className="field">
        <span>{t.other}</span>
        <input value={draft.other} maxLength={500} onChange={(event) => change({ other: event.target.value })} />
      </label>
      <label className="field">
        <span>{t.comment} {wanting && <em className="needed">{t.commentNeeded}</em>}</span>
        <textarea rows={2} maxLength={4000} value={draft.comment} aria-required={wanting}
          onChange={(event) => change({ comment: event.target.value })} />
      </label>
    </form>
  );
}

function Objects({ task, draft, change }: Pick<Props, "task" | "draft" | "change">) {
  const t = strings.rating;
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
    <fieldset>
      <legend>{t.objects}</legend>
      <p className="hint">{t.objectsHint}</p>
      <div className="object-list">
        {names.map((name) => (
          <label key={name} className="check">
            <input type="checkbox" checked={draft.objects.includes(name)} onChange={(event) => toggle(name, event.target.checked)} />
            {name}
          </label>
        ))}
      </div>
      <div className="add-row">
        <input aria-label={t.addObject} placeholder={t.addObject} value={typed} maxLength={500}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => { if (event.key === "Enter") { event.preventDefault(); add(); } }} />
        <button type="button" className="small" disabled={!typed.trim()} onClick={add}>{t.add}</button>
      </div>
      <label className="check">
        <input type="checkbox" checked={draft.noObjects}
          onChange={(event) => change(event.target.checked ? { noObjects: true, objects: [] } : { noObjects: false })} />
        {t.noObjects}
      </label>
    </fieldset>
  );
}
