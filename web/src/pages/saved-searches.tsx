import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useAll, useChange } from '../call/use.ts';
import { FormDialog } from '../kit/form.tsx';
import { Button } from '../kit/parts.tsx';
import { useSay } from '../kit/toast.tsx';

const asTexts = (search: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );

/** Named searches, saved for the signed-in user. */
export function SavedSearches() {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const saved = useAll('list_saved_searches', {});
  const save = useChange('save_search', ['list_saved_searches']);
  const forget = useChange('delete_saved_search', ['list_saved_searches']);
  const say = useSay();
  const [isNaming, setNaming] = useState(false);
  const filters = asTexts(search);
  return (
    <section className="row saved" aria-label="Saved searches">
      {saved.data?.map(({ id, name, filters: kept }) => (
        <span key={id} className="chip">
          <Link to="/directory" search={kept} activeOptions={{ exact: true }}>
            {name}
          </Link>
          <button
            type="button"
            className="link"
            aria-label={`Delete ${name}`}
            onClick={() => forget.mutate({ params: { id } }, { onError: (error) => say(error.message) })}
          >
            ✕
          </button>
        </span>
      ))}
      <Button onPress={() => setNaming(true)} isDisabled={Object.keys(filters).length === 0}>
        Save this search
      </Button>
      <FormDialog
        title="Save this search"
        hint="A search with the same name is replaced."
        isOpen={isNaming}
        onClose={() => setNaming(false)}
        action="Save"
        fields={[{ name: 'name', label: 'Search name', isRequired: true }]}
        onSubmit={async (values) => {
          await save.mutateAsync({ body: { name: values.text('name'), filters } });
          setNaming(false);
        }}
      />
    </section>
  );
}
