// Was the instruction followed? Yes or no (EdiVal).
import { useState } from "react";
import { useKeys } from "../keys";
import { Key } from "../parts/fields";
import { Empty } from "../parts/status";
import { strings } from "../strings";
import { ViewGroup } from "../view/viewgroup";
import type { Spot } from "../view/lens";
import { Pane } from "../view/pane";
import { Tools, viewKeys } from "../view/tools";
import { isBusy } from "./desk";
import { contextOf, TaskFrame } from "./frame";
import type { TaskProps } from "./taskprops";

export function YesNoTask({ campaign, desk, task }: TaskProps) {
  const answer = (value: boolean) => desk.cast({ answer: value });
  useKeys({ y: () => answer(true), n: () => answer(false) }, desk.state.screen === "task");
  const before = task.previous?.answer;
  const button = (value: boolean, text: string, key: string) => (
    <button type="button" className={`answer ${before === value ? "before" : ""}`} disabled={isBusy(desk.state)} onClick={() => answer(value)}>
      {text} <Key>{key}</Key>
    </button>
  );
  return (
    <TaskFrame campaign={campaign} desk={desk} task={task} answers={<>{button(true, strings.yes, "Y")}{button(false, strings.no, "N")}</>}>
      <ResultView task={task} />
    </TaskFrame>
  );
}

/** Source, references and result in step, with nothing to mark. */
export function ResultView({ task }: Pick<TaskProps, "task">) {
  const [group] = useState(() => new ViewGroup());
  const [lens, setLens] = useState(false);
  const [spot, setSpot] = useState<Spot | null>(null);
  useKeys(viewKeys(group, () => setLens(!lens)));
  const shown = [...contextOf(task), ...(task.left ? [{ name: strings.view.result, picture: task.left }] : [])];
  if (!shown.length) return <section className="desk" aria-label={strings.view.pictures}><Empty>{strings.view.noPictures}</Empty></section>;
  return (
    <section className="desk" aria-label={strings.view.pictures}>
      <div className="panes" data-count={Math.min(shown.length, 3)}>
        {shown.map((one) => (
          <Pane key={one.picture.tiles_url} group={group} lens={lens} spot={spot} onSpot={setSpot} name={one.name} picture={one.picture} />
        ))}
      </div>
      <Tools group={group} lens={lens} onLens={() => setLens(!lens)} />
    </section>
  );
}
