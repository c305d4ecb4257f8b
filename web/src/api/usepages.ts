// A list that comes in pages: the first one, and more on demand.
import { useEffect, useState } from "react";
import type { ApiError } from "./client";
import { asApiError, useLoaded, type Loaded } from "./useloaded";

interface Paged {
  next_cursor: string | null;
}

export interface Pages<P> extends Loaded<P[]> {
  /** Ask for the next page; null where there is none. */
  more: (() => void) | null;
}

/** Load the first page now and whenever `key` changes. Loading again keeps the pages that were opened later as they are. */
export function usePages<P extends Paged>(key: string, load: (cursor: string) => Promise<P>): Pages<P> {
  const first = useLoaded(key, () => load(""));
  const [later, setLater] = useState<P[]>([]);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    setLater([]);
    setError(null);
  }, [key]);
  const pages = first.value === null ? null : [first.value, ...later];
  const cursor = pages?.[pages.length - 1]?.next_cursor ?? null;
  function grow(next: string): void {
    load(next).then(
      (page) => setLater((known) => [...known, page]),
      (reason: unknown) => setError(asApiError(reason)),
    );
  }
  return { ...first, value: pages, error: first.error ?? error, more: cursor === null ? null : () => grow(cursor) };
}
