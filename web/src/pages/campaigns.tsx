// The lead's campaigns: how far each is, and a form for a new one.
import { useState, type FormEvent } from "react";
import * as calls from "../api/calls";
import { asApiError, type ApiError } from "../api/client";
import { useInterval, useLoaded } from "../api/useloaded";
import { usePages } from "../api/usepages";
import type { CampaignIn, CampaignOut } from "../api/schema";
import { Dialog } from "../parts/dialog";
import { Meter } from "../parts/fields";
import { count } from "../parts/format";
import { Link } from "../parts/link";
import { ShowMore } from "../parts/showmore";
import { Empty, Problem, WhenLoaded } from "../parts/status";
import { go } from "../router";
import { textOf } from "../parts/form";
import { strings } from "../strings";
import { chosenFor, KnownTasks, type Chosen } from "./knowntasks";

const EVERY_MS = 10_000;

export function CampaignsPage() {
  const loaded = usePages("campaigns", calls.campaigns);
  useInterval(EVERY_MS, loaded.reload);
  const campaigns = (loaded.value ?? []).flatMap((page) => page.campaigns);
  const [making, setMaking] = useState(false);
  const t = strings.lead;
  return (
    <div className="page wide">
      <div className="page-head">
        <h1>{t.title}</h1>
        <span className="spacer" />
        <button type="button" className="primary" onClick={() => setMaking(true)}>{t.make}</button>
      </div>
      <WhenLoaded loaded={loaded}>
        {() =>
          campaigns.length ? (
            <div className="scroll">
              <table>
                <thead>
                  <tr>
                    {[t.name, t.kind, t.state, t.progress, t.votes, t.raters, t.held, t.skipped].map((text) => <th key={text} scope="col">{text}</th>)}
                  </tr>
                </thead>
                <tbody>
                  {campaigns.map((one) => (
                    <tr key={one.campaign_id}>
                      <th scope="row"><Link to={`/lead/${encodeURIComponent(one.campaign_id)}`}>{one.name}</Link></th>
                      <td>{strings.home.kinds[one.kind]}</td>
                      <td><StateBadge campaign={one} /></td>
                      <td><Meter label={t.progress} value={one.votes} most={one.slots} /></td>
                      <td className="number">{count(one.votes)} / {count(one.slots)}</td>
                      <td className="number">{one.raters}</td>
                      <td className="number">{one.held}</td>
                      <td className="number">{one.skipped}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          ) : (
            <Empty>{t.nothing}</Empty>
          )
        }
      </WhenLoaded>
      <ShowMore pages={loaded} shown={campaigns.length} total={loaded.value?.[0]?.total} />
      {making && <NewCampaign onClose={() => setMaking(false)} />}
    </div>
  );
}

export function StateBadge({ campaign }: { campaign: Pick<CampaignOut, "open" | "paused"> }) {
  const t = strings.lead;
  const [state, text] = !campaign.open ? ["", t.closed] : campaign.paused ? ["state-partial", t.onHold] : ["state-running", t.open];
  return <span className={`badge ${state}`}>{text}</span>;
}

function NewCampaign({ onClose }: { onClose: () => void }) {
  const [kind, setKind] = useState("preference");
  const [dataset, setDataset] = useState("");
  const [chosen, setChosen] = useState<Chosen[]>([]);
  const facets = useLoaded("facets", calls.facets);
  const [error, setError] = useState<ApiError | null>(null);
  const t = strings.lead;
  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const known = {
      gold: chosenFor(chosen, "gold"),
      practice: chosenFor(chosen, "practice"),
      qualification: chosenFor(chosen, "qualification"),
    };
    calls.makeCampaign({ ...campaignFrom(new FormData(event.currentTarget)), ...known }).then(
      (made) => go(`/lead/${encodeURIComponent(made.campaign_id)}`),
      (reason: unknown) => setError(asApiError(reason)),
    );
  }
  const number = (name: string, label: string, value: string, least: number, hint = "", step = "1") => (
    <label className="field">
      <span>{label}</span>
      <input type="number" name={name} min={least} step={step} defaultValue={value} />
      {hint && <small className="muted">{hint}</small>}
    </label>
  );
  return (
    <Dialog title={t.make} onClose={onClose} wide>
      <form onSubmit={send} className="form-grid">
        <label className="field"><span>{t.name}</span><input name="name" data-first required maxLength={200} /></label>
        <label className="field">
          <span>{t.kind}</span>
          <select name="kind" value={kind} onChange={(event) => { setKind(event.target.value); setChosen([]); }}>
            {Object.entries(strings.home.kinds).map(([kind, text]) => <option key={kind} value={kind}>{text}</option>)}
          </select>
        </label>
        <label className="field"><span>{t.dimension}</span><input name="dimension" defaultValue="overall" required maxLength={200} /></label>
        <label className="field">
          <span>{t.datasets}</span>
          <select name="dataset" value={dataset} onChange={(event) => setDataset(event.target.value)}>
            <option value="">{strings.all}</option>
            {(facets.value?.datasets ?? []).map((one) => <option key={one} value={one}>{one}</option>)}
          </select>
        </label>
        <details className="whole only">
          <summary>{t.only}</summary>
          <div className="form-grid">
            {(["editors", "tasks", "topics"] as const).filter((name) => facets.value?.[name].length).map((name) => (
              <label key={name} className="field">
                <span>{t.onlyThese[name]}</span>
                <select name={name} multiple size={4}>
                  {(facets.value?.[name] ?? []).map((one) => <option key={one} value={one}>{one}</option>)}
                </select>
              </label>
            ))}
          </div>
          <small className="muted">{t.onlyHint}</small>
        </details>
        {number("raters_per_unit", t.perUnit, "", 1, t.perUnitHint)}
        {number("per_stratum", t.perStratum, "", 1, t.perStratumHint)}
        {number("max_units", t.maxUnits, "", 1)}
        {number("weekly_quota", t.quota, "200", 1)}
        {number("lease_s", t.lease, "900", 10)}
        {number("repeat_rate", t.repeatRate, "0", 0, "", "0.01")}
        <KnownTasks kind={kind} datasets={dataset ? [dataset] : []} chosen={chosen} onChange={setChosen} />
        {chosen.some((one) => one.use === "gold") && number("gold_rate", t.goldRate, "0.1", 0, t.goldRateHint, "0.01")}
        {chosen.some((one) => one.use === "qualification") && number("pass_percent", t.passMark, "80", 0, t.passMarkHint)}
        <label className="field whole">
          <span>{t.completion}</span>
          <input name="completion_url" maxLength={1000} pattern="https://.+" title={t.completionHint} placeholder="https://" />
          <small className="muted">{t.completionHint}</small>
        </label>
        <label className="field whole"><span>{t.consent}</span><textarea name="consent" rows={3} maxLength={4000} /></label>
        <label className="field whole"><span>{t.guidelines}</span><textarea name="guidelines" rows={4} maxLength={20000} /></label>
        {error && <div className="whole"><Problem error={error} /></div>}
        <div className="row whole">
          <button type="submit" className="primary">{t.create}</button>
          <button type="button" onClick={onClose}>{strings.cancel}</button>
        </div>
      </form>
    </Dialog>
  );
}

/** The form as it is posted; what was left empty keeps its default. */
export function campaignFrom(form: FormData): CampaignIn {
  const text = (name: string) => textOf(form, name).trim();
  const number = (name: string) => (text(name) === "" ? null : Number(text(name)));
  const some = (name: string) => form.getAll(name).map(String);
  return {
    name: text("name"),
    kind: text("kind") as NonNullable<CampaignIn["kind"]>,
    dimension: text("dimension"),
    datasets: text("dataset") ? [text("dataset")] : [],
    editors: some("editors"),
    tasks: some("tasks"),
    topics: some("topics"),
    raters_per_unit: number("raters_per_unit"),
    per_stratum: number("per_stratum"),
    max_units: number("max_units"),
    weekly_quota: number("weekly_quota") ?? 200,
    lease_s: number("lease_s") ?? 900,
    repeat_rate: number("repeat_rate") ?? 0,
    gold_rate: number("gold_rate") ?? 0,
    pass_share: (number("pass_percent") ?? 80) / 100,
    completion_url: text("completion_url") || null,
    consent: text("consent"),
    guidelines: text("guidelines"),
  };
}
