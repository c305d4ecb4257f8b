// Rate one picture: four criteria, wrong things, wrong parts, and words.
import { useEffect, useState } from "react";
import type { Picture, SegmentOut, TaskOut } from "../api/schema";
import { useKeys } from "../keys";
import { Choices, Key } from "../parts/fields";
import { strings } from "../strings";
import { boxBetween, type Box } from "../view/geometry";
import { ViewGroup } from "../view/viewgroup";
import type { Spot } from "../view/lens";
import { Overlay } from "../view/overlay";
import { Pane } from "../view/pane";
import { Tools, viewKeys } from "../view/tools";
import { isBusy } from "./desk";
import { missing, toBallot } from "./draft";
import { contextOf, TaskFrame } from "./frame";
import { useDraft } from "./sessionstore";
import type { TaskProps } from "./taskprops";
import { segmentsOf } from "./prefetchpictures";
import { RatingForm } from "./ratingform";

export function RatingTask({ campaign, desk, task }: TaskProps) {
  const [draft, change] = useDraft(task);
  const [tried, setTried] = useState(false);
  const [drawing, setDrawing] = useState(false);
  const [numbers, setNumbers] = useState(true);
  const [lens, setLens] = useState(false);
  const [spot, setSpot] = useState<Spot | null>(null);
  const [group] = useState(() => new ViewGroup());
  const segments = useSegments(task);
  useKeys({
    ...viewKeys(group, () => setLens(!lens)),
    d: () => setDrawing(!drawing),
    h: () => setNumbers(!numbers),
    Escape: () => setDrawing(false),
  });

  function toggle(number: number): void {
    const chosen = draft.segments.includes(number);
    change({ segments: chosen ? draft.segments.filter((one) => one !== number) : [...draft.segments, number], noSegments: false });
  }
  function addBox(box: Box): void {
    change({ boxes: [...draft.boxes, box], noSegments: false });
    setDrawing(false);
  }
  function boxView(picture: Picture): void {
    const box = seen(group, picture);
    if (box) addBox(box);
  }
  function send(): void {
    setTried(true);
    if (!missing(draft, task).length) desk.cast(toBallot(draft, "rating"));
  }

  const picture = task.left;
  // Two beside the result fit; of more, one at a time.
  const context = contextOf(task);
  const [shown, setShown] = useState(0);
  const beside = context.length > 2 ? context.slice(shown, shown + 1) : context;
  const panes = { group, lens, spot, onSpot: setSpot };
  const answers = (
    <button type="button" className="primary answer" disabled={isBusy(desk.state)} onClick={send}>{strings.rating.send} <Key>↵</Key></button>
  );
  return (
    <TaskFrame campaign={campaign} desk={desk} task={task} answers={answers}>
      <div className="rating">
        <section className="desk" aria-label={strings.view.pictures}>
          <div className="panes" data-count={beside.length + 1}>
            {beside.map((one) => (
              <Pane key={one.picture.tiles_url} {...panes} name={one.name} picture={one.picture} className="context">
                {context.length > 2 && (
                  <Choices label={strings.view.context} value={String(shown)} onChange={(value) => setShown(Number(value))}
                    options={context.map((other, index) => [String(index), other.name] as const)} />
                )}
              </Pane>
            ))}
            {picture && (
              <Pane {...panes} name={strings.view.result} picture={picture} lens={lens && !drawing}
                overlay={(viewer) => (
                  <Overlay viewer={viewer} picture={picture} segments={numbers ? (segments ?? []) : []} chosen={draft.segments}
                    boxes={draft.boxes} drawing={drawing} onSegment={toggle} onBox={addBox} />
                )} />
            )}
          </div>
          <div className="tool-rows">
            <Tools group={group} lens={lens} onLens={() => setLens(!lens)} />
            <div className="tools">
              <button type="button" className="toggle" aria-pressed={drawing} onClick={() => setDrawing(!drawing)}>
                {drawing ? strings.rating.drawing : strings.rating.draw} <Key>D</Key>
              </button>
              {picture && <button type="button" className="toggle" onClick={() => boxView(picture)}>{strings.rating.boxView}</button>}
              <button type="button" className="toggle" aria-pressed={numbers} onClick={() => setNumbers(!numbers)}>
                {strings.rating.numbers} <Key>H</Key>
              </button>
            </div>
          </div>
        </section>
        <RatingForm task={task} draft={draft} change={change} segments={segments} onSegment={toggle}
          missing={tried ? missing(draft, task) : []} onSend={send} />
      </div>
    </TaskFrame>
  );
}

/** The numbered parts; null while they are on their way. A picture without them can still be rated. */
function useSegments({ address, segments_url: url }: TaskOut): readonly SegmentOut[] | null {
  const [segments, setSegments] = useState<readonly SegmentOut[] | null>(url ? null : []);
  useEffect(() => {
    let current = true;
    if (url) {
      segmentsOf(address).then(
        (found) => current && setSegments(found.segments),
        () => current && setSegments([]),
      );
    }
    return () => {
      current = false;
    };
  }, [address, url]);
  return segments;
}

/** The part of the picture that the panes show: a box without a mouse. */
function seen(group: ViewGroup, picture: Picture): Box | null {
  const bounds = group.bounds(picture);
  return bounds && boxBetween([bounds[0], bounds[1]], [bounds[2], bounds[3]], picture);
}
