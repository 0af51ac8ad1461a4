import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Row, uploadTo } from '../call/call.ts';
import { useCall, useChange, useFirst, useRows } from '../call/use.ts';
import { CreatorFace } from '../kit/creator-face.tsx';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { Editor } from '../kit/editor.tsx';
import { FileChoice } from '../kit/file-choice.tsx';
import { useFilters } from '../kit/filters.tsx';
import { compact, day, number, rate } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Button, Empty, Failure, IfMay, Loading, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { useSay } from '../kit/toast.tsx';
import { type Creator, CreatorCard, CreatorOpener, Place, toFace } from './directory-creator.tsx';
import { AddToRoster } from './directory-roster.tsx';

type List = Row<'list_lists'>;
type ListedCreator = Row<'list_listed_creators'>;

const FACES = 4;
const SHOWN = ['list_lists', 'get_list', 'list_listed_creators', 'search_creators'] as const;

function NewList() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button needs="create_list" kind="primary" onPress={() => setOpen(true)}>
        New list
      </Button>
      <OperationDialog
        operation="create_list"
        title="New list"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        action="Create"
        fields={['name', 'note']}
        omits={['search']}
        shown={SHOWN}
        onDone={() => setOpen(false)}
      />
    </>
  );
}

function FromFile({ id }: { id: string }) {
  const cache = useQueryClient();
  const say = useSay();
  const [isOpen, setOpen] = useState(false);
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  async function send(file: File | undefined) {
    if (!file) return;
    const form = new FormData();
    form.set('file', file);
    setBusy(true);
    setFailure(undefined);
    try {
      await uploadTo('add_file_to_list', form, { id });
      await Promise.all(SHOWN.map((name) => cache.invalidateQueries({ queryKey: [name] })));
      say('The creators in the file are on the list.');
      setOpen(false);
    } catch (error) {
      setFailure(error instanceof Error ? error.message : 'The file could not be read.');
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      <Button needs="add_file_to_list" onPress={() => setOpen(true)}>
        Import CSV
      </Button>
      <Dialog
        title="Import creators from a CSV"
        hint="Up to 20 MB, with a header row and a pk or username column."
        isOpen={isOpen}
        onClose={() => setOpen(false)}
      >
        <FileChoice
          label="File"
          files={[]}
          accept=".csv,text/csv"
          isDisabled={isBusy}
          onChoose={([file]) => void send(file)}
        />
        {isBusy && <p role="status">Reading the file …</p>}
        {failure && (
          <p className="problem" role="alert">
            {failure}
          </p>
        )}
      </Dialog>
    </>
  );
}

/** A list of more creators is added to the roster by choosing among them. */
const MOST_ADDED = 100;

interface ListActionsProps {
  list: List;
  /** The creators on it who are not on the roster, as far as they are loaded. */
  others: readonly Creator[];
  onDeleted: () => void;
}

function ListActions({ list, others, onDeleted }: ListActionsProps) {
  const remove = useChange('delete_list', SHOWN);
  const mayAdd = others.length > 0 && list.creators <= MOST_ADDED;
  return (
    <>
      {mayAdd && (
        <AddToRoster of={others} label={`Add ${number(others.length)} to the roster`} onDone={() => undefined} />
      )}
      <Link className="button" to="/directory" search={{ in_list: list.id }}>
        Search this list
      </Link>
      <FromFile id={list.id} />
      <Editor item={list} needs="update_list">
        {({ item, isOpen, onClose }) => (
          <OperationDialog
            operation="update_list"
            title="Edit the list"
            isOpen={isOpen}
            onClose={onClose}
            action="Save"
            params={{ id: item.id }}
            item={item}
            fields={['name', 'note']}
            shown={SHOWN}
            onDone={onClose}
          />
        )}
      </Editor>
      <Menu label="More actions for the list" needs="delete_list">
        <Confirm
          label="Delete the list"
          title={`Delete “${list.name}”?`}
          action="Delete"
          onConfirm={async () => {
            await remove.mutateAsync({ params: { id: list.id } });
            onDeleted();
          }}
        >
          <p>
            The creators stay in the directory and on the roster. Saved searches that name the list fail from then on.
          </p>
        </Confirm>
      </Menu>
    </>
  );
}

function OneList({ id, onLeave }: { id: string; onLeave: () => void }) {
  const { data, error, refetch } = useCall('get_list', { params: { id } });
  const rows = useRows('list_listed_creators', {}, { params: { id } });
  const remove = useChange('remove_from_list', SHOWN);
  const say = useSay();
  const [selected, setSelected] = useState<ReadonlyMap<string, ListedCreator>>(new Map());
  const [openCreator, setOpenCreator] = useState<Creator>();
  const list = data?.data;
  const getKey = ({ pk }: ListedCreator) => String(pk);
  async function takeOff() {
    try {
      await remove.mutateAsync({ params: { id }, body: { pks: [...selected.keys()].map(Number) } });
      setSelected(new Map());
    } catch (thrown) {
      say(thrown instanceof Error ? thrown.message : 'Something went wrong. Try again.');
    }
  }
  const columns: readonly Column<ListedCreator>[] = [
    {
      head: 'Creator',
      cell: ({ creator, pk }) =>
        creator ? (
          <CreatorOpener of={creator} onOpen={() => setOpenCreator(creator)} />
        ) : (
          <span className="muted">No longer in the directory ({pk})</span>
        ),
    },
    {
      head: 'Location',
      cell: ({ creator }) =>
        creator && (
          <span className="place">
            <Place of={creator} />
          </span>
        ),
      isWide: true,
    },
    {
      head: 'Roster',
      cell: ({ on_roster }) => (on_roster ? <span className="badge good">On your roster</span> : '–'),
      chip: 'value',
    },
    { head: 'Followers', cell: ({ creator }) => compact(creator?.follower_count), isNumber: true },
    { head: 'Engagement', cell: ({ creator }) => rate(creator?.engagement_rate), isNumber: true, isWide: true },
    { head: 'Category', cell: ({ creator }) => creator?.category ?? '–', isWide: true },
    { head: 'Added', cell: ({ added_at }) => day(added_at), isWide: true },
  ];
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (!list) return <Loading rows={8} />;
  return (
    <>
      <p>
        <Link to="/lists">All lists</Link>
      </p>
      <PageHead title={list.name} hint={list.note}>
        <ListActions
          list={list}
          others={rows.rows.flatMap(({ creator, on_roster }) => (creator && !on_roster ? [creator] : []))}
          onDeleted={onLeave}
        />
      </PageHead>
      <Table
        caption="Creators on the list"
        noun="creator"
        list={rows}
        getKey={getKey}
        selection={{ selected, onSelect: setSelected }}
        columns={columns}
        empty={
          <Empty title="Nobody is on this list">
            <p>Add creators from the directory, or a CSV of usernames.</p>
            <Link className="button" to="/directory" search={{}}>
              Search the directory
            </Link>
          </Empty>
        }
      />
      {selected.size > 0 && (
        <IfMay needs="remove_from_list">
          <section className="bar" aria-label="Selected creators">
            <strong>{number(selected.size)} selected</strong>
            <div className="row">
              <Button kind="quiet" onPress={() => setSelected(new Map())}>
                Clear
              </Button>
              <Button isBusy={remove.isPending} onPress={() => void takeOff()}>
                Take off the list
              </Button>
              <AddToRoster
                of={[...selected.values()].flatMap(({ creator }) => creator ?? [])}
                onDone={() => setSelected(new Map())}
              />
            </div>
          </section>
        </IfMay>
      )}
      <CreatorCard
        creator={openCreator}
        onClose={() => setOpenCreator(undefined)}
        onOpen={setOpenCreator}
        among={rows.rows.flatMap(({ creator }) => creator ?? [])}
        actions={openCreator && <AddToRoster of={[openCreator]} onDone={() => setOpenCreator(undefined)} />}
      />
    </>
  );
}

/** The number of creators on a list, beside the faces of the last added. */
function Crowd({ of: { id, creators } }: { of: List }) {
  const isEnabled = creators > 0;
  const { data } = useFirst('list_listed_creators', {}, { params: { id }, limit: FACES, isEnabled });
  return (
    <span className="crowd">
      <span className="faces wide">
        {data?.data.map(({ pk, creator }) => creator && <CreatorFace key={pk} {...toFace(creator)} />)}
      </span>
      {number(creators)}
    </span>
  );
}

export function Lists() {
  const { get, set } = useFilters();
  const list = get('list');
  const rows = useRows('list_lists', {});
  if (list !== undefined) return <OneList key={list} id={list} onLeave={() => set('list', '')} />;
  const columns: readonly Column<List>[] = [
    {
      head: 'List',
      cell: ({ id, name }) => (
        <Link className="link" to="/lists" search={{ list: id }}>
          {name}
        </Link>
      ),
    },
    { head: 'Note', cell: ({ note }) => note || '–', chip: 'value' },
    { head: 'Creators', cell: (one) => <Crowd of={one} />, isNumber: true },
    { head: 'Changed', cell: ({ created_at, updated_at }) => <Ago at={updated_at ?? created_at} />, isWide: true },
    {
      head: 'Actions',
      isWide: true,
      cell: ({ id, name }) => (
        <span className="row">
          <Link className="button plain" to="/lists" search={{ list: id }} aria-label={`Open ${name}`}>
            Open
          </Link>
          <Link className="button plain" to="/directory" search={{ in_list: id }} aria-label={`Search ${name}`}>
            Search
          </Link>
        </span>
      ),
    },
  ];
  return (
    <>
      <PageHead
        title="Lists"
        hint="Creators that you saved from the directory. A search can include or exclude a list."
      >
        <NewList />
      </PageHead>
      <Table
        caption="Lists"
        noun="list"
        list={rows}
        columns={columns}
        empty={
          <Empty title="No lists yet">
            <p>Choose creators in the directory and add them to a list, or create one and fill it from a CSV.</p>
            <Link className="button" to="/directory" search={{}}>
              Search the directory
            </Link>
          </Empty>
        }
      />
    </>
  );
}
