// Rate one picture: four criteria, wrong objects, wrong parts, and a comment.
import { useEffect, useState } from "react";
import type { Picture, SegmentOut, TaskOut } from "../api/schema";
import { useKeys } from "../keys";
import { messages } from "../languages";
import { Key } from "../parts/fields";
import { PictureView } from "../view/compare";
import { boxBetween, type Box } from "../view/geometry";
import { Overlay } from "../view/overlay";
import type { ViewGroup } from "../view/viewgroup";
import { missing, toBallot, type Draft } from "./draft";
import { AnswerButton, contextOf, TaskFrame } from "./frame";
import { goToGap, OpenQuestions } from "./missinganswers";
import { segmentsOf } from "./prefetchpictures";
import { RatingForm } from "./ratingform";
import { useDraft, useTaskState } from "./sessionstore";
import type { TaskProps } from "./taskprops";
import { useRatingKeys } from "./useratingkeys";
import { useSendKey } from "./usesendkey";

export function RatingTask(props: TaskProps) {
  const { desk, task, group, gate, showing } = props;
  const [draft, change] = useDraft(task, showing);
  const [tried, setTried] = useTaskState(showing, () => false);
  const [drawing, setDrawing] = useTaskState(showing, () => false);
  const [numbers, setNumbers] = useState(false);
  const segments = useSegments(task);
  const { active, setActive } = useRatingKeys(task, draft, change, showing);
  useKeys({ d: () => setDrawing((was) => !was), n: () => setNumbers(!numbers), Escape: () => setDrawing(() => false) });

  function toggle(number: number): void {
    const chosen = draft.segments.includes(number);
    change({ segments: chosen ? draft.segments.filter((one) => one !== number) : [...draft.segments, number], noSegments: false });
  }
  function addBox(box: Box): void {
    change({ boxes: [...draft.boxes, box], noSegments: false });
    setDrawing(() => false);
  }
  const gaps = missing(draft, task);
  function send(): void {
    if (gaps[0]) {
      setTried(() => true);
      if (gaps[0].what === "rating") setActive(gaps[0].criterion.name);
      goToGap(gaps[0]);
    } else if (gate.press()) desk.cast(toBallot(draft, "rating"));
  }
  useSendKey(send);

  const picture = task.left;
  const answers = <AnswerButton desk={desk} gate={gate} className="primary" onAnswer={send}>{messages.rating.send} <Key>↵</Key></AnswerButton>;
  return (
    <TaskFrame {...props} answers={answers} remark={<OpenQuestions missing={gaps} />}>
      <div className="rating">
        <PictureView group={group} context={contextOf(task)} judged={picture ? [{ name: messages.view.result, picture }] : []}
          overlay={picture ? (viewer) => (
            <Overlay viewer={viewer} picture={picture} segments={marked(segments, numbers, draft)} chosen={draft.segments}
              boxes={draft.boxes} drawing={drawing} onSegment={toggle} onBox={addBox} />
          ) : undefined}
          tools={<MarkTools group={group} picture={picture} drawing={drawing} onDrawing={() => setDrawing((was) => !was)} numbers={numbers} onNumbers={() => setNumbers(!numbers)} onBox={addBox} />} />
        <RatingForm task={task} draft={draft} change={change} segments={segments} numbers={numbers} onSegment={toggle}
          active={active} onActive={setActive} missing={tried ? gaps : []} onSend={send} />
      </div>
    </TaskFrame>
  );
}

/** All numbered parts where they are shown, else those that were marked. */
function marked(segments: readonly SegmentOut[] | null, numbers: boolean, draft: Draft): readonly SegmentOut[] {
  return (segments ?? []).filter((segment) => numbers || draft.segments.includes(segment.number));
}

interface MarkToolsProps {
  group: ViewGroup;
  picture: Picture | null;
  drawing: boolean;
  onDrawing: () => void;
  numbers: boolean;
  onNumbers: () => void;
  onBox: (box: Box) => void;
}

function MarkTools({ group, picture, drawing, onDrawing, numbers, onNumbers, onBox }: MarkToolsProps) {
  const t = messages.rating;
  function boxView(): void {
    const box = picture && seen(group, picture);
    if (box) onBox(box);
  }
  return (
    <>
      <button type="button" className="toggle" aria-pressed={numbers} onClick={onNumbers}>{t.numbers} <Key>N</Key></button>
      <button type="button" className="toggle" aria-pressed={drawing} onClick={onDrawing}>{drawing ? t.drawing : t.draw} <Key>D</Key></button>
      {picture && <button type="button" className="toggle" onClick={boxView}>{t.boxView}</button>}
    </>
  );
}

/** The numbered parts; null while they are on their way. A picture without them can still be rated. */
function useSegments({ address, segments_url: url }: TaskOut): readonly SegmentOut[] | null {
  const [found, setFound] = useState<{ address: string; segments: readonly SegmentOut[] } | null>(null);
  useEffect(() => {
    let current = true;
    if (url) {
      segmentsOf(address).then(
        ({ segments }) => current && setFound({ address, segments }),
        () => current && setFound({ address, segments: [] }),
      );
    }
    return () => {
      current = false;
    };
  }, [address, url]);
  if (!url) return [];
  return found?.address === address ? found.segments : null;
}

/** The part of the picture that the panes show: a box without a mouse. */
function seen(group: ViewGroup, picture: Picture): Box | null {
  const bounds = group.bounds(picture);
  return bounds && boxBetween([bounds[0], bounds[1]], [bounds[2], bounds[3]], picture);
}
