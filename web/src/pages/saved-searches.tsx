import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Form } from '../kit/form.tsx';
import { Button } from '../kit/parts.tsx';

const NAME = 'rollcall-searches';
interface Saved {
  name: string;
  search: Record<string, unknown>;
}

function read(): Saved[] {
  const kept: unknown = JSON.parse(localStorage.getItem(NAME) ?? '[]');
  return Array.isArray(kept) ? kept : [];
}

/** Searches by name, kept in this browser. */
export function SavedSearches() {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const [saved, setSaved] = useState(read);
  const [isNaming, setNaming] = useState(false);
  function keep(next: Saved[]) {
    localStorage.setItem(NAME, JSON.stringify(next));
    setSaved(next);
  }
  return (
    <section className="row" aria-label="Saved searches">
      {saved.map(({ name, search: kept }) => (
        <span key={name} className="chip">
          <Link to="/directory" search={kept}>
            {name}
          </Link>
          <button
            type="button"
            className="link"
            aria-label={`Forget ${name}`}
            onClick={() => keep(saved.filter((one) => one.name !== name))}
          >
            ✕
          </button>
        </span>
      ))}
      {!isNaming && <Button onPress={() => setNaming(true)}>Save this search</Button>}
      {isNaming && (
        <Form
          action="Save"
          onCancel={() => setNaming(false)}
          fields={[{ name: 'name', label: 'Name of the search', isRequired: true }]}
          onSubmit={async (values) => {
            keep([...saved.filter(({ name }) => name !== values.text('name')), { name: values.text('name'), search }]);
            setNaming(false);
          }}
        />
      )}
    </section>
  );
}
