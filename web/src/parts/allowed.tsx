import type { ReactNode } from "react";
import { useSession } from "../session";
import { leadStrings } from "../strings_lead";
import { SignInLink } from "./signinlink";

type Need = "look" | "inside" | "lead";

/** A page for those who may see it. Others are told what is missing, and who is signed out may sign in. */
export function Allowed({ to, children }: { to: Need; children: ReactNode }) {
  const { me } = useSession();
  const leads = me.role === "admin" || me.role === "lead";
  const may = { look: me.can_look, inside: leads || me.role === "viewer", lead: leads }[to];
  if (may) return <>{children}</>;
  const t = leadStrings.allowed;
  return (
    <div className="page">
      <h1>{me.role === null ? t.signedOut : t.refused}</h1>
      <div className="problem" role="alert">
        <strong>{me.role === null ? t.notSignedIn : t.only[to]}</strong>
        <p>{me.role === null ? t.signInHint : t.onlyHint}</p>
        <SignInLink {...(me.role === null ? {} : { text: t.other })} />
      </div>
    </div>
  );
}
