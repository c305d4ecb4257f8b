import type { MouseEvent, ReactNode } from "react";
import { withBase } from "../basepath";
import { go } from "../router";

interface Props {
  to: string;
  className?: string;
  current?: boolean;
  /** What a screen reader says, where the text alone is not enough. */
  label?: string;
  children: ReactNode;
}

/** A link inside the application; a middle click opens it like any other. */
export function Link({ to, className, current, label, children }: Props) {
  function follow(event: MouseEvent): void {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  }
  return (
    <a href={withBase(to)} onClick={follow} {...(label ? { "aria-label": label } : {})} {...(className ? { className } : {})} {...(current ? { "aria-current": "page" as const } : {})}>
      {children}
    </a>
  );
}
