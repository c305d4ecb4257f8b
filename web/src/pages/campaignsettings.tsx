// A campaign's settings while it is under way: what may change, what may not and why, and who changed what.
import { useState, type FormEvent } from "react";
import * as calls from "../api/calls";
import { asApiError, type ApiError } from "../api/client";
import type { CampaignChange, CampaignOut } from "../api/schema";
import { Dialog } from "../parts/dialog";
import { moment } from "../parts/format";
import { Empty, Problem } from "../parts/status";
import { textOf } from "../parts/form";
import { strings } from "../strings";

const NUMBERS = ["weekly_quota", "raters_per_unit", "lease_s", "gold_rate", "repeat_rate"] as const;
const TEXTS = ["name", "consent", "guidelines", "completion_url"] as const;

/** A setting in words; empty where there is none. */
function textOfSetting(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What a campaign has now, as the form shows it. */
export function settingsOf(campaign: CampaignOut): Record<string, string> {
  const units = campaign.units ? Math.round(campaign.slots / campaign.units) : 1;
  const kept = Object.fromEntries([...NUMBERS, ...TEXTS].map((name) => [name, textOfSetting(campaign.settings[name])]));
  return { ...kept, name: campaign.name, raters_per_unit: kept.raters_per_unit || String(units) };
}

/** Only what differs from what was there is sent. */
export function changesFrom(form: FormData, before: Record<string, string>): CampaignChange {
  const changes: Record<string, string | number> = {};
  for (const name of TEXTS) {
    const value = textOf(form, name).replaceAll("\r\n", "\n");
    if (form.has(name) && value.trim() !== before[name]?.trim()) changes[name] = value.trim();
  }
  for (const name of NUMBERS) {
    const value = textOf(form, name).trim();
    if (value !== "" && Number(value) !== Number(before[name])) changes[name] = Number(value);
  }
  return changes;
}

export function SettingsDialog({ campaign, onClose, onDone }: { campaign: CampaignOut; onClose: () => void; onDone: () => void }) {
  const [before] = useState(() => settingsOf(campaign));
  const [error, setError] = useState<ApiError | null>(null);
  const t = strings.lead;
  const hasGold = Array.isArray(campaign.settings.gold) && campaign.settings.gold.length > 0;
  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const changes = changesFrom(new FormData(event.currentTarget), before);
    if (!Object.keys(changes).length) return onClose();
    calls.changeCampaign(campaign.campaign_id, changes).then(onDone, (reason: unknown) => setError(asApiError(reason)));
  }
  const number = (name: string, label: string, least: number, most: number, step: string, hint = "", disabled = false) => (
    <label className="field">
      <span>{label}</span>
      <input type="number" name={name} min={least} max={most} step={step} defaultValue={before[name]} disabled={disabled} />
      {hint && <small className="muted">{hint}</small>}
    </label>
  );
  return (
    <Dialog title={t.settings} onClose={onClose}>
      <form onSubmit={send} className="form-grid">
        <label className="field whole"><span>{t.name}</span><input name="name" data-first required maxLength={200} defaultValue={before.name} /></label>
        {number("weekly_quota", t.quota, 1, 100_000, "1")}
        {number("raters_per_unit", t.perUnit, 1, 50, "1", t.perUnitChange)}
        {number("lease_s", t.lease, 10, 86_400, "1", t.leaseChange)}
        {number("repeat_rate", t.repeatRate, 0, 0.5, "0.01")}
        {number("gold_rate", t.goldRate, 0, 0.5, "0.01", hasGold ? "" : t.noGold, !hasGold)}
        <label className="field">
          <span>{t.completion}</span>
          <input name="completion_url" maxLength={1000} pattern="https://.+" title={t.completionHint} defaultValue={before.completion_url} />
          <small className="muted">{t.completionHint}</small>
        </label>
        <label className="field whole">
          <span>{t.consent}</span>
          <textarea name="consent" rows={3} maxLength={4000} defaultValue={before.consent} />
          <small className="muted">{t.consentChange}</small>
        </label>
        <label className="field whole"><span>{t.guidelines}</span><textarea name="guidelines" rows={4} maxLength={20000} defaultValue={before.guidelines} /></label>
        <Fixed campaign={campaign} />
        {error && <div className="whole"><Problem error={error} /></div>}
        <div className="row whole">
          <button type="submit" className="primary">{t.save}</button>
          <button type="button" onClick={onClose}>{strings.cancel}</button>
        </div>
      </form>
    </Dialog>
  );
}

/** What was fixed when the campaign was made, and why. */
function Fixed({ campaign }: { campaign: CampaignOut }) {
  const t = strings.lead;
  const list = (name: string) => {
    const value = campaign.settings[name];
    return Array.isArray(value) && value.length ? value.join(", ") : strings.all;
  };
  const many = (name: string) => {
    const value = campaign.settings[name];
    return String(Array.isArray(value) ? value.length : 0);
  };
  const rows: [string, string][] = [
    [t.kind, strings.home.kinds[campaign.kind] ?? campaign.kind],
    [t.dimension, textOfSetting(campaign.settings.dimension) || "overall"],
    [t.datasets, list("datasets")],
    [t.editors, list("editors")],
    [t.uses.practice, many("practice")],
    [t.uses.qualification, many("qualification")],
    [t.uses.gold, many("gold")],
  ];
  return (
    <section className="whole fixed" aria-label={t.fixed}>
      <h3>{t.fixed}</h3>
      <p className="muted">{t.fixedWhy}</p>
      <dl>{rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
    </section>
  );
}

export function History({ campaign }: { campaign: CampaignOut }) {
  const t = strings.lead;
  const short = (value: unknown) => {
    const text = textOfSetting(value) || strings.none;
    return text.length > 80 ? `${text.slice(0, 80)}…` : text;
  };
  if (!campaign.history.length) return <Empty>{t.noHistory}</Empty>;
  return (
    <div className="scroll">
      <table className="changes">
        <thead><tr>{[t.when, t.who, t.what, t.from, t.to].map((text) => <th key={text} scope="col">{text}</th>)}</tr></thead>
        <tbody>
          {campaign.history.flatMap((entry) =>
            Object.entries(entry.changes).map(([name, { old, new: now }]) => (
              <tr key={`${entry.at} ${name}`}>
                <td className="number">{moment(entry.at)}</td>
                <td>{entry.by}</td>
                <th scope="row">{t.settingNames[name] ?? name}</th>
                <td>{short(old)}</td>
                <td>{short(now)}</td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </div>
  );
}
