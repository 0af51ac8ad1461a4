import { useState } from 'react';
import type { Answer } from '../call/call.ts';
import { compact, number, rate } from '../kit/format.ts';
import { Button } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';
import { AddToList } from './add-to-list.tsx';
import { type Creator, CreatorCard, CreatorOpener, getName, Place } from './directory-creator.tsx';
import { AddToRoster } from './directory-roster.tsx';
import type { DirectorySearch } from './directory-search.ts';

export const PAGE_SIZE = 50;

/** A number field, because a user would not page through two hundred pages. */
function PageChoice({ page, pages, onChoose }: { page: number; pages: number; onChoose: (page: number) => void }) {
  const choose = (text: string) => {
    const targetPage = Math.min(Math.max(Math.round(Number(text)) || page, 1), pages);
    if (targetPage !== page) onChoose(targetPage);
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

interface ResultsProps {
  by: DirectorySearch;
  found: Answer<'search_creators'>;
  /** The results are those of the previous search. */
  isOld: boolean;
}

/** One page of creators. Those who are chosen stay chosen on other pages and after other searches. */
export function Results({ by, found, isOld }: ResultsProps) {
  const { data, pagination } = found;
  const [openCreator, setOpenCreator] = useState<Creator>();
  const [selected, setSelected] = useState<ReadonlyMap<string, Creator>>(new Map());
  const pages = Math.max(Math.ceil(pagination.total / PAGE_SIZE), 1);
  const getKey = ({ pk }: Creator) => String(pk);
  return (
    <>
      <div className={isOld ? 'results old' : 'results'} aria-busy={isOld}>
        <PlainTable
          caption="Creators"
          rows={data}
          getKey={getKey}
          selection={{ selected, onSelect: setSelected, getName }}
          columns={[
            {
              head: 'Creator',
              cell: (creator) => <CreatorOpener of={creator} onOpen={() => setOpenCreator(creator)} />,
            },
            {
              head: 'Location',
              cell: (creator) => (
                <span className="place">
                  <Place of={creator} />
                </span>
              ),
              isWide: true,
            },
            {
              head: 'Followers',
              cell: ({ follower_count, engagement_rate }) => (
                <>
                  {compact(follower_count)}
                  <span className="narrow">
                    <span className="second">{rate(engagement_rate)}</span>
                  </span>
                </>
              ),
              isNumber: true,
            },
            {
              head: 'Engagement',
              cell: ({ engagement_rate }) => rate(engagement_rate),
              isNumber: true,
              isWide: true,
            },
            {
              head: 'Category',
              cell: ({ category }) => category ?? '–',
              isWide: true,
            },
          ]}
        />
      </div>
      {pages > 1 && (
        <nav className="row" aria-label="Pages of results">
          <Button isDisabled={by.page <= 1} onPress={() => by.goTo(by.page - 1)}>
            Previous page
          </Button>
          <PageChoice page={by.page} pages={pages} onChoose={by.goTo} />
          <Button isDisabled={by.page >= pages} onPress={() => by.goTo(by.page + 1)}>
            Next page
          </Button>
        </nav>
      )}
      {selected.size > 0 && (
        <section className="bar" aria-label="Chosen creators">
          <strong>{number(selected.size)} chosen</strong>
          <div className="row">
            <Button kind="quiet" onPress={() => setSelected(new Map())}>
              Clear
            </Button>
            <AddToList pks={[...selected.values()].map(({ pk }) => pk)} onDone={() => setSelected(new Map())} />
            <AddToRoster of={[...selected.values()]} onDone={() => setSelected(new Map())} />
          </div>
        </section>
      )}
      <CreatorCard
        creator={openCreator}
        onClose={() => setOpenCreator(undefined)}
        onOpen={setOpenCreator}
        among={data}
        actions={
          openCreator && (
            <>
              <AddToList pks={[openCreator.pk]} onDone={() => setOpenCreator(undefined)} />
              <AddToRoster of={[openCreator]} onDone={() => setOpenCreator(undefined)} />
            </>
          )
        }
      />
    </>
  );
}
