import { compensationText } from '../../../src/kit/values/compensation-text.ts';
import { toSections } from '../../../src/workflow/contracts/sections.ts';
import type { Answer } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { day } from '../kit/format.ts';
import { toDay } from '../kit/last-day.ts';
import { TextPreview } from './contract-document.tsx';

/** A draft as its creator will see it: the words of the signing page, from the draft's own terms. */
export function DraftPreview({ of: contract }: { of: Answer<'get_contract'>['data'] }) {
  const { campaign_id, creator_email, creator_name, compensation, expires_at, title } = contract;
  const brand = useCall('get_session').data?.data.brand;
  const isOfCampaign = campaign_id !== null;
  const campaign = useCall('get_campaign', { params: { id: campaign_id ?? '' } }, { enabled: isOfCampaign }).data?.data;
  if (!brand || (isOfCampaign && campaign?.id !== campaign_id)) return null;
  const sections = toSections({
    ...contract,
    brand,
    creator: { email: creator_email ?? '', name: creator_name },
    campaign: isOfCampaign && campaign ? campaign : null,
    compensation: compensation && { type: compensation.type, label: compensationText(compensation) },
  });
  return (
    <section>
      <h3>What the creator will sign</h3>
      <TextPreview>
        <div>
          <p className="muted">Contract with {brand.name}</p>
          <p className="strong">{title}</p>
          {expires_at && <p>Sign by {day(toDay(expires_at))}.</p>}
        </div>
        {sections.map(({ heading, text, lines }) => (
          <div key={heading}>
            <h4>{heading}</h4>
            {text !== undefined && <p className="biography">{text}</p>}
            {lines && (
              <ul className="points">
                {lines.map((line, i) => (
                  <li key={`${line} ${i}`}>{line}</li>
                ))}
              </ul>
            )}
          </div>
        ))}
      </TextPreview>
    </section>
  );
}
