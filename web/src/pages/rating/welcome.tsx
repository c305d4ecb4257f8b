// Before the first task: consent, guidelines, keys.
import { useEffect, useRef, useState } from "react";
import * as calls from "../../api/calls";
import { asApiError, type ApiError } from "../../api/client";
import type { RaterCampaign } from "../../api/schema";
import { fill, messages } from "../../languages";
import { Bdi } from "../../parts/bdi";
import { LanguageSelect } from "../../parts/languageselect";
import { Prose } from "../../parts/prose";
import { Problem } from "../../parts/status";
import { KeyTable } from "../../rate/keytable";

type Step = "consent" | "guidelines" | "keys";

interface Props {
  campaign: RaterCampaign;
  onReady: () => void;
}

export function Welcome({ campaign, onReady }: Props) {
  const asked = campaign.stage === "consent";
  const steps: Step[] = asked ? ["consent", "guidelines", "keys"] : ["guidelines", "keys"];
  const [at, setAt] = useState(0);
  const [agreed, setAgreed] = useState(!asked);
  const [error, setError] = useState<ApiError | null>(null);
  const t = messages.start;
  const step = steps[at] ?? "keys";
  const page = useRef<HTMLElement>(null);
  // Who cannot see the page change hears the new heading.
  useEffect(() => page.current?.querySelector("h1")?.focus(), [at]);
  function begin(): void {
    if (!asked) onReady();
    else calls.giveConsent(campaign.campaign_id).then(onReady, (reason: unknown) => setError(asApiError(reason)));
  }
  return (
    <main ref={page} className="narrow card welcome" data-step={step}>
      <div className="corner"><LanguageSelect /></div>
      <p className="muted"><Bdi>{campaign.name}</Bdi> · {fill(t.step, { step: at + 1, total: steps.length })}</p>
      {step === "consent" && (
        <>
          <h1 tabIndex={-1}>{t.consent}</h1>
          <Prose text={campaign.consent || t.consentDefault} />
          <label className="check">
            <input type="checkbox" checked={agreed} onChange={(event) => setAgreed(event.target.checked)} />
            {t.agree}
          </label>
        </>
      )}
      {step === "guidelines" && (
        <>
          <h1 tabIndex={-1}>{t.guidelines}</h1>
          <Prose text={campaign.guidelines || t.guidelinesDefault} />
        </>
      )}
      {step === "keys" && (
        <>
          <h1 tabIndex={-1}><span className="with-keys">{t.keys}</span><span className="touch-only">{t.controls}</span></h1>
          <p className="with-keys">{t.keysIntro}</p>
          <KeyTable kind={campaign.kind} />
          <p className="muted">{t.practice}</p>
        </>
      )}
      {error && <Problem error={error} />}
      <div className="row">
        {at > 0 && <button type="button" onClick={() => setAt(at - 1)}>{t.back}</button>}
        {at < steps.length - 1 ? (
          <button type="button" className="primary" disabled={!agreed} onClick={() => setAt(at + 1)}>{t.next}</button>
        ) : (
          <button type="button" className="primary" onClick={begin}>{t.begin}</button>
        )}
      </div>
    </main>
  );
}
