import { useState } from 'react';
import { useAll, useChange } from '../call/use.ts';
import { type Field, FormDialog } from '../kit/form.tsx';
import { counted, number } from '../kit/format.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Button } from '../kit/parts.tsx';
import { useSay } from '../kit/toast.tsx';
import type { SearchParameters } from './directory-search.ts';

const NEW = 'new';
/** The most creators that one call takes. */
const AT_ONCE = 1_000;

interface AddToListProps {
  pks: readonly number[];
  onDone: () => void;
}

/** Puts creators on one of the brand's lists, or on a new one. */
export function AddToList({ pks, onDone }: AddToListProps) {
  const lists = useAll('list_lists', {});
  const invalidates = ['list_lists', 'list_listed_creators', 'search_creators'] as const;
  const make = useChange('create_list', invalidates);
  const add = useChange('add_to_list', invalidates);
  const say = useSay();
  const [isOpen, setOpen] = useState(false);
  const options = (lists.data ?? []).map(({ id, name }) => [id, name] as const);
  const name: Field = { name: 'name', label: 'Name of the new list' };
  const choice: Field = {
    name: 'list',
    label: 'List',
    kind: 'select',
    isRequired: true,
    options: [...options, [NEW, 'A new list']],
  };
  async function put(choice: string, newName: string) {
    const id = choice === NEW ? (await make.mutateAsync({ body: { name: newName } })).data.id : choice;
    let addedCount = 0;
    for (let i = 0; i < pks.length; i += AT_ONCE) {
      const { data } = await add.mutateAsync({ params: { id }, body: { pks: pks.slice(i, i + AT_ONCE) } });
      addedCount += data.added;
    }
    const knownCount = pks.length - addedCount;
    const label = options.find(([one]) => one === id)?.[1] ?? newName;
    say(`${number(addedCount)} added to “${label}”.${knownCount > 0 ? ` ${number(knownCount)} already on it.` : ''}`);
    setOpen(false);
    onDone();
  }
  return (
    <>
      <Button needs="add_to_list" isDisabled={pks.length === 0} onPress={() => setOpen(true)}>
        Add to a list
      </Button>
      <FormDialog
        title={pks.length === 1 ? 'Add to a list' : `Add ${number(pks.length)} creators to a list`}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        action="Add"
        fields={[choice, { ...name, hint: 'Only for a new list.' }]}
        onSubmit={(values) => put(values.text('list'), values.text('name'))}
      />
    </>
  );
}

/** The most creators that a list takes. */
const MAX_CREATORS = 100_000;

/** Puts every match of a search on a new list. */
export function ListOfAll({ search, total }: { search: SearchParameters; total: number }) {
  const say = useSay();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button needs="create_list" isDisabled={total === 0 || total > MAX_CREATORS} onPress={() => setOpen(true)}>
        {total === 0 ? 'New list' : `New list of ${counted(total, 'creator')}`}
      </Button>
      <OperationDialog
        operation="create_list"
        title={`New list of ${counted(total, 'creator')}`}
        hint="The list keeps the creators found now; later matches are not added."
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        action="Create"
        fields={[{ name: 'name', label: 'Name of the list' }]}
        fixed={{ search }}
        shown={['list_lists']}
        onDone={({ data }) => {
          say(`${number(data.creators)} creators are on “${data.name}”.`);
          setOpen(false);
        }}
      />
    </>
  );
}
