// Invitation links: made, sent once, expired, revoked.
import { useState, type FormEvent } from "react";
import * as calls from "../../api/calls";
import { asApiError, type ApiError } from "../../api/client";
import { usePages } from "../../api/usepages";
import type { InvitationOut } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { ConfirmButton } from "../../parts/confirm";
import { moment, past } from "../../parts/format";
import { isolated } from "../../parts/isolated";
import { MadeLink } from "../../parts/madelink";
import { ScrollArea } from "../../parts/scrollarea";
import { ShowMore } from "../../parts/showmore";
import { Empty, Problem, WhenLoaded } from "../../parts/status";
import { withBase } from "../../basepath";
import { textOf } from "../../parts/form";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";

export function Invitations({ campaignId }: { campaignId: string }) {
  const loaded = usePages(`invitations ${campaignId}`, (cursor) => calls.invitations({ campaign_id: campaignId, cursor }));
  const invitations = (loaded.value ?? []).flatMap((page) => page.invitations);
  const [link, setLink] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const t = strings.lead;
  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const body = {
      campaign_id: campaignId,
      name: textOf(form, "name"),
      days: Number(form.get("days")),
      max_people: Number(form.get("people")),
      person_param: textOf(form, "param"),
      rater_id: textOf(form, "rater").trim() || null,
    };
    calls.invite(body).then(
      (made) => {
        setLink(linkFor(new URL(withBase(made.path), window.location.origin), body.person_param));
        setError(null);
        loaded.reload();
      },
      (reason: unknown) => setError(asApiError(reason)),
    );
  }
  return (
    <section aria-label={t.invitations}>
      <h2>{t.invitations}</h2>
      <form className="invite-form" onSubmit={send}>
        <label className="field"><span>{t.inviteName}</span><input name="name" maxLength={500} /></label>
        <label className="field"><span>{t.days}</span><input name="days" type="number" min={1} max={365} defaultValue={14} required /></label>
        <label className="field"><span>{t.people}</span><input name="people" type="number" min={1} defaultValue={1} required /></label>
        <label className="field" title={t.personHint}><span>{t.personParam}</span><input name="param" maxLength={60} /></label>
        <label className="field" title={t.raterHint}><span>{t.boundRater}</span><input name="rater" maxLength={200} /></label>
        <button type="submit" className="primary">{t.invite}</button>
      </form>
      {error && <Problem error={error} />}
      {link && <MadeLink key={link} label={t.link} link={link} hint={link.includes("?") ? t.linkParam : ""} />}
      <WhenLoaded loaded={loaded}>
        {() =>
          invitations.length ? (
            <ScrollArea label={t.invitations}>
              <table>
                <thead>
                  <tr>
                    {[t.inviteName, t.expires, t.used].map((text) => <th key={text} scope="col">{text}</th>)}
                    <th scope="col"><span className="sr-only">{t.action}</span></th>
                  </tr>
                </thead>
                <tbody>
                  {invitations.map((one) => (
                    <tr key={one.invitation_id}>
                      <th scope="row"><Bdi>{one.name || one.rater_id || strings.none}</Bdi>{one.rater_id && <> <span className="badge" title={t.raterHint}><Bdi>{one.rater_id}</Bdi></span></>}</th>
                      <td className="number">{moment(one.expires_at)}</td>
                      <td>{one.people} / {one.max_people}</td>
                      <td>
                        <LinkState one={one} act={(work) => void work.then(() => { setError(null); loaded.reload(); }, (reason: unknown) => setError(asApiError(reason)))} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </ScrollArea>
          ) : (
            <Empty>{t.noInvitations}</Empty>
          )
        }
      </WhenLoaded>
      <ShowMore pages={loaded} shown={invitations.length} total={loaded.value?.[0]?.total} />
    </section>
  );
}

/** The link with a place for who opens it, where a platform fills that in. The secret stays behind the #. */
export function linkFor(link: URL, param: string): string {
  if (!param) return link.href;
  const value = param === "PROLIFIC_PID" ? "{{%PROLIFIC_PID%}}" : "WHO";
  return `${link.origin}${link.pathname}?${encodeURIComponent(param)}=${value}${link.hash}`;
}

/** Whether a link works, and the button that ends it or lets it work again. */
export function LinkState({ one, act }: { one: InvitationOut; act: (work: Promise<unknown>) => void }) {
  const t = strings.lead;
  const words = leadStrings.lead;
  const name = isolated(one.name);
  if (past(one.expires_at)) return <span className="badge">{t.expired}</span>;
  if (one.revoked) {
    return (
      <div className="actions">
        <span className="badge">{t.revoked}</span>
        <button type="button" className="small" aria-label={words.restoreLabel(name)} onClick={() => act(calls.restoreInvitation(one.invitation_id))}>{words.restore}</button>
      </div>
    );
  }
  return (
    <ConfirmButton text={t.revoke} label={name ? `${t.revoke}: ${name}` : t.revoke} title={words.revokeTitle} question={words.revokeQuestion(one.people)}
      action={words.revokeAction} onConfirm={() => act(calls.revokeInvitation(one.invitation_id))} />
  );
}
