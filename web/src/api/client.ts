// Talking to the server: JSON both ways, the CSRF token on everything that changes something, problems as errors.
import { withBase } from "../basepath";
import { strings } from "../strings";
import type { Problem } from "./schema";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
    /** When the server wants to be asked again; 0 where it does not say. */
    readonly retryAfterS = 0,
  ) {
    super(message);
  }

  /** When to ask again for something that passes. */
  get againMs(): number {
    return 1000 * Math.max(this.retryAfterS, 2);
  }

  /** Will it pass by itself? The connection, the server or its database is away, asks for a pause, or has no room left. */
  get passing(): boolean {
    return this.code === "offline" || [429, 502, 503, 504, 507].includes(this.status);
  }
}

let csrf = "";

export function setCsrf(token: string): void {
  csrf = token;
}

type Query = Record<string, string | number | null | undefined>;

/** An address with the parts of the query that have a value. */
export function address(path: string, query: Query = {}): string {
  const parts = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") parts.set(key, String(value));
  }
  const text = parts.toString();
  return text ? `${path}?${text}` : path;
}

/** A page waits no longer than this for an answer: a connection that died in silence would keep it for ever. */
const LONGEST_MS = 60_000;
/** What a rater does takes a moment; what may be sent again is sent again. */
const RATER_MS = 30_000;

const offline = () => new ApiError(0, "offline", strings.errors.offline, strings.errors.offlineHint);

interface How {
  body?: unknown;
  /** Lets the request outlive the page. */
  keepalive?: boolean;
  /** Give up after this long; never where it is not said. */
  limitMs?: number;
}

async function ask<T>(method: string, path: string, { body, keepalive = false, limitMs }: How = {}): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRF-Token"] = csrf;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(withBase(path), {
      method,
      headers,
      credentials: "same-origin",
      keepalive,
      ...(limitMs === undefined ? {} : { signal: AbortSignal.timeout(limitMs) }),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch {
    throw offline();
  }
  if (response.ok) {
    return (await response.json().catch((reason: unknown) => {
      throw reason instanceof SyntaxError ? reason : offline(); // cut off on the way
    })) as T;
  }
  const problem = (await response.json().catch(() => null)) as Problem | null;
  throw new ApiError(
    response.status,
    problem?.code ?? "unknown",
    problem?.message ?? strings.errors.unknown(response.status),
    problem?.hint ?? "",
    Number(response.headers.get("Retry-After")) || 0,
  );
}

export const get = <T>(path: string, query?: Query) => ask<T>("GET", address(path, query), { limitMs: LONGEST_MS });
export const post = <T>(path: string, body?: unknown) => ask<T>("POST", path, { body });
/** A step of a rater: it may be asked for again. */
export const step = <T>(path: string, body?: unknown) => ask<T>("POST", path, { body, limitMs: RATER_MS });
/** A request that outlives the page. */
export const postAndLeave = <T>(path: string) => ask<T>("POST", path, { keepalive: true });
export const patch = <T>(path: string, body: unknown) => ask<T>("PATCH", path, { body });
export const remove = <T>(path: string) => ask<T>("DELETE", path);
