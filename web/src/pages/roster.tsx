import { useState } from 'react';
import type { Answer, Body, Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { changed, isEmpty } from '../kit/changed.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { everyOf } from '../kit/every.ts';
import { choiceOf, Filters, stateFilter, useFilters } from '../kit/filters.tsx';
import { type Field, Form, FormDialog, type Values } from '../kit/form.tsx';
import { compact, day, money, number, percent, words } from '../kit/format.ts';
import { Badge, Button, Empty, Facts, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { ImportDialog } from './roster-import.tsx';

const STATES = everyOf<NonNullable<Body<'update_roster_creator'>['status']>>()(['active', 'paused', 'removed']);
type Entry = Row<'list_roster'>;
type Record = Answer<'get_roster_creator'>['data'];

/** The names and handles of a creator, best first. */
function namesOf({ creator_name, creator_email, ig_handle, tt_handle }: Entry): string[] {
  const handle = ig_handle ?? tt_handle;
  const known = [creator_name, creator_email, handle && `@${handle}`].filter((name) => name !== null);
  return known.length > 0 ? known : ['Unnamed creator'];
}

const handleText = (handle: string | null, followers: number | null) =>
  handle && (followers === null ? `@${handle}` : `@${handle}, ${compact(followers)} followers`);

/** `hired` records how a creator joined the roster: it can be left, but not chosen. */
const statesOf = ({ status }: Record) => (status === 'hired' ? (['hired', ...STATES] as const) : STATES);

const fieldsOf = (creator: Record): Field[] => [
  { name: 'name', label: 'Name', value: creator.creator_name },
  {
    ...{ name: 'creator_email', label: 'E-mail', kind: 'email', value: creator.creator_email },
    isRequired: creator.creator_email !== null,
  },
  {
    ...{ name: 'status', label: 'Status', kind: 'select', isRequired: true, value: creator.status },
    options: statesOf(creator).map((state) => [state, words(state)]),
  },
  { name: 'tags', label: 'Tags', hint: 'Separate with commas.', value: creator.tags.join(', ') },
  { name: 'note', label: 'Note', kind: 'textarea', value: creator.note },
];

function changeIn(values: Values, creator: Record) {
  const { status, ...next } = {
    name: values.orNull('name'),
    creator_email: values.some('creator_email') ?? null,
    status: values.choice('status', statesOf(creator)),
    tags: values.list('tags'),
    note: values.orNull('note'),
  };
  const { creator_email, ...rest } = changed(next, { ...creator, name: creator.creator_name });
  return {
    ...rest,
    ...(creator_email ? { creator_email } : {}),
    ...(status === 'hired' || status === creator.status ? {} : { status }),
  };
}

function Creator({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const { data, error, refetch } = useCall(
    'get_roster_creator',
    { params: { id: id ?? '' } },
    { enabled: id !== undefined },
  );
  const update = useChange('update_roster_creator', ['list_roster', 'get_roster_creator']);
  const remove = useChange('remove_from_roster', ['list_roster', 'get_roster_creator']);
  const creator = data?.data;
  return (
    <Dialog title={(creator && namesOf(creator)[0]) ?? 'Creator'} isOpen={id !== undefined} onClose={onClose} isSide>
      {error && <Failure error={error} again={() => void refetch()} />}
      {!creator && !error && <Loading />}
      {creator && creator.id === id && (
        <>
          <Facts
            of={[
              ['Status', <Badge key="state" state={creator.status} />],
              ['Photo app', handleText(creator.ig_handle, creator.ig_followers)],
              ['Video app', handleText(creator.tt_handle, creator.tt_followers)],
              ['Engagement', percent(creator.engagement_rate)],
              ['Campaigns completed', number(creator.campaigns_completed)],
              ['Added', day(creator.added_at)],
            ]}
          />
          <Form
            needs="update_roster_creator"
            key={creator.updated_at ?? creator.id}
            action="Save"
            fields={fieldsOf(creator)}
            onSubmit={async (values) => {
              const body = changeIn(values, creator);
              if (!isEmpty(body)) await update.mutateAsync({ params: { id: creator.id }, body });
              onClose();
            }}
          />
          {creator.status !== 'removed' && (
            <Confirm
              needs="remove_from_roster"
              label="Remove from the roster"
              title="Remove this creator?"
              action="Remove"
              onConfirm={async () => {
                await remove.mutateAsync({ params: { id: creator.id } });
                onClose();
              }}
            >
              <p>Links, commissions and payouts stay. You can add the creator again.</p>
            </Confirm>
          )}
        </>
      )}
    </Dialog>
  );
}

export function Roster() {
  const { get } = useFilters();
  const query = { status: choiceOf(get('status'), STATES) };
  const list = useRows('list_roster', query);
  const currency = useCall('get_session').data?.data.brand.currency ?? 'USD';
  const add = useChange('add_to_roster', ['list_roster']);
  const [isAdding, setAdding] = useState(false);
  const [isImporting, setImporting] = useState(false);
  const [shown, setShown] = useState<string>();
  const columns: readonly Column<Entry>[] = [
    {
      head: 'Creator',
      cell: (entry) => {
        const [name, second] = namesOf(entry);
        return (
          <Opener onOpen={() => setShown(entry.id)} second={second}>
            {name}
          </Opener>
        );
      },
    },
    { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
    { head: 'Campaigns', cell: ({ campaigns_completed }) => number(campaigns_completed), isNumber: true, isWide: true },
    { head: 'Earned', cell: ({ total_earned }) => money(total_earned, currency), isNumber: true },
    { head: 'Added', cell: ({ added_at }) => day(added_at), isWide: true },
  ];
  return (
    <>
      <PageHead title="Roster" hint="The creators you work with.">
        <Download id="list_roster" query={query} name="roster.csv" />
        <Button needs="add_to_roster" onPress={() => setImporting(true)}>
          Import CSV
        </Button>
        <Button needs="add_to_roster" kind="primary" onPress={() => setAdding(true)}>
          Add a creator
        </Button>
      </PageHead>
      <Filters of={[stateFilter(STATES)]} />
      <Table
        caption="Roster"
        list={list}
        columns={columns}
        empty={<Empty title="No creators yet">Add a creator, import a file, or find creators in the directory.</Empty>}
      />
      <FormDialog
        title="Add a creator"
        isOpen={isAdding}
        onClose={() => setAdding(false)}
        action="Add"
        fields={[
          { name: 'creator_email', label: 'E-mail', kind: 'email', isRequired: true },
          { name: 'note', label: 'Note', kind: 'textarea', hint: 'Only people in your brand see it.' },
        ]}
        onSubmit={async (values) => {
          await add.mutateAsync({ body: { creator_email: values.text('creator_email'), note: values.orNull('note') } });
          setAdding(false);
        }}
      />
      <ImportDialog isOpen={isImporting} onClose={() => setImporting(false)} />
      <Creator id={shown} onClose={() => setShown(undefined)} />
    </>
  );
}
