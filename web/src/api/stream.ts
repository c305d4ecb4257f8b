// What the server pushes as it happens. Where a stream cannot be had, the page asks again every so often.
import { useEffect, useState } from "react";

export interface Pushed<T> {
  value: T | null;
  /** Is the stream open? */
  live: boolean;
}

export function useStream<T>(path: string): Pushed<T> {
  const [value, setValue] = useState<T | null>(null);
  const [live, setLive] = useState(false);
  useEffect(() => {
    const source = new EventSource(path);
    source.onopen = () => setLive(true);
    source.onmessage = (event: MessageEvent<string>) => setValue(JSON.parse(event.data) as T);
    source.onerror = () => setLive(false); // the browser connects again by itself, unless it was refused
    return () => source.close();
  }, [path]);
  return { value, live };
}
