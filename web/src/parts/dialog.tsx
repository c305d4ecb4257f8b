import { useEffect, useRef, type ReactNode } from "react";
import { messages } from "../languages";

interface Props {
  title: string;
  onClose: () => void;
  wide?: boolean;
  children: ReactNode;
}

/** A window over the page: the browser keeps the focus inside and closes it with Escape. */
export function Dialog({ title, onClose, wide = false, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    element.current?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={element} aria-label={title} onClose={onClose} className={wide ? "wide" : ""}>
      <header>
        <h2>{title}</h2>
        <button type="button" className="small quiet" onClick={onClose}>{messages.common.close}</button>
      </header>
      {children}
    </dialog>
  );
}
