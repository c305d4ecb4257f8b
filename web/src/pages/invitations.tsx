// Invitation links: made, sent once, expired, revoked.
import { useRef, useState, type FormEvent } from "react";
import * as calls from "../api/calls";
import { asApiError, type ApiError } from "../api/client";
import { usePages } from "../api/usepages";
import { moment } from "../parts/format";
import { ShowMore } from "../parts/showmore";
import { Empty, Problem, WhenLoaded } from "../parts/status";
import { withBase } from "../basepath";
import { textOf } from "../parts/form";
import { strings } from "../strings";

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
      {link && <MadeLink link={link} />}
      <WhenLoaded loaded={loaded}>
        {() =>
          invitations.length ? (
            <div className="scroll">
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
                      <th scope="row">{one.name || one.rater_id || strings.none}{one.rater_id && <> <span className="badge" title={t.raterHint}>{one.rater_id}</span></>}</th>
                      <td className="number">{moment(one.expires_at)}</td>
                      <td>{one.people} / {one.max_people}</td>
                      <td>
                        {one.revoked || Date.parse(one.expires_at) < Date.now() ? <span className="badge">{one.revoked ? t.revoked : t.expired}</span> : (
                          <button type="button" className="small" aria-label={one.name ? `${t.revoke}: ${one.name}` : t.revoke}
                            onClick={() => void calls.revokeInvitation(one.invitation_id).then(loaded.reload, (reason: unknown) => setError(asApiError(reason)))}>
                            {t.revoke}
                          </button>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
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

function MadeLink({ link }: { link: string }) {
  const [copied, setCopied] = useState(false);
  const shown = useRef<HTMLInputElement>(null);
  const t = strings.lead;
  /** A page without TLS has no clipboard to write to: there the selected text is copied as by the keys. */
  async function copy(): Promise<void> {
    shown.current?.select();
    if (navigator.clipboard) await navigator.clipboard.writeText(link);
    else document.execCommand("copy");
    setCopied(true);
  }
  return (
    <div className="made-link" role="status">
      <label className="field">
        <span>{t.link}</span>
        <input ref={shown} readOnly value={link} onFocus={(event) => event.target.select()} />
        {link.includes("?") && <small className="muted">{t.linkParam}</small>}
      </label>
      <button type="button" onClick={() => void copy()}>{copied ? t.copied : t.copy}</button>
    </div>
  );
}
