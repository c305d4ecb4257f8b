// One campaign, for its lead: progress, raters, invitations, agreement, changes.
import { useState } from "react";
import * as calls from "../../api/calls";
import { asApiError, type ApiError } from "../../api/client";
import { useInterval, useLoaded } from "../../api/useloaded";
import type { AgreementReport, CampaignChange, CampaignOut, SkipReport } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { ConfirmButton } from "../../parts/confirm";
import { Meter } from "../../parts/fields";
import { count, figure, moment, share } from "../../parts/format";
import { DownloadLinks } from "../../parts/download";
import { InlineCode } from "../../parts/inlinecode";
import { Link } from "../../parts/link";
import { Notices } from "../../parts/notices";
import { ScrollArea } from "../../parts/scrollarea";
import { Empty, Problem, WhenLoaded } from "../../parts/status";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";
import { Invitations } from "./invitations";
import { StateBadge } from "./campaigns";
import { History, SettingsDialog } from "./campaignsettings";
import { Raters } from "./raters";

const EVERY_MS = 5000;

export function CampaignPage({ id }: { id: string }) {
  const campaign = useLoaded(`campaign ${id}`, () => calls.oneCampaign(id));
  const agreement = useLoaded(`agreement ${id}`, () => calls.agreement(id));
  const skips = useLoaded(`skips ${id}`, () => calls.skips(id));
  const [error, setError] = useState<ApiError | null>(null);
  useInterval(EVERY_MS, campaign.reload);
  const change = (changes: CampaignChange) =>
    void calls.changeCampaign(id, changes).then(() => { setError(null); campaign.reload(); }, (reason: unknown) => setError(asApiError(reason)));
  return (
    <div className="page wide">
      {error && <Problem error={error} />}
      <WhenLoaded loaded={campaign}>{(found) => <Head found={found} onChange={change} reload={campaign.reload} />}</WhenLoaded>
      <Raters campaignId={id} onChange={() => { campaign.reload(); agreement.reload(); }} />
      <div className="columns">
        <Invitations campaignId={id} />
        <section aria-label={strings.lead.agreement}>
          <div className="page-head"><h2>{strings.lead.agreement}</h2><span className="spacer" /><DownloadLinks table="agreement" query={{ campaign_id: id }} /></div>
          <WhenLoaded loaded={agreement}>{(found) => <AgreementTable found={found} />}</WhenLoaded>
          <WhenLoaded loaded={skips}>{(found) => (found.reasons.length ? <SkipTable found={found} /> : null)}</WhenLoaded>
        </section>
      </div>
      <h2>{strings.lead.history}</h2>
      <WhenLoaded loaded={campaign}>{(found) => <History campaign={found} />}</WhenLoaded>
    </div>
  );
}

/** A task stays in hand when a browser is closed: this says for how long. */
function heldText({ held, held_until: until }: CampaignOut): string {
  const t = strings.lead;
  if (!held || until === null) return t.held;
  return new Date(until).getTime() < Date.now() ? t.heldLate : t.heldUntil(moment(until));
}

interface HeadProps {
  found: CampaignOut;
  onChange: (change: CampaignChange) => void;
  reload: () => void;
}

function Head({ found, onChange, reload }: HeadProps) {
  const [changing, setChanging] = useState(false);
  const t = strings.lead;
  const words = leadStrings.lead;
  const tile = (text: string, value: string) => <div className="tile"><strong>{value}</strong><span>{text}</span></div>;
  return (
    <>
      <div className="page-head">
        <h1><Bdi>{found.name}</Bdi></h1>
        <StateBadge campaign={found} />
        <span className="spacer" />
        {found.kind === "check" ? (
          <a className="button small" href={calls.campaignExport(found.campaign_id)} download>{t.export}</a>
        ) : (
          <DownloadLinks table={found.kind === "preference" ? "votes" : "ratings"} query={{ campaign_id: found.campaign_id }} />
        )}
        <button type="button" className="small" onClick={() => setChanging(true)}>{t.settings}</button>
        {found.open && <button type="button" className="small" title={t.holdHint} onClick={() => onChange({ paused: !found.paused })}>{found.paused ? t.resume : t.hold}</button>}
        {found.open ? (
          <ConfirmButton text={t.close} title={words.closeTitle} question={words.closeQuestion(words.answers(found.votes))} action={words.closeAction} onConfirm={() => onChange({ open: false })} />
        ) : (
          <button type="button" className="small" onClick={() => onChange({ open: true })}>{t.reopen}</button>
        )}
      </div>
      {changing && <SettingsDialog campaign={found} onClose={() => setChanging(false)} onDone={() => { setChanging(false); reload(); }} />}
      <Meter label={t.progress} value={found.votes} most={found.slots} />
      <div className="tiles">
        {tile(t.votes, `${count(found.votes)} / ${count(found.slots)}`)}
        {tile(t.units, `${count(found.complete_units)} / ${count(found.units)}`)}
        {tile(t.raters, count(found.raters))}
        {tile(heldText(found), count(found.held))}
        {tile(t.skipped, count(found.skipped))}
        {found.checks > 0 && tile(t.checks, `${count(found.checks_done)} / ${count(found.checks)}`)}
        {found.disputed > 0 && tile(words.disputed(found.adjudicated), count(found.disputed))}
      </div>
      {found.settings.adjudication === "lead" && found.disputed > found.adjudicated && (
        <p><Link to={`/rate/${encodeURIComponent(found.campaign_id)}`} className="button primary">{words.decide(found.disputed - found.adjudicated)}</Link></p>
      )}
      <Notices texts={found.notices.map((notice) => notice.text)} about={words.name} />
    </>
  );
}

function AgreementTable({ found }: { found: AgreementReport }) {
  const t = strings.lead;
  if (!found.criteria.length) return <Empty>{t.noAgreement}</Empty>;
  return (
    <ScrollArea label={t.agreement}>
      <table>
        <thead>
          <tr>{[t.criterion, t.alpha, t.kappa, t.pairwise, t.unitsUsed].map((text) => <th key={text} scope="col">{text}</th>)}</tr>
        </thead>
        <tbody>
          {found.criteria.map((one) => (
            <tr key={one.criterion}>
              <th scope="row"><Bdi>{one.criterion}</Bdi></th>
              {one.alpha === null && one.reason ? (
                <td colSpan={3} className="muted"><InlineCode text={t.undefinedWhy(one.reason)} /></td>
              ) : (
                <>
                  <td className="number">{figure(one.alpha, 3)}</td>
                  <td className="number">{figure(one.fleiss_kappa, 3)}</td>
                  <td className="number">{share(one.pairwise_agreement)}</td>
                </>
              )}
              <td className="number">{count(one.n_units)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollArea>
  );
}

/** Why tasks were skipped, with a way to what was skipped: a broken picture has to be found. */
function SkipTable({ found }: { found: SkipReport }) {
  const t = strings.lead;
  const names = Object.fromEntries(strings.vote.reasons);
  return (
    <>
      <h2>{t.skips}</h2>
      <ScrollArea label={t.skips}>
        <table>
          <thead><tr>{[t.skipReason, t.skipped, t.skipItems, t.skipWords].map((text) => <th key={text} scope="col">{text}</th>)}</tr></thead>
          <tbody>
            {found.reasons.map((one) => (
              <tr key={one.reason}>
                <th scope="row"><Bdi>{names[one.reason] ?? one.reason}</Bdi></th>
                <td className="number">{count(one.count)}</td>
                <td>
                  {one.items.slice(0, 5).map((item, index) => (
                    <span key={item}><Link to={`/items/${encodeURIComponent(item)}`} label={t.skipItem(index + 1, names[one.reason] ?? one.reason)}>{String(index + 1)}</Link> </span>
                  ))}
                  {one.n_items > 5 && <span className="muted">{t.ofItems(one.n_items)}</span>}
                </td>
                <td className="muted wordy"><Bdi>{one.words.slice(0, 3).join("; ") || strings.none}</Bdi></td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollArea>
    </>
  );
}
