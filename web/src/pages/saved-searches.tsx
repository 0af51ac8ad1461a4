import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import { useAll, useCall, useChange } from '../call/use.ts';
import { Confirm } from '../kit/dialog.tsx';
import { number } from '../kit/format.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Button } from '../kit/parts.tsx';
import { isSameSearch, readSearch, type SearchParameters } from './directory-search.ts';
import { NewMatches } from './saved-search-matches.tsx';

export type SavedSearch = Row<'list_saved_searches'>;

const SHOWN = ['list_saved_searches'] as const;
const ALERTS = {
  '': 'Never',
  import: 'After each import',
  day: 'Once a day',
  week: 'Once a week',
} as const;

/** The fields of a new search, or of one that is changed. Viewers share none. */
function useFields(of?: SavedSearch) {
  const may = useMay();
  const person = useCall('get_session').data?.data.person;
  const canShare = (of === undefined || of.by === person?.email) && may('create_list');
  return {
    start: { alert: { mail: person ? [person.email] : [] } },
    fields: [
      { name: 'name', label: 'Search name' },
      ...(canShare
        ? [
            {
              name: 'shared',
              label: 'Share it with the brand',
              hint: "The brand's API keys can run it too.",
            } as const,
          ]
        : []),
      { name: 'alert.every', label: 'Email new matches', labels: ALERTS, isRequired: false },
      { name: 'alert.mail', label: 'Email to', hint: "Addresses of the brand's people." },
    ] as const,
    omits: ['filters', ...(canShare ? [] : (['shared'] as const))] as const,
    shown: SHOWN,
  };
}

/** Settings of a saved search, and the button that deletes it. */
function Settings({ of, onClose }: { of: SavedSearch; onClose: () => void }) {
  const remove = useChange('delete_saved_search', SHOWN);
  const form = useFields(of);
  return (
    <OperationDialog
      {...form}
      operation="update_saved_search"
      title={of.name}
      hint={of.problem ?? undefined}
      isOpen
      onClose={onClose}
      action="Save"
      params={{ id: of.id }}
      item={of}
      onDone={onClose}
    >
      <div className="row">
        <Confirm
          label="Delete"
          title={`Delete “${of.name}”?`}
          action="Delete"
          onConfirm={async () => {
            await remove.mutateAsync({ params: { id: of.id } });
            onClose();
          }}
        >
          <p>Its matches are deleted, and its emails stop.</p>
        </Confirm>
      </div>
    </OperationDialog>
  );
}

interface ChipProps {
  of: SavedSearch;
  /** True if the page shows its results. */
  isOpen: boolean;
  onMatches: () => void;
  onSettings: () => void;
}

/** One saved search: a link that runs it, what is new, and its settings. */
function Chip({ of, isOpen, onMatches, onSettings }: ChipProps) {
  const may = useMay();
  const person = useCall('get_session').data?.data.person;
  // Viewers change only their own.
  const isChangeable = of.by === person?.email || may('create_list');
  return (
    <span className={isOpen ? 'chip on' : 'chip'}>
      <Link to="/directory" search={of.filters} activeOptions={{ exact: true }} aria-current={isOpen || undefined}>
        {of.name}
      </Link>
      {of.matches > 0 && (
        <button type="button" className="link" onClick={onMatches}>
          {of.unseen > 0 ? (
            <span className="badge good">{`${isOpen ? 'Show ' : ''}${number(of.unseen)} new`}</span>
          ) : (
            `${number(of.matches)} found`
          )}
          <span className="sr-only"> in {of.name}</span>
        </button>
      )}
      {of.problem !== null && <span className="badge bad">Cannot run</span>}
      {isChangeable && (
        <button type="button" className="link" aria-label={`Settings of ${of.name}`} onClick={onSettings}>
          …
        </button>
      )}
    </span>
  );
}

/** The button that saves the search of the page, once it filters something. */
export function SaveSearch({ search }: { search: SearchParameters }) {
  const [isNaming, setNaming] = useState(false);
  const form = useFields();
  // Without a filter there is nothing to save.
  if (Object.keys(search).length === 0) return null;
  return (
    <>
      <Button onPress={() => setNaming(true)}>Save this search</Button>
      <OperationDialog
        {...form}
        operation="save_search"
        title="Save this search"
        hint="A search of yours with the same name is replaced. Creators who match from now on are new."
        isOpen={isNaming}
        onClose={() => setNaming(false)}
        action="Save"
        fixed={{ filters: search }}
        onDone={() => setNaming(false)}
      />
    </>
  );
}

/** The person's saved searches and those that are shared, with what is new since they last looked. */
export function SavedSearches({ search }: { search: SearchParameters }) {
  const searches = useAll('list_saved_searches', {});
  const address: Record<string, unknown> = useSearch({ strict: false });
  // A mail links to the matches of one search.
  const [matchesId, setMatchesId] = useState(address.matches);
  const [settingsId, setSettingsId] = useState<string>();
  const findSearch = (id: unknown) => searches.data?.find((one) => one.id === id);
  const [matchesSearch, settingsSearch] = [findSearch(matchesId), findSearch(settingsId)];
  return (
    <section className="row saved" aria-label="Saved searches">
      {searches.data?.length === 0 && <span className="hint small">Save a search to see who begins to match it.</span>}
      {searches.data?.map((one) => (
        <Chip
          key={one.id}
          of={one}
          isOpen={isSameSearch(readSearch(one.filters), search)}
          onMatches={() => setMatchesId(one.id)}
          onSettings={() => setSettingsId(one.id)}
        />
      ))}
      {settingsSearch && (
        <Settings key={settingsSearch.id} of={settingsSearch} onClose={() => setSettingsId(undefined)} />
      )}
      {matchesSearch && (
        <NewMatches key={matchesSearch.id} of={matchesSearch} onClose={() => setMatchesId(undefined)} />
      )}
    </section>
  );
}
