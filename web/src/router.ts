// A router of one page: the address is the only state that a link has to keep.
import { useSyncExternalStore } from "react";
import { withBase, withoutBase } from "./basepath";

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("popstate", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("popstate", listener);
  };
}

function tell(): void {
  for (const listener of listeners) listener();
}

/** Go to another page of the application, or replace this one. */
export function go(address: string, { replace = false } = {}): void {
  if (replace) window.history.replaceState(null, "", withBase(address));
  else window.history.pushState(null, "", withBase(address));
  if (!replace) window.scrollTo(0, 0);
  tell();
}

export interface PageLocation {
  path: string;
  query: URLSearchParams;
}

/** Where we are, kept up to date. */
export function useLocation(): PageLocation {
  const address = useSyncExternalStore(subscribe, () => window.location.pathname + window.location.search);
  const url = new URL(address, window.location.origin);
  return { path: withoutBase(url.pathname), query: url.searchParams };
}

/** The address with some of its query changed; an empty value leaves the query. Keys are sorted, so that links are stable. */
export function withQuery(path: string, query: URLSearchParams, changes: Record<string, string>): string {
  const next = new URLSearchParams(query);
  for (const [key, value] of Object.entries(changes)) {
    if (value === "") next.delete(key);
    else next.set(key, value);
  }
  next.sort();
  const text = next.toString();
  return text ? `${path}?${text}` : path;
}

/** A part of an address; empty where it is not one, such as a cut-off `%4`. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return "";
  }
}

/** Match `/lead/:id` against a path; the named parts, or null. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split("/");
  const given = path.replace(/\/+$/, "").split("/");
  if (wanted.length !== given.length) return null;
  const found: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? "";
    if (part.startsWith(":")) {
      const plain = decoded(value);
      if (!plain) return null;
      found[part.slice(1)] = plain;
    } else if (part !== value) return null;
  }
  return found;
}
