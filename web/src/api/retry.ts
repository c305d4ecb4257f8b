// Asking until there is an answer: a server or database that is away comes back, and nothing is lost meanwhile.
import { asApiError, type ApiError } from "./client";

const MOST_MS = 5_000;

const pause = (milliseconds: number) => new Promise<void>((done) => window.setTimeout(done, milliseconds));

/**
 * Only for requests that may be sent twice. `waiting` hears why it takes longer, and null when it is over;
 * `stopped` ends it, such as when the page is left.
 */
export async function retry<T>(ask: () => Promise<T>, waiting: (why: ApiError | null) => void, stopped: () => boolean): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      const found = await ask();
      waiting(null);
      return found;
    } catch (reason) {
      const error = asApiError(reason);
      if (!error.passing || stopped()) {
        waiting(null);
        throw error;
      }
      waiting(error);
      const wait = error.retryAfterS ? error.retryAfterS * 1000 : 1000 * 2 ** tries;
      // Spread: all who were cut off at once should not come back at once.
      await pause(Math.min(wait, MOST_MS) * (0.5 + Math.random()));
    }
  }
}
