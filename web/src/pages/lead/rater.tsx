// One rater in one campaign: how far, how fast, how well, and every answer.
import { useState } from "react";
import * as calls from "../../api/calls";
import type { ApiError } from "../../api/client";
import { useLoaded } from "../../api/useloaded";
import type { RaterAnswerOut, RaterDetail } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { count, figure, moment, share } from "../../parts/format";
import { Link } from "../../parts/link";
import { Notices } from "../../parts/notices";
import { ScrollArea } from "../../parts/scrollarea";
import { Empty, Problem, WhenLoaded } from "../../parts/status";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";
import { ExclusionBadge, ExclusionButton } from "./exclusion";

/** More characters than this are set smaller in a tile. */
const LONG = 10;

export function RaterPage({ campaignId, raterId }: { campaignId: string; raterId: string }) {
  const loaded = useLoaded(`rater ${campaignId} ${raterId}`, () => calls.oneRater(campaignId, raterId));
  const [status, setStatus] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  return (
    <div className="page wide">
      <p><Link to={`/lead/${encodeURIComponent(campaignId)}`}>← {leadStrings.rater.back}</Link></p>
      {error && <Problem error={error} />}
      <WhenLoaded loaded={loaded}>
        {(found) => (
          <>
            <div className="page-head">
              <h1><Bdi>{found.rater.name || found.rater.rater_id}</Bdi></h1>
              {!found.rater.active && <span className="badge state-partial">{leadStrings.lead.paused}</span>}
              <ExclusionBadge rater={found.rater} />
              <span className="spacer" />
              <ExclusionButton rater={found.rater} onDone={(text) => { setStatus(text); setError(null); loaded.reload(); }} onError={setError} />
            </div>
            <p role="status" className="muted">{status}</p>
            <Work found={found} />
            <Answers answers={found.answers} total={found.total} />
          </>
        )}
      </WhenLoaded>
    </div>
  );
}

function Work({ found }: { found: RaterDetail }) {
  const { rater } = found;
  const t = leadStrings.rater;
  const tile = (text: string, value: string) => <div className="tile"><strong className={value.length > LONG ? "long" : ""}>{value}</strong><span>{text}</span></div>;
  const of = (part: number, all: number) => (all ? `${part} / ${all}` : strings.none);
  const seconds = (value: number | null) => (value === null ? strings.none : strings.lead.seconds(value));
  const stage = [t.stages[found.stage] ?? found.stage, found.outcome ? t.outcomes[found.outcome] ?? found.outcome : ""].filter(Boolean).join(", ");
  const texts = [...rater.notices.map((notice) => notice.text), ...(rater.overclaimed ? [t.overclaimed(rater.overclaimed)] : [])];
  return (
    <>
      <div className="tiles">
        {tile(t.stage, stage)}
        {tile(leadStrings.lead.lastActive, rater.last_active ? moment(rater.last_active) : leadStrings.lead.never)}
        {tile(strings.lead.votes, count(rater.votes))}
        {tile(t.time, seconds(rater.median_measured_s))}
        {tile(t.timeClaimed, seconds(rater.median_time_s))}
        {tile(strings.lead.withOthers, share(rater.agreement))}
        {tile(t.gold, of(rater.gold_right, rater.gold_asked))}
        {tile(strings.lead.repeats, of(rater.repeats_same, rater.repeats_asked))}
      </div>
      <Notices texts={[...new Set(texts)]} about={t.name} />
    </>
  );
}

function Answers({ answers, total }: { answers: readonly RaterAnswerOut[]; total: number }) {
  const t = leadStrings.rater;
  return (
    <section aria-label={t.answersTitle}>
      <h2>{t.answersTitle}</h2>
      {answers.length === 0 ? <Empty>{t.noAnswers}</Empty> : (
        <>
          <p className="muted">{t.newest(answers.length, total)}</p>
          <ScrollArea label={t.answersTitle}>
            <table className="rater-answers">
              <thead>
                <tr>{[t.when, t.task, t.answer, t.measured, t.claimed, t.check, t.others, t.counted].map((text) => <th key={text} scope="col">{text}</th>)}</tr>
              </thead>
              <tbody>{answers.map((one) => <AnswerRow key={one.vote_id} one={one} />)}</tbody>
            </table>
          </ScrollArea>
        </>
      )}
    </section>
  );
}

/** A side by the name of its model: the pictures had no names when the rater chose. */
function answerText({ answer, left, right }: RaterAnswerOut): string {
  if (answer === "left") return left;
  if (answer === "right") return right;
  return strings.vote.choices[answer] ?? answer;
}

function AnswerRow({ one }: { one: RaterAnswerOut }) {
  const t = leadStrings.rater;
  const check = one.purpose === "vote" ? strings.none : t.purposes[one.purpose] ?? one.purpose;
  const verdict = one.right_answer === null ? "" : one.right_answer ? t.right : t.wrong;
  return (
    <tr>
      <td className="number">{moment(one.created_at)}</td>
      <th scope="row"><span className="clip"><Bdi>{one.instruction}</Bdi></span><small className="muted person"><Bdi>{one.item}</Bdi></small></th>
      <td><Bdi>{answerText(one)}</Bdi>{one.comment && <div className="muted person"><Bdi>{one.comment}</Bdi></div>}</td>
      <td className="number">{one.seen === false ? <span className="muted">{t.unseen}</span> : figure(one.measured_time_s, 1)}</td>
      <td className="number">{figure(one.time_spent_s, 1)}</td>
      <td>{[check, verdict].filter(Boolean).join(": ")}</td>
      <td className="number">{share(one.agrees)}</td>
      <td>{one.not_counted ? t.no(one.not_counted) : t.yes}</td>
    </tr>
  );
}
