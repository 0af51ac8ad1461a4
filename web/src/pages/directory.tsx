import { useEffect, useId, useRef, useState } from 'react';
import { type Answer, CallError } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { aboutPercent, compact, number, rate } from '../kit/format.ts';
import { Button, Empty, Failure, Loading, PageHead, Stat, Stats } from '../kit/parts.tsx';
import { ListOfAll } from './add-to-list.tsx';
import { Chips } from './directory-chips.tsx';
import { DirectoryFilters } from './directory-filters.tsx';
import { Nobody, Reading } from './directory-reading.tsx';
import { PAGE_SIZE, Results } from './directory-results.tsx';
import { type DirectorySearch, facetQuery, filtersIn, useDirectorySearch, without } from './directory-search.ts';
import { SavedSearches, SaveSearch } from './saved-searches.tsx';

type SearchAnswer = Answer<'search_creators'>;
type Spread = NonNullable<NonNullable<SearchAnswer['preview']>['stats']>['followers'];

const TYPED_MS = 350;

/** Searches while the words are typed, once the typing pauses. */
function Words({ by }: { by: DirectorySearch }) {
  const id = useId();
  const value = by.search.q ?? '';
  const [text, setText] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  const sentText = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // After leaving the page, the timer would lead back to it.
  useEffect(() => () => clearTimeout(timer.current), []);
  // Follows the address when something else changed it, such as a saved search, but never while it is typed in.
  useEffect(() => {
    if (value === sentText.current || input.current === document.activeElement) return;
    clearTimeout(timer.current);
    sentText.current = value;
    setText(value);
  }, [value]);
  const send = (next: string) => {
    clearTimeout(timer.current);
    if (next.trim() === value) return;
    sentText.current = next.trim();
    by.change({ q: next.trim(), q_as: undefined });
  };
  return (
    <div className="words">
      <label className="sr-only" htmlFor={id}>
        Keyword or location
      </label>
      <input
        ref={input}
        id={id}
        type="search"
        placeholder="Keyword or location: vegan, marathon, Bay Area"
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => send(target.value), TYPED_MS);
        }}
        onKeyDown={({ key }) => key === 'Enter' && send(text)}
      />
      {value !== '' && (
        <label className="option nowrap">
          <input
            type="checkbox"
            checked={by.search.typos === 'true'}
            onChange={({ target }) => by.change({ typos: target.checked ? 'true' : undefined })}
          />
          Allow typos
        </label>
      )}
    </div>
  );
}

const ORDERS = [
  ['followers', 'Most followers'],
  ['followers_asc', 'Fewest followers'],
  ['engagement', 'Highest engagement'],
  ['engagement_asc', 'Lowest engagement'],
  ['posts', 'Most posts'],
  ['recent', 'Newest data'],
  ['relevance', 'Best match'],
] as const;

function Order({ by, isText }: { by: DirectorySearch; isText: boolean }) {
  const id = useId();
  return (
    <div className="row order">
      <label htmlFor={id}>Sort by</label>
      <select
        id={id}
        value={by.search.sort ?? 'followers'}
        onChange={({ target }) => by.change({ sort: target.value === 'followers' ? undefined : target.value })}
      >
        {ORDERS.map(([value, label]) => (
          <option key={value} value={value} disabled={value === 'relevance' && !isText}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The values between which four out of five creators lie. */
function spreadNote(spread: Spread | undefined, show: (value: number | null | undefined) => string): string {
  if (!spread || spread.p10 === null) return '–';
  return `80% have ${show(spread.p10)} to ${show(spread.p90)}`;
}

/** The results as a whole; free, and read beside the creators. */
function Summary({ search, total }: { search: DirectorySearch['search']; total: number | undefined }) {
  const spread = useCall('search_creators', {
    query: { ...without(search, ['sort']), preview: true, stats: true, facets: 'has_email' },
  });
  const stats = spread.data?.preview?.stats;
  const { data } = useCall('search_creators', { query: facetQuery(search, 'has_email', []) });
  const preview = data?.preview;
  const all = data?.pagination.total ?? 0;
  const toShare = (counts: { value: boolean; count: number }[] | undefined) => {
    const count = counts?.find(({ value }) => value)?.count ?? 0;
    if (!preview || all === 0) return { value: '–' };
    return {
      value: aboutPercent((100 * count) / all),
      note: `${number(count)} ${count === 1 ? 'creator' : 'creators'}`,
    };
  };
  return (
    <Stats isBrief>
      <Stat
        label="Creators"
        value={number(total)}
        note={filtersIn(search).length > 0 ? 'match the search' : 'in the directory'}
      />
      <Stat
        label="Median followers"
        value={compact(stats?.followers.p50)}
        note={spreadNote(stats?.followers, compact)}
      />
      <Stat label="Median engagement" value={rate(stats?.engagement.p50)} note={spreadNote(stats?.engagement, rate)} />
      <Stat label="With an email address" {...toShare(preview?.facets.has_email)} />
      <Stat label="Verified" {...toShare(preview?.facets.is_verified)} />
    </Stats>
  );
}

export function Directory() {
  const by = useDirectorySearch();
  const { search, page } = by;
  const [isOpen, setOpen] = useState(false);
  const { data, error, isPlaceholderData, refetch } = useCall('search_creators', {
    query: { ...search, page, limit: PAGE_SIZE },
  });
  const isOff = error instanceof CallError && error.code === 'SUBSCRIPTION_REQUIRED';
  const problems = error instanceof CallError ? error.problems : [];
  const q = data?.meta.interpretation.q;
  if (isOff) {
    return (
      <>
        <PageHead title="Directory" hint="Public creators." />
        <Empty title="The directory is not in your plan">{error.message}</Empty>
      </>
    );
  }
  const filterCount = filtersIn(without(search, ['q'])).length;
  return (
    <>
      <PageHead title="Directory" hint="Find creators by what they do, where they live and how many they reach.">
        {filtersIn(search).length > 0 && (
          <ListOfAll search={without(search, ['sort'])} total={data?.pagination.total ?? 0} />
        )}
        <SaveSearch search={search} />
      </PageHead>
      <Words by={by} />
      <SavedSearches search={search} />
      <div className="directory">
        <Button kind="plain" onPress={() => setOpen(!isOpen)} isExpanded={isOpen}>
          Filters{filterCount > 0 ? ` (${filterCount})` : ''}
        </Button>
        <search className={isOpen ? 'panel open' : 'panel'} aria-label="Filters">
          <DirectoryFilters by={by} problems={problems} />
        </search>
        <div className="found">
          <Summary search={search} total={data?.pagination.total} />
          <div className="row found-head">
            <Chips by={by} />
            {search.similar_to === undefined && <Order by={by} isText={q?.read_as === 'text'} />}
          </div>
          {data && <Reading by={by} of={data.meta.interpretation} />}
          {error && <Failure error={error} again={() => void refetch()} />}
          {!data && !error && <Loading rows={10} />}
          {data && data.pagination.total === 0 && <Nobody by={by} suggestions={data.meta.suggestions ?? []} />}
          {data && data.pagination.total > 0 && <Results by={by} found={data} isOld={isPlaceholderData} />}
        </div>
      </div>
    </>
  );
}
