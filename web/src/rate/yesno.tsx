// Was the instruction followed? Yes or no (EdiVal).
import { useKeys } from "../keys";
import { messages } from "../languages";
import { Key } from "../parts/fields";
import { PictureView } from "../view/compare";
import { AnswerButton, contextOf, TaskFrame } from "./frame";
import type { TaskProps } from "./taskprops";

export function YesNoTask(props: TaskProps) {
  const { desk, task, gate } = props;
  const answer = (value: boolean) => {
    if (gate.press()) desk.cast({ answer: value });
  };
  useKeys({ y: () => answer(true), n: () => answer(false) }, desk.state.screen === "task");
  const before = task.previous?.answer;
  const button = (value: boolean, text: string, key: string) => (
    <AnswerButton desk={desk} gate={gate} className={before === value ? "before" : ""} onAnswer={() => answer(value)}>
      {text} <Key>{key}</Key>
    </AnswerButton>
  );
  return (
    <TaskFrame {...props} answers={<>{button(true, messages.common.yes, "Y")}{button(false, messages.common.no, "N")}</>}>
      <ResultView {...props} />
    </TaskFrame>
  );
}

/** Source, references and result, with nothing to mark. */
export function ResultView({ task, group }: Pick<TaskProps, "task" | "group">) {
  return <PictureView group={group} context={contextOf(task)} judged={task.left ? [{ name: messages.view.result, picture: task.left }] : []} />;
}
