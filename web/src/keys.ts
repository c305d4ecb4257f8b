// Keys for a whole page. A key pressed in a text field belongs to the field.
import { useEffect, useEffectEvent } from "react";

export type Keys = Record<string, () => void>;

/** The name of a key press, such as `t`, `ArrowLeft` or `Shift+ArrowLeft`; null where it is not ours. */
export function keyName(event: Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "metaKey" | "altKey">): string | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  if (event.key.length === 1) return event.key.toLowerCase();
  return event.shiftKey ? `Shift+${event.key}` : event.key;
}

const TYPED = "input:not([type=checkbox]):not([type=radio]):not([type=range]), textarea, select, [contenteditable]";
const MOVED = "input[type=range], input[type=radio], [role=slider]";

export function useKeys(keys: Keys, active = true): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.repeat && !event.key.startsWith("Arrow") && event.key !== "+" && event.key !== "-") return;
    const target = event.target instanceof Element ? event.target : null;
    if (target?.closest(TYPED) || document.querySelector("dialog[open]")) return;
    if (event.key.startsWith("Arrow") && (event.repeat || target?.closest(MOVED)) && !event.shiftKey) return;
    const name = keyName(event);
    const act = name === null ? undefined : keys[name];
    if (!act) return;
    event.preventDefault();
    act();
  });
  useEffect(() => {
    if (!active) return undefined;
    const listener = (event: KeyboardEvent) => press(event);
    window.addEventListener("keydown", listener);
    return () => window.removeEventListener("keydown", listener);
  }, [active]);
}
