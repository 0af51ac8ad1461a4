import { useNavigate, useSearch } from '@tanstack/react-router';
import { useId } from 'react';
import { words } from './format.ts';

export interface Filter {
  name: string;
  label: string;
  kind: 'select' | 'text' | 'date' | 'number';
  options?: readonly (readonly [value: string, label: string])[];
  /** The value that applies by default. */
  fallback?: string;
}

/** Filters by status. */
export const stateFilter = (states: readonly string[]): Filter => ({
  ...{ name: 'status', label: 'Status', kind: 'select' },
  options: states.map((state) => [state, words(state)]),
});

/** Filters by creator. */
export const CREATOR_FILTER: Filter = { name: 'creator_email', label: 'Creator’s e-mail', kind: 'text' };

/** The filters in the URL's query, so that a shared or reloaded page shows the same. */
export function useFilters(): {
  get: (name: string) => string | undefined;
  set: (name: string, value: string) => void;
} {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  return {
    get: (name) => {
      const value = search[name];
      return value === undefined || value === '' ? undefined : String(value);
    },
    set: (name, value) => {
      const next: Record<string, unknown> = { ...search, [name]: value || undefined };
      void navigate({ to: '.', search: next, replace: true });
    },
  };
}

export function choiceOf<T extends string>(value: string | undefined, among: readonly T[]): T | undefined {
  return among.find((one) => one === value);
}

export function Filters({ of }: { of: readonly Filter[] }) {
  const { get, set } = useFilters();
  const id = useId();
  return (
    <search className="filters">
      {of.map(({ name, label, kind, options, fallback = '' }) => (
        <div key={name} className="filter">
          <label htmlFor={`${id}${name}`}>{label}</label>
          {kind === 'select' ? (
            <select id={`${id}${name}`} value={get(name) ?? ''} onChange={({ target }) => set(name, target.value)}>
              <option value="">All</option>
              {(options ?? []).map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          ) : (
            <input
              id={`${id}${name}`}
              type={kind === 'text' ? 'search' : kind}
              key={get(name) === undefined ? `not ${fallback}` : 'filled'}
              defaultValue={get(name) ?? fallback}
              onBlur={({ target }) => set(name, target.value)}
              onKeyDown={({ key, currentTarget }) => key === 'Enter' && set(name, currentTarget.value)}
              onChange={({ target }) => kind === 'date' && set(name, target.value)}
            />
          )}
        </div>
      ))}
    </search>
  );
}
