// One campaign, for its lead: progress, agreement, who stands out, invitations.
import { useState } from "react";
import * as calls from "../api/calls";
import { asApiError, type ApiError } from "../api/client";
import { useInterval, useLoaded } from "../api/useloaded";
import { usePages } from "../api/usepages";
import type { AgreementReport, CampaignChange, CampaignOut, RaterOut, RaterPage, SkipReport } from "../api/schema";
import { Meter } from "../parts/fields";
import { count, figure, moment, share } from "../parts/format";
import { DownloadLinks } from "../parts/download";
import { InlineCode } from "../parts/inlinecode";
import { Link } from "../parts/link";
import { ShowMore } from "../parts/showmore";
import { Empty, Problem, WhenLoaded } from "../parts/status";
import { strings } from "../strings";
import { Invitations } from "./invitations";
import { StateBadge } from "./campaigns";
import { History, SettingsDialog } from "./campaignsettings";

const EVERY_MS = 5000;

export function CampaignPage({ id }: { id: string }) {
  const campaign = useLoaded(`campaign ${id}`, () => calls.oneCampaign(id));
  const raters = usePages(`raters ${id}`, (cursor) => calls.raters(id, cursor));
  const agreement = useLoaded(`agreement ${id}`, () => calls.agreement(id));
  const skips = useLoaded(`skips ${id}`, () => calls.skips(id));
  const [error, setError] = useState<ApiError | null>(null);
  useInterval(EVERY_MS, campaign.reload);
  useInterval(EVERY_MS, raters.reload);
  const act = (work: Promise<unknown>, after: () => void) =>
    void work.then(after, (reason: unknown) => setError(asApiError(reason)));
  return (
    <div className="page wide">
      {error && <Problem error={error} />}
      <WhenLoaded loaded={campaign}>
        {(found) => <Head found={found} onChange={(change) => act(calls.changeCampaign(id, change), campaign.reload)} reload={campaign.reload} />}
      </WhenLoaded>
      <div className="columns">
        <section>
          <div className="page-head"><h2>{strings.lead.agreement}</h2><span className="spacer" /><DownloadLinks table="agreement" query={{ campaign_id: id }} /></div>
          <WhenLoaded loaded={agreement}>{(found) => <AgreementTable found={found} />}</WhenLoaded>
          <WhenLoaded loaded={skips}>{(found) => (found.reasons.length ? <SkipTable found={found} /> : null)}</WhenLoaded>
        </section>
        <Invitations campaignId={id} />
      </div>
      <div className="page-head"><h2>{strings.lead.ratersTitle}</h2><span className="spacer" /><DownloadLinks table="raters" query={{ campaign_id: id }} /></div>
      <WhenLoaded loaded={raters}>
        {(pages) =>
          pages[0]?.raters.length ? (
            <RaterTable pages={pages} onActive={(rater, active) => act(calls.changeRater(id, rater, active), raters.reload)} />
          ) : (
            <Empty>{strings.lead.noRaters}</Empty>
          )
        }
      </WhenLoaded>
      <ShowMore pages={raters} shown={(raters.value ?? []).flatMap((page) => page.raters).length} total={raters.value?.[0]?.total} />
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
  const tile = (text: string, value: string) => <div className="tile"><strong>{value}</strong><span>{text}</span></div>;
  return (
    <>
      <div className="page-head">
        <h1>{found.name}</h1>
        <StateBadge campaign={found} />
        <span className="spacer" />
        {found.kind === "check" ? (
          <a className="button small" href={calls.campaignExport(found.campaign_id)} download>{t.export}</a>
        ) : (
          <DownloadLinks table={found.kind === "preference" ? "votes" : "ratings"} query={{ campaign_id: found.campaign_id }} />
        )}
        <button type="button" className="small" onClick={() => setChanging(true)}>{t.settings}</button>
        {found.open && <button type="button" className="small" title={t.holdHint} onClick={() => onChange({ paused: !found.paused })}>{found.paused ? t.resume : t.hold}</button>}
        <button type="button" className="small" title={t.closeHint} onClick={() => onChange({ open: !found.open })}>{found.open ? t.close : t.reopen}</button>
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
      </div>
    </>
  );
}

function AgreementTable({ found }: { found: AgreementReport }) {
  const t = strings.lead;
  if (!found.criteria.length) return <Empty>{t.noAgreement}</Empty>;
  return (
    <div className="scroll">
      <table>
        <thead>
          <tr>{[t.criterion, t.alpha, t.kappa, t.pairwise, t.unitsUsed].map((text) => <th key={text} scope="col">{text}</th>)}</tr>
        </thead>
        <tbody>
          {found.criteria.map((one) => (
            <tr key={one.criterion}>
              <th scope="row">{one.criterion}</th>
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
    </div>
  );
}

/** Why tasks were skipped, with a way to what was skipped: a broken picture has to be found. */
function SkipTable({ found }: { found: SkipReport }) {
  const t = strings.lead;
  const names = Object.fromEntries(strings.vote.reasons);
  return (
    <>
      <h2>{t.skips}</h2>
      <div className="scroll">
        <table>
          <thead><tr>{[t.skipReason, t.skipped, t.skipItems, t.skipWords].map((text) => <th key={text} scope="col">{text}</th>)}</tr></thead>
          <tbody>
            {found.reasons.map((one) => (
              <tr key={one.reason}>
                <th scope="row">{names[one.reason] ?? one.reason}</th>
                <td className="number">{count(one.count)}</td>
                <td>
                  {one.items.slice(0, 5).map((item, index) => (
                    <span key={item}><Link to={`/items/${encodeURIComponent(item)}`} label={t.skipItem(index + 1, names[one.reason] ?? one.reason)}>{String(index + 1)}</Link> </span>
                  ))}
                  {one.n_items > 5 && <span className="muted">{t.ofItems(one.n_items)}</span>}
                </td>
                <td className="muted wordy">{one.words.slice(0, 3).join("; ") || strings.none}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const HASTY = "no_time_to_look";

function RaterTable({ pages, onActive }: { pages: readonly RaterPage[]; onActive: (rater: string, active: boolean) => void }) {
  const t = strings.lead;
  const raters = pages.flatMap((page) => page.raters);
  const { least_look_s: least = 0, least_answers: answers = 0 } = pages[0] ?? {};
  const flagText = (one: RaterOut, flag: string) => (flag === HASTY ? `${t.flagNames[HASTY]}: ${t.hasty(one.hasty, least)}` : t.flagNames[flag] ?? flag.replaceAll("_", " "));
  const of = (part: number, all: number) => (all ? `${part} / ${all}` : strings.none);
  return (
    <>
      {raters.some((one) => one.flags.includes(HASTY)) && <p className="warning">{t.pace(least, answers)}</p>}
      <div className="scroll">
        <table>
          <thead>
            <tr>
              {[t.rater, t.votes, t.skipped, t.time, t.test, t.gold, t.repeats, t.withOthers, t.leftShare, t.flags].map((text) => <th key={text} scope="col">{text}</th>)}
              <th scope="col"><span className="sr-only">{t.action}</span></th>
            </tr>
          </thead>
          <tbody>
            {raters.map((one) => (
              <tr key={one.rater_id} className={one.flags.length ? "flagged" : ""}>
                <th scope="row">
                  {one.name || one.rater_id} {!one.active && <span className="badge">{t.paused}</span>}
                  {one.sheet && <span className="badge" title={t.sheetHint}>{t.sheet}</span>}
                  {Object.entries(one.params).map(([name, value]) => <div key={name} className="muted person">{name} {value}</div>)}
                </th>
                <td className="number">{count(one.votes)}</td>
                <td className="number">{count(one.skipped)}</td>
                <td className="number">{one.median_time_s === null ? strings.none : t.seconds(one.median_time_s)}</td>
                <td className="number">{of(one.test_right, one.test_asked)}</td>
                <td className="number">{of(one.gold_right, one.gold_asked)}</td>
                <td className="number">{of(one.repeats_same, one.repeats_asked)}</td>
                <td className="number">{share(one.agreement)}</td>
                <td className="number">{share(one.left_share)}</td>
                <td className="wordy">{one.flags.map((flag) => flagText(one, flag)).join("; ") || strings.none}</td>
                <td>
                  {!one.sheet && <button type="button" className="small" aria-label={`${one.active ? t.pause : t.goOn}: ${one.name || one.rater_id}`}
                    onClick={() => onActive(one.rater_id, !one.active)}>{one.active ? t.pause : t.goOn}</button>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
