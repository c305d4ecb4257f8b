// What a page shows while it waits, when something is wrong, and when there is nothing.
import type { ReactNode } from "react";
import type { ApiError } from "../api/client";
import type { Loaded } from "../api/useloaded";
import { messages } from "../languages";
import { InlineCode } from "./inlinecode";
import { SignInLink } from "./signinlink";

export function Waiting() {
  return <p className="waiting" role="status">{messages.common.loading}</p>;
}

const NOT_SIGNED_IN = 401;

export function Problem({ error, retry, retryText = messages.common.retry }: { error: ApiError; retry?: () => void; retryText?: string }) {
  return (
    <div className="problem" role="alert">
      <strong><InlineCode text={error.message} /></strong>
      {error.hint && <p><InlineCode text={error.hint} /></p>}
      {error.status === NOT_SIGNED_IN ? <SignInLink /> : retry && <button type="button" className="small" onClick={retry}>{retryText}</button>}
    </div>
  );
}

export function Empty({ children }: { children: ReactNode }) {
  return <p className="empty">{children}</p>;
}

/** The page of what was loaded, or the reason why there is none. */
export function WhenLoaded<T>({ loaded, children }: { loaded: Loaded<T>; children: (value: T) => ReactNode }) {
  if (loaded.error) return <Problem error={loaded.error} retry={loaded.reload} />;
  if (loaded.value === null) return <Waiting />;
  return <>{children(loaded.value)}</>;
}
