import { useLayoutEffect, useRef, useState, type ReactNode } from "react";

interface Props {
  /** What a screen reader calls the part that scrolls. */
  label: string;
  className?: string;
  children: ReactNode;
}

/** A part that scrolls sideways or down where it has to. Only then it is a stop for the Tab key, so that keys can scroll it. */
export function ScrollArea({ label, className = "", children }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const [scrolls, setScrolls] = useState(false);
  useLayoutEffect(() => {
    const area = element.current;
    if (!area) return;
    const measure = () => setScrolls(area.scrollWidth > area.clientWidth + 1 || area.scrollHeight > area.clientHeight + 1);
    const watch = new ResizeObserver(measure);
    watch.observe(area);
    for (const child of area.children) watch.observe(child);
    measure();
    return () => watch.disconnect();
  }, []);
  return (
    <div ref={element} className={`scroll ${className}`.trim()} {...(scrolls ? { role: "group", "aria-label": label, tabIndex: 0 } : {})}>
      {children}
    </div>
  );
}
