// Talking to the server: JSON both ways, the CSRF token on everything that changes something, problems as errors.
import { strings } from "../strings";
import type { Problem } from "./wire";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
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

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRF-Token"] = csrf;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      credentials: "same-origin",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch {
    throw new ApiError(0, "offline", strings.errors.offline, strings.errors.offlineHint);
  }
  if (response.ok) return (await response.json()) as T;
  const problem = (await response.json().catch(() => null)) as Problem | null;
  throw new ApiError(
    response.status,
    problem?.code ?? "unknown",
    problem?.message ?? strings.errors.unknown(response.status),
    problem?.hint ?? "",
  );
}

export const get = <T>(path: string, query?: Query) => ask<T>("GET", address(path, query));
export const post = <T>(path: string, body?: unknown) => ask<T>("POST", path, body);
export const patch = <T>(path: string, body: unknown) => ask<T>("PATCH", path, body);
export const remove = <T>(path: string) => ask<T>("DELETE", path);
