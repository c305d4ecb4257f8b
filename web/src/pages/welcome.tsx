// Before the first task: consent, guidelines, keys.
import { useState } from "react";
import * as calls from "../api/calls";
import type { ApiError } from "../api/client";
import { asApiError } from "../api/use";
import type { RaterCampaign } from "../api/wire";
import { Prose } from "../parts/prose";
import { Problem } from "../parts/state";
import { KeyTable } from "../rate/keytable";
import { strings } from "../strings";

const STEPS = 3;

export function Welcome({ campaign, onAgreed }: { campaign: RaterCampaign; onAgreed: () => void }) {
  const [step, setStep] = useState(1);
  const [agreed, setAgreed] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const t = strings.start;
  function begin(): void {
    calls.giveConsent(campaign.campaign_id).then(onAgreed, (reason: unknown) => setError(asApiError(reason)));
  }
  return (
    <main className="narrow card welcome" data-step={step}>
      <p className="muted">{campaign.name} · {t.step(step, STEPS)}</p>
      {step === 1 && (
        <>
          <h1>{t.consent}</h1>
          <Prose text={campaign.consent || t.consentDefault} />
          <label className="check">
            <input type="checkbox" checked={agreed} onChange={(event) => setAgreed(event.target.checked)} />
            {t.agree}
          </label>
        </>
      )}
      {step === 2 && (
        <>
          <h1>{t.guidelines}</h1>
          <Prose text={campaign.guidelines || t.guidelinesDefault} />
        </>
      )}
      {step === 3 && (
        <>
          <h1>{t.keys}</h1>
          <p>{t.keysLead}</p>
          <KeyTable kind={campaign.kind} />
          <p>{t.practice}</p>
        </>
      )}
      {error && <Problem error={error} />}
      <div className="row">
        {step > 1 && <button type="button" onClick={() => setStep(step - 1)}>{t.back}</button>}
        {step < STEPS ? (
          <button type="button" className="primary" disabled={!agreed} onClick={() => setStep(step + 1)}>{t.next}</button>
        ) : (
          <button type="button" className="primary" onClick={begin}>{t.begin}</button>
        )}
      </div>
    </main>
  );
}
