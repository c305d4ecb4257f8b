// Who and what may come in: tokens for machines, links for leads and viewers, and who is signed in.
import { useState, type FormEvent, type ReactNode } from "react";
import * as calls from "../../api/calls";
import { asApiError, type ApiError } from "../../api/client";
import { usePages } from "../../api/usepages";
import type { InvitationOut, SessionOut, TokenIn, TokenOut } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { ConfirmButton } from "../../parts/confirm";
import { moment, past } from "../../parts/format";
import { isolated } from "../../parts/isolated";
import { MadeLink } from "../../parts/madelink";
import { ScrollArea } from "../../parts/scrollarea";
import { ShowMore } from "../../parts/showmore";
import { Empty, Problem, WhenLoaded } from "../../parts/status";
import { withBase } from "../../basepath";
import { useSession } from "../../session";
import { textOf } from "../../parts/form";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";
import { LinkState } from "./invitations";

export function AccessPage() {
  const { me } = useSession();
  const admin = me.role === "admin";
  return (
    <div className="page wide">
      <h1>{strings.pages.access}</h1>
      <Tokens admin={admin} />
      <People admin={admin} />
      {admin && <Sessions />}
    </div>
  );
}

function Tokens({ admin }: { admin: boolean }) {
  const t = strings.access;
  const words = leadStrings.lead;
  const loaded = usePages("tokens", calls.tokens);
  const [secret, setSecret] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const failed = (reason: unknown) => setError(asApiError(reason));
  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const role = textOf(form, "role") as NonNullable<TokenIn["role"]>;
    calls.makeToken({ name: textOf(form, "name"), role, days: Number(form.get("days")) }).then((made) => {
      setSecret(made.secret);
      setError(null);
      loaded.reload();
    }, failed);
  }
  const row = (one: TokenOut) => (
    <tr key={one.token_id}>
      <th scope="row"><Bdi>{one.name}</Bdi></th>
      <td>{t.roles[one.role] ?? one.role}</td>
      <td className="number">{moment(one.created_at)}</td>
      <td className="number">{moment(one.expires_at)}</td>
      <td>{one.last_used_at ? moment(one.last_used_at) : t.never}</td>
      <td><Ended gone={one.revoked ? t.revoked : past(one.expires_at) ? t.expired : ""} name={`${t.revoke} ${isolated(one.name)}`} text={t.revoke}
        title={words.revokeTokenTitle} question={words.revokeTokenQuestion} action={words.revokeAction}
        act={() => void calls.revokeToken(one.token_id).then(loaded.reload, failed)} /></td>
    </tr>
  );
  const rows = (loaded.value ?? []).flatMap((page) => page.tokens).map(row);
  return (
    <section aria-label={t.tokens}>
      <h2>{t.tokens}</h2>
      <p className="muted">{t.tokensHint}</p>
      <form className="invite-form" onSubmit={send}>
        <label className="field"><span>{t.name}</span><input name="name" required maxLength={200} /></label>
        <Roles roles={admin ? ["viewer", "lead", "admin"] : ["viewer"]} />
        <label className="field"><span>{t.days}</span><input name="days" type="number" min={1} max={3650} defaultValue={90} required /></label>
        <button type="submit" className="primary">{t.makeToken}</button>
      </form>
      {error && <Problem error={error} />}
      {secret && <MadeLink key={secret} label={t.once} link={secret} />}
      <WhenLoaded loaded={loaded}>
        {() => <Table heads={[t.name, t.role, t.made, t.expires, t.used, t.end]} nothing={t.noTokens} rows={rows} />}
      </WhenLoaded>
      <ShowMore pages={loaded} />
    </section>
  );
}

function People({ admin }: { admin: boolean }) {
  const t = strings.access;
  const loaded = usePages("invitations", (cursor) => calls.invitations({ cursor }));
  const [link, setLink] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const failed = (reason: unknown) => setError(asApiError(reason));
  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const role = textOf(form, "role") as "lead" | "viewer";
    calls.invite({ role, name: textOf(form, "name"), days: Number(form.get("days")), max_people: 1, person_param: "" }).then((made) => {
      setLink(new URL(withBase(made.path), window.location.origin).href);
      setError(null);
      loaded.reload();
    }, failed);
  }
  const row = (one: InvitationOut) => (
    <tr key={one.invitation_id}>
      <th scope="row"><Bdi>{one.name || strings.none}</Bdi></th>
      <td>{t.roles[one.role] ?? one.role}</td>
      <td className="number">{moment(one.created_at)}</td>
      <td className="number">{moment(one.expires_at)}</td>
      <td>{one.people} / {one.max_people}</td>
      <td><LinkState one={one} act={(work) => void work.then(() => { setError(null); loaded.reload(); }, failed)} /></td>
    </tr>
  );
  const rows = (loaded.value ?? []).flatMap((page) => page.invitations).map(row);
  return (
    <section aria-label={t.people}>
      <h2>{t.people}</h2>
      <p className="muted">{t.peopleHint}</p>
      <form className="invite-form" onSubmit={send}>
        <label className="field"><span>{strings.lead.name}</span><input name="name" maxLength={500} /></label>
        <Roles roles={admin ? ["viewer", "lead"] : ["viewer"]} />
        <label className="field"><span>{t.days}</span><input name="days" type="number" min={1} max={365} defaultValue={14} required /></label>
        <button type="submit" className="primary">{t.makeLink}</button>
      </form>
      {error && <Problem error={error} />}
      {link && <MadeLink key={link} label={strings.lead.link} link={link} />}
      <WhenLoaded loaded={loaded}>
        {() => <Table heads={[t.name, t.role, t.made, t.expires, strings.lead.used, t.end]} nothing={t.noPeople} rows={rows} />}
      </WhenLoaded>
      <ShowMore pages={loaded} shown={rows.length} total={loaded.value?.[0]?.total} />
    </section>
  );
}

function Sessions() {
  const t = strings.access;
  const words = leadStrings.lead;
  const loaded = usePages("sessions", calls.sessions);
  const [error, setError] = useState<ApiError | null>(null);
  const row = (one: SessionOut) => (
    <tr key={one.session_id}>
      <th scope="row"><Bdi>{one.name || strings.none}</Bdi></th>
      <td>{t.roles[one.role] ?? one.role}</td>
      <td className="number">{moment(one.created_at)}</td>
      <td className="number">{moment(one.expires_at)}</td>
      <td><Ended gone={one.mine ? t.mine : ""} name={`${t.signOut} ${isolated(one.name)}`} text={t.signOut}
        title={words.signOutTitle} question={words.signOutQuestion} action={words.signOutAction}
        act={() => void calls.endSession(one.session_id).then(loaded.reload, (reason: unknown) => setError(asApiError(reason)))} /></td>
    </tr>
  );
  const rows = (loaded.value ?? []).flatMap((page) => page.sessions).map(row);
  return (
    <section aria-label={t.sessions}>
      <h2>{t.sessions}</h2>
      {error && <Problem error={error} />}
      <WhenLoaded loaded={loaded}>
        {() => <Table heads={[t.name, t.role, t.since, t.expires, t.end]} nothing="" rows={rows} />}
      </WhenLoaded>
      <ShowMore pages={loaded} />
    </section>
  );
}

function Roles({ roles }: { roles: readonly string[] }) {
  const t = strings.access;
  return (
    <label className="field">
      <span>{t.role}</span>
      <select name="role">{roles.map((role) => <option key={role} value={role}>{t.roles[role] ?? role}</option>)}</select>
    </label>
  );
}

function Table({ heads, rows, nothing }: { heads: readonly string[]; rows: ReactNode[]; nothing: string }) {
  if (!rows.length) return <Empty>{nothing}</Empty>;
  return (
    <ScrollArea label={heads[0] ?? ""}>
      <table>
        <thead><tr>{heads.map((text) => <th key={text} scope="col">{text}</th>)}</tr></thead>
        <tbody>{rows}</tbody>
      </table>
    </ScrollArea>
  );
}

interface EndedProps {
  gone: string;
  name: string;
  text: string;
  title: string;
  question: string;
  action: string;
  act: () => void;
}

/** A button that ends something after asking, or why it has ended. */
function Ended({ gone, name, text, title, question, action, act }: EndedProps) {
  if (gone) return <span className="badge">{gone}</span>;
  return <ConfirmButton text={text} label={name} title={title} question={question} action={action} onConfirm={act} />;
}


