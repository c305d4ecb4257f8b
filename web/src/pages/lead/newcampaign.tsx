// The form for a new campaign. How many tasks it will make is shown before it is created.
import { useEffect, useEffectEvent, useRef, useState, type FormEvent } from "react";
import * as calls from "../../api/calls";
import { asApiError, type ApiError } from "../../api/client";
import { useLoaded } from "../../api/useloaded";
import type { CampaignForecastOut, CampaignIn } from "../../api/schema";
import { Dialog } from "../../parts/dialog";
import { textOf } from "../../parts/form";
import { isolated } from "../../parts/isolated";
import { Problem } from "../../parts/status";
import { go } from "../../router";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";
import { codesFrom, WorkSettings } from "./worksettings";
import { GuidelinesField } from "./guidelines";
import { chosenFor, KnownTasks, type Chosen } from "./knowntasks";

/** How long the form has to rest before tasks are counted. */
const REST_MS = 400;

export function NewCampaign({ onClose }: { onClose: () => void }) {
  const [kind, setKind] = useState("preference");
  const [dataset, setDataset] = useState("");
  const [chosen, setChosen] = useState<Chosen[]>([]);
  const [edits, setEdits] = useState(0);
  const form = useRef<HTMLFormElement>(null);
  const facets = useLoaded("facets", calls.facets);
  const [error, setError] = useState<ApiError | null>(null);
  const t = strings.lead;
  const plan = (found: HTMLFormElement): CampaignIn => ({
    ...campaignFrom(new FormData(found)),
    gold: chosenFor(chosen, "gold"), practice: chosenFor(chosen, "practice"), qualification: chosenFor(chosen, "qualification"),
  });
  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    calls.makeCampaign(plan(event.currentTarget)).then(
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
      <form ref={form} onSubmit={send} onChange={() => setEdits((before) => before + 1)}>
        <div className="form-grid">
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
              {(facets.value?.datasets ?? []).map((one) => <option key={one} value={one}>{isolated(one)}</option>)}
            </select>
          </label>
          <details className="whole only">
            <summary>{t.only}</summary>
            <div className="form-grid">
              {(["editors", "tasks", "topics"] as const).filter((name) => facets.value?.[name].length).map((name) => (
                <label key={name} className="field">
                  <span>{t.onlyThese[name]}</span>
                  <select name={name} multiple size={4}>
                    {(facets.value?.[name] ?? []).map((one) => <option key={one} value={one}>{isolated(one)}</option>)}
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
          <WorkSettings />
          <label className="field whole"><span>{t.consent}</span><textarea name="consent" rows={3} maxLength={4000} /></label>
          <GuidelinesField />
        </div>
        <div className="form-end">
          {error && <Problem error={error} />}
          <Forecast plan={() => (form.current ? plan(form.current) : null)} state={`${edits} ${kind} ${dataset} ${chosen.length} ${chosen.map((one) => one.use).join()}`} />
          <div className="row">
            <button type="submit" className="primary">{t.create}</button>
            <button type="button" onClick={onClose}>{strings.cancel}</button>
          </div>
        </div>
      </form>
    </Dialog>
  );
}

/** How many tasks the form would make; why there are fewer than one may expect; or why there are none. */
function Forecast({ plan, state }: { plan: () => CampaignIn | null; state: string }) {
  const [found, setFound] = useState<CampaignForecastOut | ApiError | null>(null);
  const ask = useEffectEvent((current: () => boolean) => {
    const body = plan();
    if (!body) return;
    calls.forecastCampaign({ ...body, name: body.name || "-", dimension: body.dimension || "overall" }).then(
      (made) => current() && setFound(made),
      (reason: unknown) => current() && setFound(asApiError(reason)),
    );
  });
  useEffect(() => {
    let latest = true;
    const timer = window.setTimeout(() => ask(() => latest), REST_MS);
    return () => {
      latest = false;
      window.clearTimeout(timer);
    };
  }, [state]);
  const t = leadStrings.lead.forecast;
  if (found instanceof Error) return <Problem error={found} />;
  return (
    <div className="forecast" role="status" aria-label={t.title}>
      {found === null ? <span className="muted">{t.waiting}</span> : (
        <>
          <strong>{t.tasks(found.tasks, found.units, found.raters_per_unit)}</strong> {found.checks > 0 && <span>{t.checks(found.checks)}</span>}{" "}
          {found.repeats > 0 && <span>{t.repeats(found.repeats)}</span>}
          {found.reasons.length > 0 && (
            <details>
              <summary>{t.reasons}</summary>
              <ul className="muted">{found.reasons.map((one) => <li key={one.reason}>{one.text}</li>)}</ul>
            </details>
          )}
        </>
      )}
    </div>
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
    min_seconds: number("min_seconds") ?? 0,
    adjudication: (text("adjudication") || "off") as NonNullable<CampaignIn["adjudication"]>,
    adjudication_answers: (text("adjudication_answers") || "hidden") as NonNullable<CampaignIn["adjudication_answers"]>,
    completion_url: text("completion_url") || null,
    completion_codes: codesFrom(form),
    complete_after: number("complete_after") ?? 1,
    consent: text("consent"),
    guidelines: text("guidelines"),
  };
}
