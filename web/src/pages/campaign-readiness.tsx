import { useFirst } from '../call/use.ts';
import { Checklist } from '../kit/checklist.tsx';
import { deadline } from '../kit/format.ts';
import { Card } from '../kit/parts.tsx';
import type { Campaign } from './campaign-edit.tsx';
import { offerText } from './compensation.ts';
import { useLinkPay } from './link-pay.ts';

/** A draft's checklist: what creators will miss on its page if it opens as it is. None of it is compulsory. */
export function Readiness({ of: campaign }: { of: Campaign }) {
  const { id, description, requirements } = campaign;
  const linkPay = useLinkPay(campaign);
  const briefs = useFirst('list_briefs', { campaign_id: id }, { limit: 1 }).data?.pagination.total;
  const hasNeeds = Object.values(requirements).some(
    (need) => need !== null && !(Array.isArray(need) && need.length === 0),
  );
  const steps = [
    {
      key: 'description',
      isDone: Boolean(description),
      name: 'Description',
      hint: description ? 'It is on the apply page.' : 'Say on the apply page what creators make, and for what.',
    },
    {
      key: 'pay',
      isDone: campaign.compensation !== null,
      name: 'Pay',
      hint: offerText(campaign) ?? 'Creators see no offer until you choose what they get.',
    },
    {
      key: 'deadline',
      isDone: campaign.deadline !== null,
      name: 'Deadline',
      hint: campaign.deadline === null ? 'Without one, applications stay open.' : deadline(campaign.deadline),
    },
    {
      key: 'needs',
      isDone: hasNeeds,
      name: 'What creators need',
      hint: hasNeeds ? 'It is on the apply page.' : 'Platforms, followers or kinds of content; else anyone may apply.',
    },
    {
      key: 'commission',
      isDone: !linkPay.isNothing,
      name: 'Commission of links and codes',
      hint: linkPay.isNothing ? `${linkPay.text} Set them under Terms.` : linkPay.text,
    },
    {
      key: 'brief',
      isDone: (briefs ?? 0) > 0,
      name: 'Brief',
      hint: briefs ? 'It is ready to be sent.' : 'Write one, so that whoever is accepted can begin.',
    },
  ];
  const left = steps.filter(({ isDone }) => !isDone).length;
  return (
    <Card title={left === 0 ? 'Ready to publish' : `Before it opens: ${left} of ${steps.length} left`}>
      {left > 0 && <p className="hint">Creators will miss these on its page. You can publish without them.</p>}
      <Checklist of={steps.map((step) => ({ ...step, name: <strong>{step.name}</strong> }))} />
    </Card>
  );
}
