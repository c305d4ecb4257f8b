// Loading something for a page: what is there, that it is coming, or why it is not.
import { useCallback, useEffect, useEffectEvent, useRef, useState } from "react";
import { asApiError, type ApiError } from "./client";

export interface Loaded<T> {
  value: T | null;
  error: ApiError | null;
  loading: boolean;
  reload: () => void;
}

interface Result<T> {
  /** What the value was loaded for; null before the first answer. */
  key: string | null;
  value: T | null;
  error: ApiError | null;
  /** Asked for again, with the same key. */
  again: boolean;
}

export interface Request<T> extends Omit<Loaded<T>, "reload"> {
  /** Is the value the one of this key? Until then it is the one of the key before. */
  current: boolean;
  start: (work: () => Promise<T>) => void;
}

/** One request at a time: an answer that comes after another was started, or after the key changed, is dropped. */
export function useRequest<T>(key: string, first: () => Promise<T>): Request<T> {
  const [result, setResult] = useState<Result<T>>({ key: null, value: null, error: null, again: false });
  const newest = useRef(0);
  const run = useCallback((asked: string, work: () => Promise<T>) => {
    const mine = ++newest.current;
    function attempt(): void {
      work().then(
        (value) => {
          if (mine === newest.current) setResult({ key: asked, value, error: null, again: false });
        },
        (reason: unknown) => {
          if (mine !== newest.current) return;
          const error = asApiError(reason);
          setResult((was) => ({ key: asked, value: was.value, error, again: false }));
          // A server or database that is away comes back: ask again without being told to.
          if (error.passing) window.setTimeout(() => mine === newest.current && attempt(), error.againMs);
        },
      );
    }
    attempt();
  }, []);
  const begin = useEffectEvent(() => run(key, first));
  useEffect(() => {
    begin();
    return () => {
      newest.current += 1;
    };
  }, [key]);
  const current = result.key === key;
  return {
    value: result.value,
    error: result.error,
    loading: !current || result.again,
    current,
    start: (work) => {
      setResult((was) => ({ ...was, again: true }));
      run(key, work);
    },
  };
}

/** Call `load` now and whenever `key` changes. */
export function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const { value, error, loading, start } = useRequest(key, load);
  return { value, error, loading, reload: () => start(load) };
}

/** Do something every so often, while the page is seen. */
export function useInterval(milliseconds: number, act: () => void): void {
  const now = useEffectEvent(act);
  useEffect(() => {
    const timer = window.setInterval(() => {
      if (document.visibilityState === "visible") now();
    }, milliseconds);
    return () => window.clearInterval(timer);
  }, [milliseconds]);
}
