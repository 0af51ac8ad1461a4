import type { Answer, Body } from '../call/call.ts';
import { useChange } from '../call/use.ts';
import { changed, isEmpty } from '../kit/changed.ts';
import type { Editing } from '../kit/editor.tsx';
import { listEnum } from '../kit/every.ts';
import { type Field, FormDialog, type Values } from '../kit/form.tsx';
import { words } from '../kit/format.ts';

export const STATES = listEnum<NonNullable<Body<'update_roster_creator'>['status']>>()(['active', 'paused', 'removed']);
type Record = Answer<'get_roster_creator'>['data'];

/** `hired` records how a creator joined the roster: it can be left, but not chosen. */
const listStates = ({ status }: Record) => (status === 'hired' ? (['hired', ...STATES] as const) : STATES);

const buildFields = (creator: Record): Field[] => [
  { name: 'name', label: 'Name', value: creator.creator_name },
  {
    name: 'creator_email',
    label: 'E-mail',
    kind: 'email',
    value: creator.creator_email,
    isRequired: creator.creator_email !== null,
  },
  {
    name: 'status',
    label: 'Status',
    kind: 'select',
    isRequired: true,
    value: creator.status,
    options: listStates(creator).map((state) => [state, words(state)]),
  },
  { name: 'tags', label: 'Tags', hint: 'Separate with commas.', value: creator.tags.join(', ') },
  { name: 'note', label: 'Note', kind: 'textarea', value: creator.note, hint: 'Only people in your brand see it.' },
];

function changeIn(values: Values, creator: Record) {
  const { status, ...next } = {
    name: values.orNull('name'),
    creator_email: values.some('creator_email') ?? null,
    status: values.choice('status', listStates(creator)),
    tags: values.list('tags'),
    note: values.orNull('note'),
  };
  const { creator_email, ...rest } = changed(next, { ...creator, name: creator.creator_name });
  return {
    ...rest,
    ...(creator_email ? { creator_email } : {}),
    ...(status === 'hired' || status === creator.status ? {} : { status }),
  };
}

export function EditCreator({ item: creator, isOpen, onClose }: Editing<Record>) {
  const update = useChange('update_roster_creator', ['list_roster', 'get_roster_creator']);
  return (
    <FormDialog
      title="Edit the creator"
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      needs="update_roster_creator"
      fields={buildFields(creator)}
      onSubmit={async (values) => {
        const body = changeIn(values, creator);
        if (!isEmpty(body)) await update.mutateAsync({ params: { id: creator.id }, body });
        onClose();
      }}
    />
  );
}
