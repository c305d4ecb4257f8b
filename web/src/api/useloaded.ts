// Loading something for a page: what is there, that it is coming, or why it is not.
import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError } from "./client";

export interface Loaded<T> {
  value: T | null;
  error: ApiError | null;
  loading: boolean;
  reload: () => void;
}

/** Call `load` now and whenever `key` changes; an answer that comes too late is dropped. */
export function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [loading, setLoading] = useState(true);
  const newest = useRef(0);
  const reload = useCallback(() => {
    const mine = ++newest.current;
    setLoading(true);
    load().then(
      (found) => {
        if (mine !== newest.current) return;
        setValue(found);
        setError(null);
        setLoading(false);
      },
      (reason: unknown) => {
        if (mine !== newest.current) return;
        const failed = asApiError(reason);
        setError(failed);
        setLoading(false);
        // A server or database that is away comes back: ask again without being told to.
        if (failed.passing) window.setTimeout(() => mine === newest.current && reload(), failed.againMs);
      },
    );
    // What is loaded depends on the key alone.
  }, [key]);
  useEffect(() => {
    reload();
    return () => {
      newest.current += 1;
    };
  }, [reload]);
  return { value, error, loading, reload };
}

export function asApiError(reason: unknown): ApiError {
  return reason instanceof ApiError ? reason : new ApiError(0, "unknown", String(reason), "");
}

/** Load again every so often, while the page is seen. */
export function useInterval(milliseconds: number, act: () => void): void {
  useEffect(() => {
    const timer = window.setInterval(() => {
      if (document.visibilityState === "visible") act();
    }, milliseconds);
    return () => window.clearInterval(timer);
  }, [milliseconds, act]);
}
