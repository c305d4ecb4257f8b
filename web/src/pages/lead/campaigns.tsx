// The lead's campaigns: how far each is, and a form for a new one.
import { useState } from "react";
import * as calls from "../../api/calls";
import { useInterval } from "../../api/useloaded";
import { usePages } from "../../api/usepages";
import type { CampaignOut } from "../../api/schema";
import { Bdi } from "../../parts/bdi";
import { Meter } from "../../parts/fields";
import { count } from "../../parts/format";
import { isolated } from "../../parts/isolated";
import { Link } from "../../parts/link";
import { ScrollArea } from "../../parts/scrollarea";
import { ShowMore } from "../../parts/showmore";
import { Empty, WhenLoaded } from "../../parts/status";
import { strings } from "../../strings";
import { leadStrings } from "../../strings_lead";
import { NewCampaign } from "./newcampaign";

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
            <ScrollArea label={t.title}>
              <table>
                <thead>
                  <tr>
                    {[t.name, t.kind, t.state, t.progress, t.votes, t.raters, t.held, t.skipped].map((text) => <th key={text} scope="col">{text}</th>)}
                  </tr>
                </thead>
                <tbody>
                  {campaigns.map((one) => (
                    <tr key={one.campaign_id}>
                      <th scope="row"><Link to={`/lead/${encodeURIComponent(one.campaign_id)}`}><Bdi>{one.name}</Bdi></Link></th>
                      <td>{strings.home.kinds[one.kind]}</td>
                      <td><StateBadge campaign={one} /></td>
                      <td><Meter label={`${t.progress}: ${isolated(one.name)}`} value={one.votes} most={one.slots} /></td>
                      <td className="number">{count(one.votes)} / {count(one.slots)}</td>
                      <td className="number">{one.raters}</td>
                      <td className="number">{one.held}</td>
                      <td className="number">{one.skipped}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </ScrollArea>
          ) : (
            <Empty>{leadStrings.empty.campaigns}</Empty>
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
