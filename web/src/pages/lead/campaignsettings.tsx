// A campaign's settings while it is under way: what may change, what may not and why, and who changed what.
import { useState, type FormEvent } from "react";
import * as calls from "../../api/calls";
import { asApiError, type ApiError } from "../../api/client";
import type { CampaignChange, CampaignChanged, CampaignOut } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { Dialog } from "../../parts/dialog";
import { moment } from "../../parts/format";
import { isolated } from "../../parts/isolated";
import { ScrollArea } from "../../parts/scrollarea";
import { Empty, Problem } from "../../parts/status";
import { textOf } from "../../parts/form";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";
import { GuidelinesField } from "./guidelines";
import { CODES, codesFrom, WorkSettings } from "./worksettings";

const NUMBERS = ["weekly_quota", "raters_per_unit", "lease_s", "gold_rate", "repeat_rate", "min_seconds", "complete_after"] as const;
const TEXTS = ["name", "consent", "guidelines", "completion_url", "adjudication", "adjudication_answers"] as const;

/** What a campaign has that was made before there was such a setting. */
const DEFAULTS: Record<string, string> = { adjudication: "off", adjudication_answers: "hidden", min_seconds: "0", complete_after: "1" };

/** A setting in words; empty where there is none. */
function textOfSetting(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What a campaign has now, as the form shows it. */
export function settingsOf(campaign: CampaignOut): Record<string, string> {
  const units = campaign.units ? Math.round(campaign.slots / campaign.units) : 1;
  const kept = Object.fromEntries([...NUMBERS, ...TEXTS].map((name) => [name, textOfSetting(campaign.settings[name]) || (DEFAULTS[name] ?? "")]));
  const codes = Object.entries((campaign.settings.completion_codes ?? {}) as Record<string, string>).map(([name, code]) => [`code_${name}`, code]);
  return { ...kept, ...Object.fromEntries(codes) as Record<string, string>, name: campaign.name, raters_per_unit: kept.raters_per_unit || String(units) };
}

/** Only what differs from what was there is sent. */
export function changesFrom(form: FormData, before: Record<string, string>): CampaignChange {
  const changes: Record<string, string | number | Record<string, string>> = {};
  for (const name of TEXTS) {
    const value = textOf(form, name).replaceAll("\r\n", "\n");
    if (form.has(name) && value.trim() !== before[name]?.trim()) changes[name] = value.trim();
  }
  for (const name of NUMBERS) {
    const value = textOf(form, name).trim();
    if (value !== "" && Number(value) !== Number(before[name])) changes[name] = Number(value);
  }
  const codes = codesFrom(form);
  if (CODES.some((name) => (codes[name] ?? "") !== (before[`code_${name}`] ?? ""))) changes.completion_codes = codes;
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
    <Dialog title={t.settings} onClose={onClose} wide>
      <form onSubmit={send}>
        <div className="form-grid">
          <label className="field whole"><span>{t.name}</span><input name="name" data-first required maxLength={200} defaultValue={before.name} /></label>
          {number("weekly_quota", t.quota, 1, 100_000, "1")}
          {number("raters_per_unit", t.perUnit, 1, 50, "1", t.perUnitChange)}
          {number("lease_s", t.lease, 10, 86_400, "1", t.leaseChange)}
          {number("repeat_rate", t.repeatRate, 0, 0.5, "0.01")}
          {number("gold_rate", t.goldRate, 0, 0.5, "0.01", hasGold ? "" : t.noGold, !hasGold)}
          <WorkSettings before={before} />
          <label className="field whole">
            <span>{t.consent}</span>
            <textarea name="consent" rows={3} maxLength={4000} defaultValue={before.consent} />
            <small className="muted">{t.consentChange}</small>
          </label>
          <GuidelinesField value={before.guidelines} />
          <Fixed campaign={campaign} />
        </div>
        <div className="form-end">
          {error && <Problem error={error} />}
          <div className="row">
            <button type="submit" className="primary">{t.save}</button>
            <button type="button" onClick={onClose}>{strings.cancel}</button>
          </div>
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
      <dl>{rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd><Bdi>{value}</Bdi></dd></div>)}</dl>
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
    <ScrollArea label={t.history}>
      <table className="changes">
        <thead><tr>{[t.when, t.who, t.what, t.from, t.to].map((text) => <th key={text} scope="col">{text}</th>)}</tr></thead>
        <tbody>
          {campaign.history.flatMap((entry) =>
            entry.kind !== "settings" ? [<Excluded key={`${entry.at} ${entry.rater_id}`} entry={entry} />] : Object.entries(entry.changes).map(([name, { old, new: now }]) => (
              <tr key={`${entry.at} ${name}`}>
                <td className="number">{moment(entry.at)}</td>
                <td><Bdi>{entry.by}</Bdi></td>
                <th scope="row">{t.settingNames[name] ?? name}</th>
                <td><Bdi>{short(old)}</Bdi></td>
                <td><Bdi>{short(now)}</Bdi></td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </ScrollArea>
  );
}

/** A rater's votes that were excluded, or included again: not a setting, but a change of what counts. */
function Excluded({ entry }: { entry: CampaignChanged }) {
  const t = leadStrings.lead;
  const rater = isolated(entry.rater || entry.rater_id || strings.none);
  const text = entry.kind === "excluded" ? t.excludedEvent(rater, entry.since ? moment(entry.since) : "") : t.includedEvent(rater);
  return (
    <tr>
      <td className="number">{moment(entry.at)}</td>
      <td><Bdi>{entry.by}</Bdi></td>
      <th scope="row">{text}</th>
      <td colSpan={2}><Bdi>{entry.reason || strings.none}</Bdi></td>
    </tr>
  );
}
