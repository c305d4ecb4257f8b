// Signing in: an invitation, the address that the server printed, or the administrator's password.
import { useEffect, useRef, useState, type FormEvent } from "react";
import * as calls from "../../api/calls";
import { asApiError, type ApiError } from "../../api/client";
import type { Me } from "../../api/schema";
import { messages } from "../../languages";
import { LanguageSelect } from "../../parts/languageselect";
import { Link } from "../../parts/link";
import { Problem } from "../../parts/status";
import { retry } from "../../api/retry";
import { go, useLocation } from "../../router";
import { useSession } from "../../session";

/** The secret stands behind the #, so that no server and no log on the way sees it. */
function useSecret(): string {
  return useState(() => window.location.hash.slice(1))[0];
}

export function JoinPage() {
  const { query } = useLocation();
  const token = useSecret();
  return <Opening sign={() => calls.signInByInvitation({ token, params: Object.fromEntries(query) })} />;
}

export function LaunchPage() {
  const token = useSecret();
  return <Opening sign={() => calls.signInByLaunch({ token })} />;
}

function Opening({ sign }: { sign: () => Promise<Me> }) {
  const { enter } = useSession();
  const [error, setError] = useState<ApiError | null>(null);
  const started = useRef(false);
  const [waiting, setWaiting] = useState<ApiError | null>(null);
  function attempt(): void {
    setError(null);
    retry(sign, setWaiting, () => false).then(
      (me) => {
        enter(me);
        go("/", { replace: true });
      },
      (reason: unknown) => setError(asApiError(reason)),
    );
  }
  useEffect(() => {
    if (started.current) return;
    started.current = true;
    attempt();
  });
  // Another link in the same tab differs behind the # only, which alone loads nothing.
  useEffect(() => {
    const reload = () => window.location.reload();
    window.addEventListener("hashchange", reload);
    return () => window.removeEventListener("hashchange", reload);
  }, []);
  return (
    <main className="narrow card">
      {error ? (
        <>
          <h1>{messages.signIn.badLink}</h1>
          <Problem error={error} retry={attempt} />
        </>
      ) : (
        <>
          <p role="status">{messages.signIn.opening}</p>
          {waiting && <p className="warning" role="alert"><strong>{waiting.message}</strong> {messages.signIn.retrying}</p>}
        </>
      )}
    </main>
  );
}

/** A page of this application, and no other address. */
const isPage = (address: string) => /^\/(?![/\\])/.test(address);

export function SignInPage() {
  const { me, enter } = useSession();
  const { query } = useLocation();
  const wanted = query.get("to") ?? "";
  const [password, setPassword] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  function send(event: FormEvent): void {
    event.preventDefault();
    calls.signInByPassword({ password }).then(
      (me) => {
        enter(me);
        go(isPage(wanted) ? wanted : "/", { replace: true });
      },
      (reason: unknown) => setError(asApiError(reason)),
    );
  }
  return (
    <main className="narrow card">
      <div className="corner"><LanguageSelect /></div>
      <h1>{messages.signIn.title}</h1>
      <form onSubmit={send}>
        <label className="field">
          <span>{messages.signIn.password}</span>
          {/* eslint-disable-next-line jsx-a11y/no-autofocus -- the page asks for nothing but this */}
          <input type="password" autoComplete="current-password" value={password} required autoFocus
            onChange={(event) => setPassword(event.target.value)} />
        </label>
        {error && <Problem error={error} />}
        <button type="submit" className="primary">{messages.signIn.submit}</button>
      </form>
      <p className="muted">{messages.signIn.raters}</p>
      {me.can_look && <p><Link to="/board">{messages.pages.board}</Link></p>}
    </main>
  );
}
