// A list that comes in pages: the first one, and more on demand.
import { useEffect, useRef } from "react";
import type { Cursor } from "./calls";
import { useRequest, type Loaded } from "./useloaded";

interface Paged {
  next_cursor: string | null;
}

export interface Pages<P> extends Loaded<P[]> {
  /** Ask for the next page; null where there is none. */
  more: (() => void) | null;
}

/** Follow the cursor for as many pages as are wanted, or as there are. */
export async function readPages<P extends Paged>(load: (cursor: Cursor) => Promise<P>, wanted: number, known: readonly P[] = []): Promise<P[]> {
  const pages = [...known];
  while (pages.length < wanted) {
    const last = pages[pages.length - 1];
    if (last?.next_cursor === null) break;
    pages.push(await load(last?.next_cursor ?? null));
  }
  return pages;
}

/** Load the first page now and whenever `key` changes. Loading again reads all pages that were opened. */
export function usePages<P extends Paged>(key: string, load: (cursor: Cursor) => Promise<P>): Pages<P> {
  const { value, error, loading, current, start } = useRequest(key, () => readPages(load, 1));
  const wanted = useRef(1);
  useEffect(() => {
    wanted.current = 1;
  }, [key]);
  const pages = current ? (value ?? []) : [];
  function more(): void {
    wanted.current = pages.length + 1;
    // While the list is being read again, what is shown of it is about to be replaced.
    start(() => readPages(load, wanted.current, loading ? [] : pages));
  }
  const ended = (pages[pages.length - 1]?.next_cursor ?? null) === null;
  return { value, error, loading, reload: () => start(() => readPages(load, wanted.current)), more: ended ? null : more };
}
