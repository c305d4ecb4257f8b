import { useEffect, useEffectEvent } from "react";

/** Enter sends the form, unless it has another meaning where the focus is. */
export function useSendKey(send: () => void): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (document.querySelector("dialog[open]")) return;
    const target = event.target instanceof Element ? event.target : null;
    if (target?.closest("button, a, textarea, select, input:not([type=radio]):not([type=checkbox])")) return;
    event.preventDefault();
    send();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => press(event);
    window.addEventListener("keydown", listener);
    return () => window.removeEventListener("keydown", listener);
  }, []);
}
