// The keys of a rating: a digit rates the active criterion and goes to the next one without a value.
import type { TaskOut } from "../api/schema";
import { useKeys } from "../keys";
import type { Draft } from "./draft";
import { useTaskState } from "./sessionstore";

const DIGITS = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

export function useRatingKeys(task: TaskOut, draft: Draft, change: (change: Partial<Draft>) => void, showing: string) {
  const { criteria } = task;
  const firstOpen = (ratings: Draft["ratings"]) => criteria.find((one) => ratings[one.name] === undefined)?.name;
  const [active, setActive] = useTaskState(showing, () => firstOpen(draft.ratings) ?? criteria[0]?.name ?? "");
  function rate(value: number): void {
    const criterion = criteria.find((one) => one.name === active);
    if (!criterion || value < criterion.low || value > criterion.high) return;
    const ratings = { ...draft.ratings, [active]: value };
    change({ ratings });
    const next = firstOpen(ratings) ?? active;
    setActive(() => next);
    // Where the focus is in the form, it goes along.
    if (document.activeElement?.closest("[data-criterion]")) document.querySelector<HTMLElement>(`[data-criterion="${CSS.escape(next)}"] input`)?.focus();
  }
  function move(step: number): void {
    const at = criteria.findIndex((one) => one.name === active) + step;
    const next = criteria[Math.min(Math.max(at, 0), criteria.length - 1)];
    if (next) setActive(() => next.name);
  }
  useKeys({
    ...Object.fromEntries(DIGITS.map((digit) => [digit, () => rate(Number(digit))])),
    ArrowUp: () => move(-1),
    ArrowDown: () => move(1),
  });
  return { active, setActive: (name: string) => setActive(() => name) };
}
