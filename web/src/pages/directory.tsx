import { useState } from 'react';
import { type Answer, CallError } from '../call/call.ts';
import { useCall, useChange } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Filters, useFilters } from '../kit/filters.tsx';
import { compact, number, percent } from '../kit/format.ts';
import { Button, Card, Empty, Facts, Failure, Loading, PageHead, Stat, Stats } from '../kit/parts.tsx';
import { Opener, PlainTable } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';
import { SavedSearches } from './saved-searches.tsx';

type Found = Answer<'search_creators'>;
type Creator = Found['data'][number];
const NAMES = [
  'q',
  'category',
  'niche',
  'country',
  'state',
  'city',
  'gender',
  'follower_min',
  'follower_max',
  'engagement_min',
] as const;
const FACETS = ['category', 'niche', 'country', 'state', 'metro', 'gender'] as const;
const FILTER_OF = {
  category: 'category',
  niche: 'niche',
  country: 'country',
  state: 'state',
  metro: 'city',
  gender: 'gender',
} as const;

function Facets({
  of,
  onChoose,
}: {
  of: NonNullable<Found['preview']>['facets'];
  onChoose: (name: string, value: string) => void;
}) {
  return (
    <div className="facets">
      {FACETS.filter((facet) => of[facet].length > 0).map((facet) => (
        <fieldset key={facet}>
          <legend>{facet}</legend>
          {of[facet].slice(0, 8).map(({ value, count }) => (
            <button key={value} type="button" className="chip" onClick={() => onChoose(FILTER_OF[facet], value)}>
              {value} <span className="muted">{compact(count)}</span>
            </button>
          ))}
        </fieldset>
      ))}
    </div>
  );
}

function Profile({ creator, onClose }: { creator: Creator | undefined; onClose: () => void }) {
  const add = useChange('add_to_roster_by_handle', ['list_roster']);
  const say = useSay();
  async function put({ extracted_email, username, full_name }: Creator) {
    try {
      await add.mutateAsync({ body: { ig_handle: username, name: full_name, creator_email: extracted_email } });
      say(`${full_name ?? username} was added to the roster.`);
      onClose();
    } catch (error) {
      say(error instanceof Error ? error.message : 'Something went wrong. Try again.');
    }
  }
  return (
    <Dialog
      title={creator?.full_name ?? creator?.username ?? ''}
      isOpen={creator !== undefined}
      onClose={onClose}
      isSide
    >
      {creator && (
        <>
          <Facts
            of={[
              ['Handle', `@${creator.username}`],
              ['Followers', number(creator.follower_count)],
              ['Engagement', percent(creator.engagement_rate)],
              ['Category', creator.category],
              ['Niches', creator.niches],
              ['Location', [creator.city, creator.state, creator.country].filter(Boolean).join(', ')],
              ['E-mail', creator.extracted_email],
              ['About', creator.biography],
            ]}
          />
          <div className="popup-foot">
            <Button
              needs="add_to_roster_by_handle"
              kind="primary"
              isBusy={add.isPending}
              onPress={() => void put(creator)}
            >
              Add to the roster
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}

/** A number field, because a user would not page through two hundred pages. */
function PageChoice({ page, pages, onChoose }: { page: number; pages: number; onChoose: (page: number) => void }) {
  const choose = (text: string) => {
    const wanted = Math.min(Math.max(Math.round(Number(text)) || page, 1), pages);
    if (wanted !== page) onChoose(wanted);
  };
  return (
    <label className="row page-choice">
      Page
      <input
        key={page}
        type="number"
        min={1}
        max={pages}
        defaultValue={page}
        onBlur={({ target }) => choose(target.value)}
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && choose(currentTarget.value)}
      />
      of {number(pages)}
    </label>
  );
}

/** One page, fetched only on request, because it costs credits. */
function Results({ query, preview }: { query: Record<string, string>; preview: NonNullable<Found['preview']> }) {
  const { pages, credits_to_fetch_all } = preview;
  const [page, setPage] = useState(0);
  const [shown, setShown] = useState<Creator>();
  const { data, error, isFetching, refetch } = useCall(
    'search_creators',
    { query: { ...query, page, limit: 50 } },
    { enabled: page > 0 },
  );
  if (page === 0) {
    return (
      <p>
        <Button kind="primary" onPress={() => setPage(1)}>
          Show creators
        </Button>{' '}
        <span className="muted">
          Searching here is included in your plan. With a data key, each page costs{' '}
          {number(credits_to_fetch_all / pages)} credits.
        </span>
      </p>
    );
  }
  return (
    <>
      {error && <Failure error={error} again={() => void refetch()} />}
      {!data && !error && <Loading rows={8} />}
      {data && (
        <PlainTable
          caption="Creators"
          rows={data.data}
          keyOf={({ pk }) => String(pk)}
          columns={[
            {
              head: 'Creator',
              cell: (creator) => (
                <Opener onOpen={() => setShown(creator)} second={<>@{creator.username}</>}>
                  {creator.full_name ?? creator.username}
                </Opener>
              ),
            },
            { head: 'Followers', cell: ({ follower_count }) => compact(follower_count), isNumber: true },
            {
              head: 'Engagement',
              cell: ({ engagement_rate }) => percent(engagement_rate),
              isNumber: true,
              isWide: true,
            },
            { head: 'Category', cell: ({ category }) => category ?? '–', isWide: true },
            { head: 'Location', cell: ({ city, country }) => [city, country].filter(Boolean).join(', ') || '–' },
          ]}
        />
      )}
      <div className="row">
        <Button isDisabled={page <= 1} isBusy={isFetching} onPress={() => setPage(page - 1)}>
          Previous page
        </Button>
        <PageChoice page={page} pages={pages} onChoose={setPage} />
        <Button isDisabled={page >= pages} isBusy={isFetching} onPress={() => setPage(page + 1)}>
          Next page
        </Button>
      </div>
      <Profile creator={shown} onClose={() => setShown(undefined)} />
    </>
  );
}

export function Directory() {
  const { get, set } = useFilters();
  const query: Record<string, string> = {};
  for (const name of NAMES) {
    const value = get(name);
    if (value !== undefined) query[name] = value;
  }
  const { data, error, refetch } = useCall('search_creators', { query: { ...query, preview: true, limit: 50 } });
  const preview = data?.preview;
  const isOff = error instanceof CallError && error.code === 'SUBSCRIPTION_REQUIRED';
  return (
    <>
      <PageHead title="Directory" hint="Public creators. Counts are free; results load one page at a time." />
      <SavedSearches />
      <Filters
        of={[
          { name: 'q', label: 'Keyword or location', kind: 'text' },
          { name: 'category', label: 'Category', kind: 'text' },
          { name: 'country', label: 'Country', kind: 'text' },
          { name: 'city', label: 'City or metro', kind: 'text' },
          { name: 'follower_min', label: 'Minimum followers', kind: 'number' },
          { name: 'follower_max', label: 'Maximum followers', kind: 'number' },
          { name: 'engagement_min', label: 'Minimum engagement, %', kind: 'number' },
        ]}
      />
      {isOff && <Empty title="The directory is not in your plan">{error.message}</Empty>}
      {error && !isOff && <Failure error={error} again={() => void refetch()} />}
      {!error && !preview && <Loading rows={4} />}
      {preview && data && (
        <>
          <Stats>
            <Stat label="Creators found" value={number(data.pagination.total)} />
            <Stat label="Pages" value={number(preview.pages)} />
            <Stat label="Credits for all pages with a data key" value={number(preview.credits_to_fetch_all)} />
          </Stats>
          <Card title="Refine">
            <Facets of={preview.facets} onChoose={set} />
          </Card>
          {data.pagination.total > 0 ? (
            <Results key={JSON.stringify(query)} query={query} preview={preview} />
          ) : (
            <Empty title="No matches">Remove a filter.</Empty>
          )}
        </>
      )}
    </>
  );
}
