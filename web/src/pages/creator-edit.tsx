import type { Answer } from '../call/call.ts';
import type { Editing } from '../kit/editor.tsx';
import { OperationDialog } from '../kit/operation-form.tsx';

type RosterCreator = Answer<'get_roster_creator'>['data'];

export function EditCreator({ item: creator, isOpen, onClose }: Editing<RosterCreator>) {
  return (
    <OperationDialog
      operation="update_roster_creator"
      title="Edit the creator"
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      params={{ id: creator.id }}
      item={{ ...creator, name: creator.creator_name }}
      fields={[
        'name',
        { name: 'creator_email', label: 'Email', kind: 'email' },
        'status',
        'tags',
        { name: 'note', hint: 'Only your team can see this.' },
      ]}
      shown={['list_roster', 'get_roster_creator']}
      onDone={onClose}
    />
  );
}
