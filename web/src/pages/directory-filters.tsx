import { type ReactNode, useId, useState } from 'react';
import type { Answer, Problem } from '../call/call.ts';
import { useAll, useCall } from '../call/use.ts';
import { compact, number, roundCompact, words } from '../kit/format.ts';
import { useLater } from '../kit/later.ts';
import { usePlaceNames } from './directory-names.ts';
import {
  type DirectorySearch,
  type Excluded,
  facetQuery,
  LISTED,
  readListIds,
  readValues,
  type Several,
  TRUTHS,
} from './directory-search.ts';

type Facets = NonNullable<Answer<'search_creators'>['preview']>['facets'];
type ListedFacet = 'category' | 'niche' | 'country' | 'state' | 'metro' | 'gender';

/** A part of the panel that opens. What it suggests is read only while it is open. */
function Section(props: { title: string; chosen: number; isOpen?: boolean; children: () => ReactNode }) {
  const { title, chosen, children } = props;
  const [isOpen, setOpen] = useState(props.isOpen === true || chosen > 0);
  return (
    <details className="filter-part" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {title}
        {chosen > 0 && (
          <span className="badge">
            {chosen} <span className="sr-only">chosen</span>
          </span>
        )}
      </summary>
      {isOpen && children()}
    </details>
  );
}

interface Suggested {
  value: string;
  label: string;
  count?: number;
}

interface ValuesProps {
  by: DirectorySearch;
  facet: ListedFacet;
  any: Several;
  not?: Excluded;
  /** The parameter's value for a value of the facet. */
  toName?: (value: string) => string;
  /** True if the parameter takes the facet's code, and the name is only shown. */
  isCode?: boolean;
  /** True if the API looks for the typed text; otherwise all values are known here. */
  isLong?: boolean;
  /** True if a part of a value matches it too. */
  takesText?: boolean;
  title: string;
}

const SHOWN = 6;

/** The values of a filter with their counts, as they would be without it. */
function useSuggested(
  { by, facet, any, not, isLong, toName = words, isCode }: ValuesProps,
  typed: string,
): Suggested[] {
  const later = useLater(typed.trim());
  const query = facetQuery(by.search, facet, [any, not], isLong && later ? { facet_q: later } : {});
  const { data } = useCall('search_creators', { query });
  const facetValues: Facets[ListedFacet] = data?.preview?.facets[facet] ?? [];
  const isPlain = isCode || toName === words;
  const suggestions = facetValues.map(({ value, count }) => {
    const label = toName(value);
    return { value: isPlain ? value : label, label, count };
  });
  const text = typed.trim().toLowerCase();
  return isLong ? suggestions : suggestions.filter(({ label }) => label.toLowerCase().includes(text));
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

function Values(props: ValuesProps) {
  const { by, any, not, title, takesText, toName = words, isCode } = props;
  const [typedText, setTypedText] = useState('');
  const suggestions = useSuggested(props, typedText);
  const includedValues = readValues(by.search, any);
  const excludedValues = readValues(by.search, not);
  const chosenValues = [...includedValues, ...excludedValues].map((value): Suggested => {
    const knownValue = suggestions.find((one) => isSame(one.value, value));
    return knownValue ?? { value, label: isCode ? toName(value) : words(value) };
  });
  const free = suggestions.filter(({ value }) => !chosenValues.some((one) => isSame(one.value, value)));
  const placeValue = (value: string, into: 'any' | 'not' | 'none') => {
    const others = (values: readonly string[]) => values.filter((one) => !isSame(one, value));
    by.change((now) => ({
      [any]: [...others(readValues(now, any)), ...(into === 'any' ? [value] : [])].join('|'),
      ...(not ? { [not]: [...others(readValues(now, not)), ...(into === 'not' ? [value] : [])].join('|') } : {}),
    }));
  };
  const text = typedText.trim();
  const isNew = takesText && text !== '' && ![...chosenValues, ...suggestions].some(({ value }) => isSame(value, text));
  const add = (value: string) => {
    placeValue(value, 'any');
    setTypedText('');
  };
  return (
    <div className="values">
      <input
        type="search"
        aria-label={`Find in ${title.toLowerCase()}`}
        placeholder={takesText ? 'Name, or part of one' : 'Find'}
        value={typedText}
        onChange={({ target }) => setTypedText(target.value)}
        onKeyDown={({ key }) => {
          const first = isNew ? text : free[0]?.value;
          if (key === 'Enter' && text !== '' && first !== undefined) add(first);
        }}
      />
      {isNew && (
        <button type="button" className="link" onClick={() => add(text)}>
          Search for “{text}”
        </button>
      )}
      <ul>
        {[...chosenValues, ...free.slice(0, SHOWN)].map(({ value, label, count }) => {
          const isWanted = includedValues.some((one) => isSame(one, value));
          const isUnwanted = excludedValues.some((one) => isSame(one, value));
          return (
            <li key={value}>
              <label className={isUnwanted ? 'option out' : 'option'}>
                <input
                  type="checkbox"
                  checked={isWanted}
                  onChange={() => placeValue(value, isWanted ? 'none' : 'any')}
                />
                <span>{label}</span>
              </label>
              <span className="muted small">{count === undefined ? '' : compact(count)}</span>
              {not && (
                <button
                  type="button"
                  className="not"
                  aria-pressed={isUnwanted}
                  aria-label={`Not ${label}`}
                  onClick={() => placeValue(value, isUnwanted ? 'none' : 'not')}
                >
                  Not
                </button>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** A number as typed: `10k`, `1.5m` and `2,5` too. A comma before three digits separates thousands. Undefined if the text is not a number. */
function numberIn(text: string): string | undefined {
  const [, digits = '', unit = ''] = /^([\d.,\s]+)([km]?)$/i.exec(text.trim()) ?? [];
  const plain = digits.replaceAll(/\s/g, '').replaceAll(/,(?=\d{3}(?!\d))/g, '');
  const value = Number(plain.replace(',', '.'));
  if (digits.trim() === '' || !Number.isFinite(value)) return undefined;
  const factor = { k: 1_000, m: 1_000_000 }[unit.toLowerCase()] ?? 1;
  return String(Math.round(value * factor * 10_000) / 10_000);
}

/** With separators of thousands, unless they would change the number. */
function showNumber(value: string): string {
  const text = number(Number(value));
  return value !== '' && numberIn(text) === value ? text : value;
}

function Bound({ by, name, label, hint }: { by: DirectorySearch; name: string; label: string; hint: string }) {
  const value = by.search[name] ?? '';
  const changeBound = (text: string) => {
    const next = numberIn(text);
    if ((next ?? '') !== value) by.change({ [name]: next });
  };
  return (
    <input
      key={value}
      type="text"
      inputMode="decimal"
      aria-label={label}
      placeholder={hint}
      defaultValue={showNumber(value)}
      onBlur={({ currentTarget }) => changeBound(currentTarget.value)}
      onKeyDown={({ key, currentTarget }) => key === 'Enter' && changeBound(currentTarget.value)}
    />
  );
}

interface RangeProps {
  by: DirectorySearch;
  facet: 'followers' | 'engagement' | 'age' | 'posts';
  param: 'follower' | 'engagement' | 'age' | 'posts';
  /** In a sentence: `Minimum followers`. */
  what: string;
  problems: readonly Problem[];
}

type Range = NonNullable<Facets['followers']>[number];

/** Ranges end before their last number, but the parameter includes it. */
function toBounds({ from, to }: Range, param: RangeProps['param']) {
  const most = to !== null && param !== 'engagement' ? to - 1 : to;
  return {
    [`${param}_min`]: from === null ? undefined : String(from),
    [`${param}_max`]: most === null ? undefined : String(most),
  };
}

function rangeName({ from, to }: Range): string {
  if (from === null) return `below ${roundCompact(to)}`;
  return to === null ? `${roundCompact(from)} and more` : `${roundCompact(from)} to ${roundCompact(to)}`;
}

/** The distribution of the values, as bars that can be chosen, above the two bounds. */
function RangeFilter({ by, facet, param, what, problems }: RangeProps) {
  const id = useId();
  const names = [`${param}_min`, `${param}_max`];
  const { data } = useCall('search_creators', { query: facetQuery(by.search, facet, names) });
  const ranges = data?.preview?.facets[facet] ?? [];
  const most = Math.max(...ranges.map(({ count }) => count), 1);
  const [least, greatest] = names.map((name) => by.search[name]);
  const isWithin = (range: Range) => {
    const { [`${param}_min`]: from, [`${param}_max`]: to } = toBounds(range, param);
    const starts = least === undefined || Number(from ?? -1) >= Number(least);
    return starts && (greatest === undefined || Number(to ?? Number.POSITIVE_INFINITY) <= Number(greatest));
  };
  const problem = problems.find(({ field }) => names.includes(field));
  return (
    <div className="range">
      <div className="bars">
        {ranges.map((range) => {
          const label = `${what}: ${rangeName(range)}, ${number(range.count)} creators`;
          return (
            <button
              key={rangeName(range)}
              type="button"
              className={isWithin(range) ? 'bar-of on' : 'bar-of'}
              aria-label={label}
              title={label}
              onClick={() => by.change(toBounds(range, param))}
            >
              <span style={{ height: `${Math.max((range.count / most) * 100, range.count > 0 ? 4 : 0)}%` }} />
            </button>
          );
        })}
      </div>
      <div className="bounds" aria-describedby={problem && id}>
        <Bound by={by} name={`${param}_min`} label={`Minimum ${what}`} hint="Min" />
        <span aria-hidden>–</span>
        <Bound by={by} name={`${param}_max`} label={`Maximum ${what}`} hint="Max" />
      </div>
      {problem && (
        <p className="problem" id={id} role="alert">
          The minimum is above the maximum.
        </p>
      )}
    </div>
  );
}

const TRUTH_LABELS = { is_verified: 'Verified profile', has_email: 'Email address', has_url: 'Link on the profile' };

function Truths({ by }: { by: DirectorySearch }) {
  const id = useId();
  return (
    <div className="truths">
      {TRUTHS.map((name) => (
        <div key={name} className="truth">
          <label htmlFor={`${id}${name}`}>{TRUTH_LABELS[name]}</label>
          <select
            id={`${id}${name}`}
            value={by.search[name] ?? ''}
            onChange={({ target }) => by.change({ [name]: target.value })}
          >
            <option value="">Any</option>
            <option value="true">Yes</option>
            <option value="false">No</option>
          </select>
        </div>
      ))}
    </div>
  );
}

/** Keeps to lists of the brand, or leaves their creators out. */
function Lists({ by }: { by: DirectorySearch }) {
  const lists = useAll('list_lists', {});
  const [includedLists, excludedLists] = [readListIds(by.search, 'in_list'), readListIds(by.search, 'not_in_list')];
  const toggleList = (id: string, name: 'in_list' | 'not_in_list') => {
    const other = name === 'in_list' ? 'not_in_list' : 'in_list';
    by.change((now) => {
      const ids = readListIds(now, name);
      const next = ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id];
      const others = readListIds(now, other).filter((one) => one !== id);
      return { [name]: next.join(','), [other]: others.join(',') };
    });
  };
  const isRosterLeft = by.search.exclude_roster === 'true';
  return (
    <div className="values listed">
      <ul>
        {lists.data?.map(({ id, name, creators }) => (
          <li key={id}>
            <label className={excludedLists.includes(id) ? 'option out' : 'option'}>
              <input type="checkbox" checked={includedLists.includes(id)} onChange={() => toggleList(id, 'in_list')} />
              <span>{name}</span>
            </label>
            <span className="muted small">{compact(creators)}</span>
            <button
              type="button"
              className="not"
              aria-pressed={excludedLists.includes(id)}
              aria-label={`Not ${name}`}
              onClick={() => toggleList(id, 'not_in_list')}
            >
              Not
            </button>
          </li>
        ))}
        <li>
          <label className="option">
            <input
              type="checkbox"
              checked={isRosterLeft}
              onChange={() => by.change({ exclude_roster: isRosterLeft ? undefined : 'true' })}
            />
            <span>Leave out the roster</span>
          </label>
        </li>
      </ul>
    </div>
  );
}

/** Every filter of the directory. The open ones show how many creators each value would find. */
export function DirectoryFilters({ by, problems }: { by: DirectorySearch; problems: readonly Problem[] }) {
  const names = usePlaceNames();
  const countChosen = (...params: string[]) =>
    params.reduce((sum, name) => sum + readValues(by.search, name).length, 0);
  const has = (...params: string[]) => (params.some((name) => by.search[name] !== undefined) ? 1 : 0);
  const range = { by, problems };
  return (
    <>
      <Section title="Followers" chosen={has('follower_min', 'follower_max')} isOpen>
        {() => <RangeFilter {...range} facet="followers" param="follower" what="followers" />}
      </Section>
      <Section title="Location" chosen={countChosen('city_any', 'not_city')} isOpen>
        {() => (
          <Values by={by} facet="metro" any="city_any" not="not_city" toName={names.metro} takesText title="Location" />
        )}
      </Section>
      <Section title="Category" chosen={countChosen('category_any', 'not_category')} isOpen>
        {() => <Values by={by} facet="category" any="category_any" not="not_category" isLong title="Category" />}
      </Section>
      <Section title="Engagement" chosen={has('engagement_min')}>
        {() => <RangeFilter {...range} facet="engagement" param="engagement" what="engagement, %" />}
      </Section>
      <Section title="Niche" chosen={countChosen('niche_any', 'not_niche')}>
        {() => <Values by={by} facet="niche" any="niche_any" not="not_niche" isLong takesText title="Niche" />}
      </Section>
      <Section title="Country" chosen={countChosen('country_any', 'not_country')}>
        {() => (
          <Values
            by={by}
            facet="country"
            any="country_any"
            not="not_country"
            toName={names.country}
            isCode
            title="Country"
          />
        )}
      </Section>
      <Section title="State" chosen={countChosen('state_any')}>
        {() => <Values by={by} facet="state" any="state_any" toName={names.state} isCode title="State" />}
      </Section>
      <Section title="Age" chosen={has('age_min', 'age_max')}>
        {() => <RangeFilter {...range} facet="age" param="age" what="age" />}
      </Section>
      <Section title="Gender" chosen={countChosen('gender_any')}>
        {() => <Values by={by} facet="gender" any="gender_any" title="Gender" />}
      </Section>
      <Section title="Posts" chosen={has('posts_min', 'posts_max')}>
        {() => <RangeFilter {...range} facet="posts" param="posts" what="posts" />}
      </Section>
      <Section title="Lists and roster" chosen={has(...LISTED)}>
        {() => <Lists by={by} />}
      </Section>
      <Section title="Profile" chosen={has(...TRUTHS, 'following_max', 'fresh_within_days')}>
        {() => (
          <>
            <Truths by={by} />
            <div className="truth">
              <span>Following, at most</span>
              <Bound by={by} name="following_max" label="Maximum following" hint="Any" />
            </div>
            <div className="truth">
              <span>Age of the data, at most, in days</span>
              <Bound by={by} name="fresh_within_days" label="Age of the data, at most, in days" hint="Any" />
            </div>
          </>
        )}
      </Section>
    </>
  );
}
