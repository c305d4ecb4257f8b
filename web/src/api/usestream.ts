// What the server pushes as it happens. Where a stream cannot be had, the page asks again every so often.
import { useEffect, useState } from "react";
import { withBase } from "../basepath";
import type { paths } from "./schema";

const AGAIN_MS = 10_000;

export interface Pushed<T> {
  value: T | null;
  /** Is the stream open? */
  live: boolean;
}

/** What the event stream at a path sends; never where there is none. */
type Streamed<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { "text/event-stream": infer T } } } };
}
  ? T
  : never;
type StreamPath = { [P in keyof paths]: [Streamed<P>] extends [never] ? never : P }[keyof paths];

export function useStream<P extends StreamPath>(path: P): Pushed<Streamed<P>> {
  type T = Streamed<P>;
  const [value, setValue] = useState<T | null>(null);
  const [live, setLive] = useState(false);
  useEffect(() => {
    let source: EventSource;
    let timer = 0;
    function open(): void {
      source = new EventSource(withBase(path));
      source.onopen = () => setLive(true);
      source.onmessage = (event: MessageEvent<string>) => setValue(JSON.parse(event.data) as T);
      source.onerror = () => {
        setLive(false);
        // The browser connects again by itself, unless it was refused: by a database that is away, or a full house.
        if (source.readyState === EventSource.CLOSED) timer = window.setTimeout(open, AGAIN_MS);
      };
    }
    open();
    return () => {
      window.clearTimeout(timer);
      source.close();
    };
  }, [path]);
  return { value, live };
}
