// Choose the better of two pictures.
import { useState } from "react";
import type { TaskOut } from "../api/schema";
import { useKeys } from "../keys";
import { fill, messages } from "../languages";
import { Key } from "../parts/fields";
import { PictureView } from "../view/compare";
import { canAnswer } from "./desk";
import { AnswerButton, contextOf, TaskFrame } from "./frame";
import type { TaskProps } from "./taskprops";

type Choice = NonNullable<NonNullable<TaskOut["previous"]>["preference"]>;

export function PreferenceTask(props: TaskProps) {
  const { desk, task, group, gate } = props;
  const t = messages.vote;
  const [outline, setOutline] = useState(true);
  const region = task.region ?? [];
  useKeys({ r: () => setOutline(!outline) }, region.length > 0);
  const choose = (preference: Choice) => {
    if (gate.press()) desk.cast({ preference });
  };
  useKeys({
    ArrowLeft: () => choose("left"),
    ArrowRight: () => choose("right"),
    t: () => choose("tie"),
    b: () => choose("both_bad"),
  }, desk.state.screen === "task");
  const before = task.previous?.preference;
  const button = (choice: Choice, text: string, key: string) => (
    <AnswerButton desk={desk} gate={gate} choice={choice} className={before === choice ? "before" : ""} onAnswer={() => choose(choice)}>
      {choice === "left" && <Key>{key}</Key>} {text} {choice !== "left" && <Key>{key}</Key>}
    </AnswerButton>
  );
  const answers = (
    <>
      {button("left", t.left, "←")}
      {button("tie", t.tie, "T")}
      {button("both_bad", t.bothBad, "B")}
      {button("right", t.right, "→")}
    </>
  );
  const judged = [
    ...(task.left ? [{ name: messages.view.left, picture: task.left }] : []),
    ...(task.right ? [{ name: messages.view.right, picture: task.right }] : []),
  ];
  const open = gate.open && canAnswer(desk.state);
  return (
    <TaskFrame {...props} answers={answers} remark={before && fill(t.previous, { choice: t.choices[before] })}>
      <PictureView group={group} context={contextOf(task)} judged={judged} region={outline ? region : []} tools={task.region && <RegionTool known={region.length > 0} shown={outline} onToggle={() => setOutline(!outline)} />}
        onChoose={open ? (index) => choose(index === 0 ? "left" : "right") : undefined} />
    </TaskFrame>
  );
}

/** The outline can be taken away; where the region is not known, the page says so. */
function RegionTool({ known, shown, onToggle }: { known: boolean; shown: boolean; onToggle: () => void }) {
  if (!known) return <span className="muted">{messages.view.noRegion}</span>;
  return <button type="button" className="toggle" aria-pressed={shown} onClick={onToggle}>{messages.view.region} <Key>R</Key></button>;
}
