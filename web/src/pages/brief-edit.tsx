import type { Answer } from '../call/call.ts';
import { useChange } from '../call/use.ts';
import { changed, isEmpty } from '../kit/changed.ts';
import type { Editing } from '../kit/editor.tsx';
import { campaignField, creatorField, type Field, FormDialog, type Values } from '../kit/form.tsx';
import { platformField, platformIn } from './platforms.ts';

type Brief = Answer<'get_brief'>['data'];

const buildFields = (brief: Brief): Field[] => [
  { name: 'title', label: 'Title', isRequired: true, value: brief.title },
  ...(brief.status === 'draft' ? [{ ...creatorField(brief.creator_email), isRequired: false }] : []),
  campaignField(brief.campaign_id),
  { name: 'content_type', label: 'Content type', hint: 'For example, “reel”.', value: brief.content_type },
  platformField('platform', brief.platform),
  { name: 'instructions', label: 'Instructions', kind: 'textarea', value: brief.instructions },
  {
    name: 'talking_points',
    label: 'Talking points',
    kind: 'textarea',
    hint: 'One per line.',
    value: brief.talking_points.join('\n'),
  },
  { name: 'do_not', label: 'What to avoid', kind: 'textarea', hint: 'One per line.', value: brief.do_not.join('\n') },
  {
    name: 'mood_board_urls',
    label: 'Mood board',
    kind: 'textarea',
    hint: 'URLs, one per line.',
    value: brief.mood_board_urls.join('\n'),
  },
  { name: 'due_date', label: 'Due date', kind: 'date', value: brief.due_date },
];

function changeIn(values: Values, brief: Brief) {
  const next = {
    title: values.text('title'),
    campaign_id: values.orNull('campaign_id'),
    content_type: values.orNull('content_type'),
    platform: platformIn(values, 'platform'),
    instructions: values.orNull('instructions'),
    talking_points: values.lines('talking_points'),
    do_not: values.lines('do_not'),
    mood_board_urls: values.lines('mood_board_urls'),
    due_date: values.orNull('due_date'),
  };
  const creator_email = brief.status === 'draft' ? values.orNull('creator_email') : brief.creator_email;
  return changed({ ...next, creator_email }, brief);
}

/** Edits a brief; the recipients of a sent one cannot be changed. */
export function EditBrief({ item: brief, isOpen, onClose }: Editing<Brief>) {
  const update = useChange('update_brief', ['list_briefs', 'get_brief']);
  const hint =
    brief.status === 'draft'
      ? undefined
      : 'This brief has been sent. Recipients will see your changes; the creator can no longer be changed.';
  return (
    <FormDialog
      title="Edit the brief"
      hint={hint}
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      fields={buildFields(brief)}
      onSubmit={async (values) => {
        const body = changeIn(values, brief);
        if (!isEmpty(body)) await update.mutateAsync({ params: { id: brief.id }, body });
        onClose();
      }}
    />
  );
}
