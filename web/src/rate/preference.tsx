// Choose the better of two pictures.
import type { TaskOut } from "../api/schema";
import { useKeys } from "../keys";
import { Key } from "../parts/fields";
import { strings } from "../strings";
import { CompareView } from "../view/compare";
import { isBusy } from "./desk";
import { contextOf, TaskFrame } from "./frame";
import type { TaskProps } from "./taskprops";

type Choice = NonNullable<NonNullable<TaskOut["previous"]>["preference"]>;

export function PreferenceTask({ campaign, desk, task }: TaskProps) {
  const t = strings.vote;
  const choose = (preference: Choice) => desk.cast({ preference });
  useKeys({
    ArrowLeft: () => choose("left"),
    ArrowRight: () => choose("right"),
    t: () => choose("tie"),
    b: () => choose("both_bad"),
  }, desk.state.screen === "task");
  const before = task.previous?.preference;
  const button = (choice: Choice, text: string, key: string) => (
    <button type="button" className={`answer ${before === choice ? "before" : ""}`} data-choice={choice}
      disabled={isBusy(desk.state)} onClick={() => choose(choice)}>
      {choice === "left" && <Key>{key}</Key>} {text} {choice !== "left" && <Key>{key}</Key>}
    </button>
  );
  const answers = (
    <>
      {button("left", t.left, "←")}
      {button("tie", t.tie, "T")}
      {button("both_bad", t.bothBad, "B")}
      {button("right", t.right, "→")}
      {before && <span className="muted">{t.before(t.choices[before] ?? before)}</span>}
    </>
  );
  return (
    <TaskFrame campaign={campaign} desk={desk} task={task} answers={answers}>
      {task.left && task.right && (
        <CompareView context={contextOf(task)}
          left={{ name: strings.view.left, picture: task.left }} right={{ name: strings.view.right, picture: task.right }} />
      )}
    </TaskFrame>
  );
}
