// Talking to the server: openapi-fetch with the CSRF token on everything that changes something, and problems as errors.
import createClient, { type Middleware } from "openapi-fetch";
import { BASE_PATH } from "../basepath";
import { english, fill, messages } from "../languages";
import type { paths, Problem } from "./schema";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
    /** When the server wants to be asked again; 0 where it does not say. */
    readonly retryAfterS = 0,
    /** What it is about: fields of the request, or pictures of a task. */
    readonly fields: readonly string[] = [],
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

export function asApiError(reason: unknown): ApiError {
  return reason instanceof ApiError ? reason : new ApiError(0, "unknown", String(reason), "");
}

let csrf = "";

export function setCsrf(token: string): void {
  csrf = token;
}

/** A page waits no longer than this for an answer: a connection that died in silence would keep it for ever. */
const LONGEST_MS = 60_000;

const prepare: Middleware = {
  onRequest: ({ request }) => {
    if (request.method === "GET") return new Request(request, { signal: AbortSignal.timeout(LONGEST_MS) });
    request.headers.set("X-CSRF-Token", csrf);
    return request;
  },
};

export function makeApi(baseUrl: string) {
  const client = createClient<paths>({ baseUrl, headers: { Accept: "application/json" }, credentials: "same-origin" });
  client.use(prepare);
  return client;
}

// openapi-fetch 0.15: later ones turn the pairs and boxes of the schema into arrays of any length.
/** Every path, parameter, body and answer has its type from docs/reference/openapi.json: a drift is a build error. */
export const api = makeApi(BASE_PATH);

const offline = () => new ApiError(0, "offline", messages.errors.offline, messages.errors.offlineHint);

function refused(response: Response, body: unknown): ApiError {
  const problem: Partial<Problem> = typeof body === "object" && body !== null ? body : {};
  const code = problem.code ?? "unknown";
  // What a rater is refused is said in the rater's language; the server speaks English.
  const translated = messages === english ? undefined : (messages.problems as Record<string, { message: string; hint: string }>)[code];
  return new ApiError(
    response.status,
    code,
    translated?.message ?? problem.message ?? fill(messages.errors.unknown, { status: response.status }),
    translated?.hint ?? problem.hint ?? "",
    Number(response.headers.get("Retry-After")) || problem.wait_s || 0,
    problem.fields ?? [],
  );
}

type Answer<T> = { data: T; error?: never; response: Response } | { data?: never; error: unknown; response: Response };

/** What the server answered; everything else is an ApiError. */
export async function dataOf<T>(call: Promise<Answer<T>>): Promise<T> {
  const answer = await call.catch((reason: unknown) => {
    throw reason instanceof SyntaxError ? reason : offline(); // not reached, or cut off on the way
  });
  if (!answer.response.ok) throw refused(answer.response, answer.error);
  return answer.data as T;
}
