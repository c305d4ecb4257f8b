// A column head that sorts its table; the order stands in the address.
import type { ReactNode } from "react";
import { leadStrings } from "../strings_lead";

export interface SortOrder {
  column: string;
  down: boolean;
}

/** "-battles" in an address: by battles, the largest first. */
export function orderFrom(text: string | null, otherwise: SortOrder): SortOrder {
  if (!text) return otherwise;
  return text.startsWith("-") ? { column: text.slice(1), down: true } : { column: text, down: false };
}

export const orderText = ({ column, down }: SortOrder) => (down ? `-${column}` : column);

type Value = number | string | null | undefined;

/** Rows in an order. What has no value comes last, whichever way it is sorted. */
export function sortedBy<T>(rows: readonly T[], valueOf: (row: T) => Value, down: boolean): T[] {
  const missing = (value: Value) => value === null || value === undefined;
  return [...rows].sort((one, other) => {
    const [a, b] = [valueOf(one), valueOf(other)];
    if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
    const order = typeof a === "string" || typeof b === "string" ? String(a).localeCompare(String(b), "en", { numeric: true }) : Number(a) - Number(b);
    return down ? -order : order;
  });
}

interface HeadProps {
  column: string;
  order: SortOrder;
  /** Largest first on the first click. */
  down?: boolean;
  className?: string;
  title?: string;
  onSort: (order: SortOrder) => void;
  children: ReactNode;
}

export function SortHead({ column, order, down = false, className, title, onSort, children }: HeadProps) {
  const current = order.column === column;
  return (
    <th scope="col" className={className} aria-sort={current ? (order.down ? "descending" : "ascending") : "none"} title={title}>
      <button type="button" className="sort" title={leadStrings.board.sortBy}
        onClick={() => onSort({ column, down: current ? !order.down : down })}>
        {children}<span aria-hidden="true" className="arrow">{current ? (order.down ? "▾" : "▴") : "↕"}</span>
      </button>
    </th>
  );
}
