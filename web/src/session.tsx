// Who is signed in.
import { createContext, useContext, useEffect, useEffectEvent, useState, type ReactNode } from "react";
import * as calls from "./api/calls";
import { asApiError, setCsrf, type ApiError } from "./api/client";
import type { Me } from "./api/schema";
import { Problem, Waiting } from "./parts/status";

interface Session {
  me: Me;
  enter: (me: Me) => void;
}

const Context = createContext<Session | null>(null);

export function SessionProvider({ children }: { children: ReactNode }) {
  const [me, setMe] = useState<Me | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  function enter(found: Me): void {
    setCsrf(found.csrf);
    setError(null);
    setMe(found);
  }
  function load(): void {
    calls.me().then(enter, (reason: unknown) => {
      const failed = asApiError(reason);
      setError(failed);
      if (failed.passing) window.setTimeout(load, failed.againMs);
    });
  }
  const begin = useEffectEvent(load);
  useEffect(() => begin(), []);
  if (error) return <main className="narrow"><Problem error={error} retry={load} /></main>;
  if (!me) return <Waiting />;
  return <Context.Provider value={{ me, enter }}>{children}</Context.Provider>;
}

export function useSession(): Session {
  const session = useContext(Context);
  if (!session) throw new Error("used outside of a session");
  return session;
}
