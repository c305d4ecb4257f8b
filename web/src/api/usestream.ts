// What the server pushes as it happens. Where a stream cannot be had, the page asks again every so often.
import { useEffect, useState } from "react";
import { withBase } from "../basepath";

const AGAIN_MS = 10_000;

export interface Pushed<T> {
  value: T | null;
  /** Is the stream open? */
  live: boolean;
}

export function useStream<T>(path: string): Pushed<T> {
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
