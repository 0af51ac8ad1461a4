import { useNavigate, useRouterState, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Menu } from './menu.tsx';

/** Filters and order of a page under a name. */
interface View {
  name: string;
  query: string;
}

const keyFor = (path: string) => `views ${path}`;

function readViews(path: string): View[] {
  const lines = localStorage.getItem(keyFor(path))?.split('\n').filter(Boolean) ?? [];
  return lines.map((line) => {
    const [name = '', query = ''] = line.split('\t');
    return { name, query };
  });
}

/** Saves the filters of this page under a name, for this person in this browser, and shows saved ones again. */
export function Views({ names }: { names: readonly string[] }) {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const [views, setViews] = useState(() => readViews(path));
  const activeFilters = Object.entries(search).filter(
    ([name, value]) => names.includes(name) && String(value ?? '') !== '',
  );
  const query = String(new URLSearchParams(activeFilters.map(([name, value]) => [name, String(value)])));
  const current = views.find((one) => one.query === query);
  const show = (of: string) =>
    void navigate({ to: '.', search: Object.fromEntries(new URLSearchParams(of)), replace: true });
  /** Starts from what is stored now, because another tab may have saved views. */
  function keep(change: (views: View[]) => View[]): void {
    const next = change(readViews(path));
    localStorage.setItem(keyFor(path), next.map((one) => `${one.name}\t${one.query}`).join('\n'));
    setViews(next);
  }
  function save(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const typedName = new FormData(event.currentTarget).get('name');
    const name = typeof typedName === 'string' ? typedName.replaceAll(/\s+/g, ' ').trim() : '';
    keep((views) => [...views.filter((one) => one.name !== name), { name: name || `View ${views.length + 1}`, query }]);
  }
  if (views.length === 0 && query === '') return null;
  return (
    <div className="filter views">
      <Menu label="Saved views" text={current?.name ?? 'Views'}>
        {views.map((one) => (
          <div key={one.name} className="view">
            <button type="button" className="button quiet" onClick={() => show(one.query)}>
              {one.name}
            </button>
            <button
              type="button"
              className="button quiet"
              aria-label={`Delete the view ${one.name}`}
              onClick={() => keep((views) => views.filter(({ name }) => name !== one.name))}
            >
              ✕
            </button>
          </div>
        ))}
        {query !== '' && !current && (
          <form className="view" onSubmit={save}>
            <input name="name" aria-label="Name of the view" placeholder="Name of the view" maxLength={60} />
            <button type="submit" className="button">
              Save
            </button>
          </form>
        )}
        {query !== '' && (
          <button type="button" className="button" onClick={() => show('')}>
            Clear the filters
          </button>
        )}
      </Menu>
    </div>
  );
}
