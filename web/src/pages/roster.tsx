import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { creatorName, creatorSecond } from '../kit/creator-name.ts';
import { Download } from '../kit/download.tsx';
import { Filters, findChoice, sortIn, stateFilter, useFilters } from '../kit/filters.tsx';
import { FormDialog } from '../kit/form.tsx';
import { compact, day, money, number } from '../kit/format.ts';
import { useDialog } from '../kit/opened.ts';
import { Badge, Button, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { STATES } from './creator-edit.tsx';
import { CreatorCell } from './item-links.tsx';
import { ImportDialog } from './roster-import.tsx';

type Entry = Row<'list_roster'>;

export function Roster() {
  const { get } = useFilters();
  const query = {
    status: findChoice(get('status'), STATES),
    search: get('search'),
    tag: get('tag'),
    sort: sortIn(get),
  };
  const list = useRows('list_roster', query);
  const currency = useCall('get_session').data?.data.brand.currency ?? 'USD';
  const add = useChange('add_to_roster', ['list_roster']);
  const adding = useDialog('create');
  const importing = useDialog('import');
  const columns: readonly Column<Entry>[] = [
    {
      head: 'Creator',
      cell: (entry) => (
        <CreatorCell id={entry.id} name={creatorName(entry)} url={entry.pfp_url} second={creatorSecond(entry)} />
      ),
    },
    { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
    {
      head: 'Followers',
      cell: ({ ig_followers, tt_followers }) =>
        compact(ig_followers === null && tt_followers === null ? null : Math.max(ig_followers ?? 0, tt_followers ?? 0)),
      isNumber: true,
    },
    { head: 'Tags', cell: ({ tags }) => tags.join(', ') || '–', isWide: true },
    {
      head: 'Completed campaigns',
      cell: ({ campaigns_completed }) => (campaigns_completed === 0 ? '–' : number(campaigns_completed)),
      isNumber: true,
      isWide: true,
    },
    {
      head: 'Paid',
      cell: ({ total_earned }) => (total_earned === 0 ? '–' : money(total_earned, currency)),
      isNumber: true,
      isWide: true,
    },
    { head: 'Added', cell: ({ added_at }) => day(added_at), isWide: true, isOrder: true },
  ];
  return (
    <>
      <PageHead
        title="Roster"
        hint="The creators you work with. “Hired” ones are active too: they were added by their handle."
      >
        <Download id="list_roster" query={query} name="roster.csv" />
        <Button needs="add_to_roster" onPress={importing.open}>
          Import CSV
        </Button>
        <Button needs="add_to_roster" kind="primary" onPress={adding.open}>
          Add a creator
        </Button>
      </PageHead>
      <Filters
        of={[
          { name: 'search', label: 'Name, handle or e-mail', kind: 'text' },
          stateFilter(STATES),
          { name: 'tag', label: 'Tag', kind: 'text' },
        ]}
      />
      <Table
        caption="Roster"
        list={list}
        columns={columns}
        empty={<Empty title="No creators yet">Add a creator, import a file, or find creators in the directory.</Empty>}
      />
      <FormDialog
        title="Add a creator"
        isOpen={adding.isOpen}
        onClose={adding.close}
        action="Add"
        fields={[
          { name: 'creator_email', label: 'E-mail', kind: 'email', isRequired: true },
          { name: 'note', label: 'Note', kind: 'textarea', hint: 'Only people in your brand see it.' },
        ]}
        onSubmit={async (values) => {
          await add.mutateAsync({ body: { creator_email: values.text('creator_email'), note: values.orNull('note') } });
          adding.close();
        }}
      />
      <ImportDialog isOpen={importing.isOpen} onClose={importing.close} />
    </>
  );
}
