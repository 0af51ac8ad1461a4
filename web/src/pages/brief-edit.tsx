import type { Answer } from '../call/call.ts';
import type { Editing } from '../kit/editor.tsx';
import { OperationDialog } from '../kit/operation-form.tsx';

export const CONTENT_FIELDS = [
  { name: 'content_type', hint: 'For example, “reel”.' },
  { name: 'platform', isBeside: true },
  ...(['due_date', 'instructions', 'talking_points', 'do_not', 'mood_board_urls'] as const),
] as const;

/** Edits a brief; the recipients of a sent one cannot be changed. */
export function EditBrief({ item: brief, isOpen, onClose }: Editing<Answer<'get_brief'>['data']>) {
  const isDraft = brief.status === 'draft';
  return (
    <OperationDialog
      operation="update_brief"
      title="Edit the brief"
      hint={
        isDraft
          ? undefined
          : 'This brief has been sent. Recipients will see your changes; the creator can no longer be changed.'
      }
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      params={{ id: brief.id }}
      item={brief}
      fields={['title', ...(isDraft ? (['creator_email'] as const) : []), 'campaign_id', ...CONTENT_FIELDS]}
      omits={isDraft ? ['status'] : ['status', 'creator_email']}
      shown={['list_briefs', 'get_brief']}
      onDone={onClose}
    />
  );
}
