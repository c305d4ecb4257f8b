// The raters of a campaign: what each did and how well, who stands out, and what the lead can do about it.
import { useState } from "react";
import * as calls from "../../api/calls";
import { asApiError, type ApiError } from "../../api/client";
import { useInterval } from "../../api/useloaded";
import { usePages } from "../../api/usepages";
import type { RaterOut } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { DownloadLinks } from "../../parts/download";
import { count, moment, share } from "../../parts/format";
import { InlineCode } from "../../parts/inlinecode";
import { Link } from "../../parts/link";
import { MadeLink } from "../../parts/madelink";
import { ScrollArea } from "../../parts/scrollarea";
import { ShowMore } from "../../parts/showmore";
import { Empty, Problem, WhenLoaded } from "../../parts/status";
import { withBase } from "../../basepath";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";
import { ExclusionBadge, ExclusionButton, nameOf } from "./exclusion";

const EVERY_MS = 5000;
const DAYS = 14;

/** `onChange`: votes count differently now, so that agreement and progress have to be read again. */
export function Raters({ campaignId, onChange }: { campaignId: string; onChange: () => void }) {
  const loaded = usePages(`raters ${campaignId}`, (cursor) => calls.raters(campaignId, cursor));
  const raters = (loaded.value ?? []).flatMap((page) => page.raters);
  const [error, setError] = useState<ApiError | null>(null);
  const [status, setStatus] = useState("");
  const [link, setLink] = useState<{ to: string; href: string } | null>(null);
  useInterval(EVERY_MS, loaded.reload);
  const t = leadStrings.lead;
  function act<T>(work: Promise<T>, after: (value: T) => void): void {
    setError(null);
    work.then((value) => { after(value); loaded.reload(); }, (reason: unknown) => setError(asApiError(reason)));
  }
  const actions: Actions = {
    setActive: (rater, active) => act(calls.changeRater(campaignId, rater.rater_id, active), () => {}),
    inviteAgain: (rater) => act(calls.inviteAgain(rater.rater_id, campaignId, DAYS), (made) =>
      setLink({ to: nameOf(rater), href: new URL(withBase(made.path), window.location.origin).href })),
    done: (text) => { setStatus(text); setError(null); loaded.reload(); onChange(); },
    failed: setError,
  };
  return (
    <section aria-label={t.people}>
      <div className="page-head">
        <h2>{t.people}</h2>
        <span className="spacer" />
        <a className="button small" href={calls.paymentList(campaignId)} download>{t.payments}</a>
        <DownloadLinks table="raters" query={{ campaign_id: campaignId }} />
      </div>
      {error && <Problem error={error} />}
      <p role="status" className="muted">{status}</p>
      {link && <MadeLink key={link.href} label={t.inviteAgainDone(link.to)} link={link.href} />}
      <WhenLoaded loaded={loaded}>
        {() => (raters.length ? <RaterTable campaignId={campaignId} raters={raters} actions={actions} /> : <Empty>{leadStrings.empty.raters}</Empty>)}
      </WhenLoaded>
      <ShowMore pages={loaded} shown={raters.length} total={loaded.value?.[0]?.total} />
    </section>
  );
}

interface Actions {
  setActive: (rater: RaterOut, active: boolean) => void;
  inviteAgain: (rater: RaterOut) => void;
  done: (text: string) => void;
  failed: (error: ApiError) => void;
}

function RaterTable({ campaignId, raters, actions }: { campaignId: string; raters: readonly RaterOut[]; actions: Actions }) {
  const t = strings.lead;
  const words = leadStrings.lead;
  const heads: [string, string][] = [
    [t.votes, "votes"], [t.skipped, "skipped"], [t.time, "time"], [t.test, "test"], [t.gold, "gold"], [t.repeats, "repeats"],
    [t.withOthers, "withOthers"], [t.leftShare, "leftShare"], [t.flags, "flags"],
  ];
  return (
    <ScrollArea label={words.people}>
      <table className="people">
        <thead>
          <tr>
            <th scope="col">{t.rater}</th>
            <th scope="col">{words.lastActive}</th>
            {heads.map(([text, key]) => <th key={key} scope="col">{text}{words.columnHints[key] && <small>{words.columnHints[key]}</small>}</th>)}
            <th scope="col"><span className="sr-only">{t.action}</span></th>
          </tr>
        </thead>
        <tbody>{raters.map((one) => <Row key={one.rater_id} campaignId={campaignId} one={one} actions={actions} />)}</tbody>
      </table>
    </ScrollArea>
  );
}

function Row({ campaignId, one, actions }: { campaignId: string; one: RaterOut; actions: Actions }) {
  const t = strings.lead;
  const words = leadStrings.lead;
  const name = nameOf(one);
  const of = (part: number, all: number) => (all ? `${part} / ${all}` : strings.none);
  const time = one.median_measured_s ?? one.median_time_s;
  return (
    <tr className={one.notices.length ? "flagged" : ""}>
      <th scope="row">
        <Link to={`/lead/${encodeURIComponent(campaignId)}/raters/${encodeURIComponent(one.rater_id)}`}><Bdi>{one.name || one.rater_id}</Bdi></Link>{" "}
        {!one.active && <span className="badge state-partial">{words.paused}</span>}
        {one.sheet && <span className="badge" title={t.sheetHint}>{t.sheet}</span>}
        <ExclusionBadge rater={one} />
        {Object.entries(one.params).map(([param, value]) => <div key={param} className="muted person"><Bdi>{param} {value}</Bdi></div>)}
      </th>
      <td className="number">{one.last_active ? moment(one.last_active) : words.never}</td>
      <td className="number">{count(one.votes)}</td>
      <td className="number">{count(one.skipped)}</td>
      <td className="number">{time === null ? strings.none : t.seconds(time)}</td>
      <td className="number">{of(one.test_right, one.test_asked)}</td>
      <td className="number">{of(one.gold_right, one.gold_asked)}</td>
      <td className="number">{of(one.repeats_same, one.repeats_asked)}</td>
      <td className="number">{share(one.agreement)}</td>
      <td className="number">{share(one.left_share)}</td>
      <td className="wordy">{one.notices.length ? one.notices.map((notice) => <div key={notice.code}><InlineCode text={notice.text} /></div>) : strings.none}</td>
      <td>
        <div className="actions">
          {!one.sheet && (
            <button type="button" className="small" aria-label={`${one.active ? words.pause : words.resume}: ${name}`} onClick={() => actions.setActive(one, !one.active)}>
              {one.active ? words.pause : words.resume}
            </button>
          )}
          <ExclusionButton rater={one} onDone={actions.done} onError={actions.failed} />
          {!one.sheet && <button type="button" className="small" aria-label={words.inviteAgainLabel(name)} onClick={() => actions.inviteAgain(one)}>{words.inviteAgain}</button>}
        </div>
      </td>
    </tr>
  );
}
