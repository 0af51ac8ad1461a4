import type { Answer } from '../call/call.ts';
import { useChange } from '../call/use.ts';
import { changed, isEmpty, toDay } from '../kit/changed.ts';
import type { Editing } from '../kit/editor.tsx';
import { listEnum } from '../kit/every.ts';
import { type Field, FormDialog, type Group, type Values } from '../kit/form.tsx';
import { words } from '../kit/format.ts';
import { compensationFields, compensationIn } from './compensation.ts';
import { PLATFORMS, platformName } from './platforms.ts';

export const STATES = listEnum<Answer<'get_campaign'>['data']['status']>()(['active', 'draft', 'paused', 'completed']);
export const DEADLINE_HINT = 'Applications close at the end of this day, in the brand’s time zone.';
export type Campaign = Answer<'get_campaign'>['data'];

const buildFields = (campaign: Campaign): Field[] => [
  { name: 'name', label: 'Name', isRequired: true, value: campaign.title },
  {
    name: 'status',
    label: 'Status',
    kind: 'select',
    isRequired: true,
    value: campaign.status,
    options: STATES.map((state) => [state, words(state)]),
  },
  { name: 'type', label: 'Type', hint: 'For example, “ugc”.', value: campaign.campaign_type },
  { name: 'deadline', label: 'Deadline', kind: 'date', value: toDay(campaign.deadline), hint: DEADLINE_HINT },
  { name: 'description', label: 'Description', kind: 'textarea', value: campaign.description },
  ...compensationFields('Compensation', campaign.compensation),
];

const buildGroups = ({ requirements }: Campaign): Group[] => [
  {
    key: 'platforms',
    legend: 'Platforms',
    fields: PLATFORMS.map((one) => ({
      name: one,
      label: platformName(one),
      kind: 'checkbox',
      value: requirements.platforms?.includes(one) ?? false,
    })),
  },
  {
    key: 'requirements',
    legend: 'Requirements',
    fields: [
      {
        name: 'min_followers',
        label: 'Minimum followers',
        kind: 'number',
        step: '1',
        value: requirements.min_followers,
      },
      {
        name: 'content_types',
        label: 'Content type',
        hint: 'Separate with commas.',
        value: requirements.content_types?.join(', ') ?? null,
      },
      {
        name: 'deliverables_count',
        label: 'Number of deliverables',
        kind: 'number',
        step: '1',
        value: requirements.deliverables_count,
      },
    ],
  },
];

/** An empty list becomes null, as if it had never been set. */
const emptyToNull = <T,>(list: readonly T[] | null) => (list && list.length > 0 ? [...list] : null);

function requirementsIn(values: Values, { requirements: was }: Campaign) {
  const next = {
    platforms: emptyToNull(PLATFORMS.filter((one) => values.isChecked(one))),
    min_followers: values.someNumber('min_followers') ?? null,
    content_types: emptyToNull(values.list('content_types')),
    deliverables_count: values.someNumber('deliverables_count') ?? null,
  };
  const platforms = emptyToNull(PLATFORMS.filter((one) => was.platforms?.includes(one)));
  return changed(next, { ...was, platforms, content_types: emptyToNull(was.content_types) });
}

function changeIn(values: Values, campaign: Campaign) {
  const next = {
    name: values.text('name'),
    status: values.choice('status', STATES),
    type: values.orNull('type'),
    deadline: values.orNull('deadline'),
    description: values.orNull('description'),
    compensation: compensationIn(values),
  };
  const { title: name, campaign_type: type } = campaign;
  const requirements = requirementsIn(values, campaign);
  return {
    ...changed(next, { ...campaign, name, type, deadline: toDay(campaign.deadline) }),
    ...(isEmpty(requirements) ? {} : { requirements }),
  };
}

export function EditCampaign({ item: campaign, isOpen, onClose }: Editing<Campaign>) {
  const update = useChange('update_campaign', ['list_campaigns', 'get_campaign']);
  return (
    <FormDialog
      title="Edit the campaign"
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      fields={buildFields(campaign)}
      groups={buildGroups(campaign)}
      onSubmit={async (values) => {
        const body = changeIn(values, campaign);
        if (!isEmpty(body)) await update.mutateAsync({ params: { id: campaign.id }, body });
        onClose();
      }}
    />
  );
}
