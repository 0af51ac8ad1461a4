import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { compact, day, number, rate } from '../kit/format.ts';
import { Button, Empty, Failure, Loading } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';
import { AddToList } from './add-to-list.tsx';
import { type Creator, CreatorCard, CreatorOpener, getName } from './directory-creator.tsx';
import { AddToRoster } from './directory-roster.tsx';

/** As many as one look-up takes. */
const AT_ONCE = 100;
const START = '0';
const getKey = ({ pk }: Creator) => String(pk);

/** The creators who began to match a saved search since the person last looked, or all of them. */
export function NewMatches({ of, onClose }: { of: Row<'list_saved_searches'>; onClose: () => void }) {
  const { id, name, unseen, seen_after } = of;
  // Kept while the dialog is open, because looking marks them as seen.
  const [isNew, setNew] = useState(unseen > 0);
  const [after, setAfter] = useState(unseen > 0 ? seen_after : START);
  const [openCreator, setOpenCreator] = useState<Creator>();
  const [selected, setSelected] = useState<ReadonlyMap<string, Creator>>(new Map());
  const see = useChange('mark_saved_search_seen', ['list_saved_searches']);
  const { mutate } = see;
  const query = useCall('list_saved_search_matches', { params: { id }, query: { after, limit: AT_ONCE } });
  const matches = query.data?.data ?? [];
  const next = query.data?.next_after;
  const cards = useCall(
    'search_creators',
    { query: { pks: matches.map(({ pk }) => pk).join(',') } },
    { enabled: matches.length > 0 },
  );
  useEffect(() => {
    if (next !== undefined && Number(next) > Number(seen_after)) mutate({ params: { id }, body: { after: next } });
  }, [id, next, seen_after, mutate]);
  const times = new Map(matches.map(({ pk, first_matched_at }) => [pk, first_matched_at]));
  const rows = (cards.data?.data ?? []).filter(({ pk }) => times.has(pk));
  const error = query.error ?? cards.error;
  const isLoading = !error && (!query.data || (matches.length > 0 && rows.length === 0));
  return (
    <Dialog
      title={name}
      hint={isNew ? 'Who began to match since you last looked.' : 'Everyone who began to match since it was saved.'}
      isOpen
      onClose={onClose}
      isSide
    >
      {error && <Failure error={error} again={() => void query.refetch()} />}
      {isLoading && <Loading rows={6} />}
      {query.data && matches.length === 0 && <Empty title="No new matches" />}
      {rows.length > 0 && (
        <PlainTable
          caption="New creators"
          rows={rows}
          getKey={getKey}
          selection={{ selected, onSelect: setSelected, getName }}
          columns={[
            { head: 'Creator', cell: (row) => <CreatorOpener of={row} onOpen={() => setOpenCreator(row)} /> },
            { head: 'Followers', cell: ({ follower_count }) => compact(follower_count), isNumber: true },
            {
              head: 'Engagement',
              isNumber: true,
              isWide: true,
              cell: ({ engagement_rate }) => rate(engagement_rate),
            },
            { head: 'Found', cell: ({ pk }) => day(times.get(pk)), isWide: true },
          ]}
        />
      )}
      <div className="popup-foot">
        {isNew && after !== START && (
          <Button
            onPress={() => {
              setNew(false);
              setAfter(START);
            }}
          >
            Show all
          </Button>
        )}
        {query.data?.has_more && next !== undefined && <Button onPress={() => setAfter(next)}>Show more</Button>}
        <Link className="button" to="/directory" search={of.filters} onClick={onClose}>
          Run the search
        </Link>
        {selected.size > 0 && (
          <>
            <strong>{number(selected.size)} chosen</strong>
            <AddToList pks={[...selected.values()].map(({ pk }) => pk)} onDone={() => setSelected(new Map())} />
            <AddToRoster of={[...selected.values()]} onDone={() => setSelected(new Map())} />
          </>
        )}
      </div>
      <CreatorCard
        creator={openCreator}
        onClose={() => setOpenCreator(undefined)}
        onOpen={setOpenCreator}
        among={rows}
        actions={null}
      />
    </Dialog>
  );
}
