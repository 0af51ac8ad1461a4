import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useId, useRef, useState } from 'react';
import { number, words } from './format.ts';
import { Button } from './parts.tsx';
import { isPickerKind, Picker, type PickerKind } from './picker.tsx';
import { Views } from './views.tsx';

export interface Filter {
  name: string;
  label: string;
  kind: 'select' | 'text' | 'date' | 'number' | PickerKind;
  options?: readonly (readonly [value: string, label: string])[];
  /** The label of no choice. */
  all?: string;
  /** The value that applies by default. */
  fallback?: string;
  /** Filters that choosing this one removes. */
  clears?: readonly string[];
}

/** Filters by status. */
export const stateFilter = (states: readonly string[]): Filter => ({
  name: 'status',
  label: 'Status',
  kind: 'select',
  options: states.map((state) => [state, words(state)]),
});

export const CREATOR_FILTER: Filter = { name: 'creator_email', label: 'Creator', kind: 'creator' };
export const CAMPAIGN_FILTER: Filter = { name: 'campaign_id', label: 'Campaign', kind: 'campaign' };
export const LINK_FILTER: Filter = { name: 'link_id', label: 'Link or code', kind: 'link' };

/** The order of a list by time; newest first unless the table's head was pressed. */
export const sortIn = (get: (name: string) => string | undefined) =>
  findChoice(get('sort'), ['newest', 'oldest']) ?? 'newest';

/** The same where what waits for the brand comes first. */
export const waitingSortIn = (get: (name: string) => string | undefined): 'newest' | 'oldest' | 'waiting' =>
  findChoice(get('sort'), ['newest', 'oldest']) ?? 'waiting';

type Search = Record<string, unknown>;

/** The filters in the URL's query, so that a shared or reloaded page shows the same. */
export function useFilters(): {
  /** The names of the filters that are set. */
  names: readonly string[];
  get: (name: string) => string | undefined;
  /** Also removes the filters in `clears`. */
  set: (name: string, value: string, clears?: readonly string[]) => void;
  clear: (names: readonly string[]) => void;
} {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = (to: Readonly<Record<string, unknown>>, without: readonly string[]) => {
    const clearedFilters = Object.fromEntries(without.map((one) => [one, undefined]));
    // Starts from the current address, which the page may not show yet, so quick changes add up.
    void navigate({ to: '.', search: (now: Search) => ({ ...now, ...clearedFilters, ...to }), replace: true });
  };
  return {
    names: Object.keys(search).filter((name) => search[name] !== undefined && search[name] !== ''),
    get: (name) => {
      const value = search[name];
      return value === undefined || value === '' ? undefined : String(value);
    },
    set: (name, value, clears = []) => change({ [name]: value || undefined }, clears),
    clear: (names) => change({}, names),
  };
}

export function findChoice<T extends string>(value: string | undefined, among: readonly T[]): T | undefined {
  return among.find((one) => one === value);
}

/** A year that is still being typed, such as 0002. */
const isWhole = (date: string) => /^(?:19[7-9]|2\d\d)\d-/.test(date);

/** Follows the address, but never while it is typed in. */
function DateInput({ id, value, onSet }: { id: string; value: string; onSet: (value: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current && input.current !== document.activeElement) input.current.value = value;
  }, [value]);
  return (
    <input
      id={id}
      type="date"
      ref={input}
      defaultValue={value}
      onChange={({ target }) => isWhole(target.value) && onSet(target.value)}
      onBlur={({ target }) => {
        if (target.value === '') onSet('');
        else target.value = value;
      }}
    />
  );
}

interface ChooseProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [value: T, label: string])[];
  onChoose: (value: T) => void;
  /** True if it stands above a form, whose fields follow it. */
  ofForm?: boolean;
}

/** One of several ways to show a card or a form, which the address does not keep. */
export function Choose<T extends string>({ label, value, options, onChoose, ofForm = false }: ChooseProps<T>) {
  const id = useId();
  const choose = (next: string) => onChoose(options.find(([one]) => one === next)?.[0] ?? value);
  return (
    <div className={ofForm ? 'field' : 'filter'}>
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={({ target }) => choose(target.value)}>
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

function One({ filter }: { filter: Filter }) {
  const { name, label, kind, options = [], all = 'All', fallback = '', clears } = filter;
  const { get, set } = useFilters();
  const id = useId();
  const value = get(name);
  const onSet = (next: string) => next !== (value ?? '') && set(name, next, clears);
  return (
    <div className="filter">
      <label htmlFor={id}>{label}</label>
      {isPickerKind(kind) ? (
        <Picker kind={kind} id={id} value={value ?? ''} onPick={onSet} />
      ) : kind === 'select' ? (
        <select id={id} value={value ?? fallback} onChange={({ target }) => onSet(target.value)}>
          {fallback === '' && <option value="">{all}</option>}
          {value !== undefined && !options.some(([one]) => one === value) && <option value={value}>{value}</option>}
          {options.map(([one, text]) => (
            <option key={one} value={one}>
              {text}
            </option>
          ))}
        </select>
      ) : kind === 'date' ? (
        <DateInput id={id} value={value ?? fallback} onSet={onSet} />
      ) : (
        <input
          id={id}
          type={kind === 'text' ? 'search' : kind}
          key={value === undefined ? `not ${fallback}` : 'filled'}
          defaultValue={value ?? fallback}
          onBlur={({ target }) => onSet(target.value)}
          onKeyDown={({ key, currentTarget }) => key === 'Enter' && onSet(currentTarget.value)}
        />
      )}
    </div>
  );
}

/** Up to this number, filters stand in one row of a phone. */
const ONE_ROW = 2;

interface FiltersProps {
  of: readonly Filter[];
  /** Hidden behind a button unless one of them is set. On a phone, one button hides them all. */
  more?: readonly Filter[];
  /** Names the list that they filter, on a page with several. */
  label?: string;
  /** Other parts of the address that belong to a saved view; `false`: the page's other filters save these too. */
  saved?: readonly string[] | false;
}

export function Filters({ of, more = [], label, saved = ['sort'] }: FiltersProps) {
  const { get } = useFilters();
  const [isOpen, setOpen] = useState(more.some(({ name }) => get(name) !== undefined));
  const [isUnfolded, setUnfolded] = useState(false);
  const all = [...of, ...more];
  const isFolding = all.length > ONE_ROW;
  const activeCount = all.filter(({ name }) => get(name) !== undefined).length;
  return (
    <search className={isFolding && !isUnfolded ? 'filters folded' : 'filters'} aria-label={label}>
      {isFolding && (
        <div className="fold">
          <Button isExpanded={isUnfolded} onPress={() => setUnfolded(!isUnfolded)}>
            {activeCount === 0 ? 'Filters' : `Filters (${number(activeCount)})`}
          </Button>
        </div>
      )}
      {[...of, ...(isOpen || isUnfolded ? more : [])].map((filter) => (
        <One key={filter.name} filter={filter} />
      ))}
      {more.length > 0 && (
        <div className="filter-more">
          <Button isExpanded={isOpen} onPress={() => setOpen(!isOpen)}>
            {isOpen ? 'Fewer filters' : 'More filters'}
          </Button>
        </div>
      )}
      {saved && <Views names={[...all.map(({ name }) => name), ...saved]} />}
    </search>
  );
}
