import type { Answer } from '../call/call.ts';
import type { Editing } from '../kit/editor.tsx';
import { OperationDialog } from '../kit/operation-form.tsx';
import { PAY_FIELDS } from './compensation.ts';

export type Campaign = Answer<'get_campaign'>['data'];

const [PAY, ...PAID] = PAY_FIELDS;

/** Follow the name in the form that creates one; it folds the others away. */
export const FIRST_FIELDS = [
  { name: 'description', hint: 'Shown on the apply page.' },
  { ...PAY, label: 'Compensation' },
  ...PAID,
  { name: 'deadline', hint: 'Applications close at the end of this day, in the brand’s time zone.' },
] as const;

const CAMPAIGN_FIELDS = [
  ...FIRST_FIELDS,
  { name: 'requirements.platforms', label: 'Platforms' },
  { name: 'requirements.min_followers', label: 'Minimum followers' },
  { name: 'requirements.content_types', label: 'Content type' },
  { name: 'requirements.deliverables_count', label: 'Deliverables', isBeside: true },
  { name: 'type', label: 'Campaign type', hint: 'For example, “ugc”.' },
] as const;

export function EditCampaign({ item: campaign, isOpen, onClose }: Editing<Campaign>) {
  return (
    <OperationDialog
      operation="update_campaign"
      title="Edit the campaign"
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      params={{ id: campaign.id }}
      item={{ ...campaign, name: campaign.title, type: campaign.campaign_type }}
      fields={['name', 'status', ...CAMPAIGN_FIELDS]}
      merges={['requirements']}
      omits={['terms']}
      shown={['list_campaigns', 'get_campaign']}
      onDone={onClose}
    />
  );
}
