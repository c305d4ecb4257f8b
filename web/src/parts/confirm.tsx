import { useState } from "react";
import { strings } from "../strings";
import { Dialog } from "./dialog";

interface Props {
  /** What the button says. */
  text: string;
  /** What a screen reader says, where the text alone is not enough. */
  label?: string;
  title: string;
  /** What will happen, and whether it can be undone. */
  question: string;
  action: string;
  onConfirm: () => void;
}

/** A button that asks before it acts. */
export function ConfirmButton({ text, label, title, question, action, onConfirm }: Props) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <button type="button" className="small" {...(label ? { "aria-label": label } : {})} onClick={() => setAsking(true)}>{text}</button>
      {asking && (
        <Dialog title={title} onClose={() => setAsking(false)}>
          <p>{question}</p>
          <div className="row">
            <button type="button" className="primary" onClick={() => { setAsking(false); onConfirm(); }}>{action}</button>
            <button type="button" data-first onClick={() => setAsking(false)}>{strings.cancel}</button>
          </div>
        </Dialog>
      )}
    </>
  );
}
