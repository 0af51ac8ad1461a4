import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import type { Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { creatorName, creatorSecond } from '../kit/creator-name.ts';
import { Download } from '../kit/download.tsx';
import { Choose, Filters, findChoice, stateFilter, useFilters } from '../kit/filters.tsx';
import { Labelled } from '../kit/form.tsx';
import { compact, day, money, number, rate } from '../kit/format.ts';
import { useDialog } from '../kit/opened.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Badge, Button, Empty, IfMay, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';
import { Totals } from '../kit/totals.tsx';
import { CreatorCell, toProfileLink } from './item-links.tsx';

const SORTS = listChoices('list_roster', 'sort');
const STATES = listChoices('list_roster', 'status');

const ADD_BY = [
  ['address', 'Email'],
  ['handle', 'Handle on Instagram or TikTok'],
] as const;
const E_MAIL = { name: 'creator_email', label: 'Email', kind: 'email' } as const;
const HANDLES = [
  { name: 'ig_handle', kind: 'text' },
  { name: 'tt_handle', kind: 'text' },
] as const;

/** A first message, which is mailed once the creator is on the roster. The address is the one in the form around it. */
function useInvitation() {
  const text = useRef<HTMLTextAreaElement>(null);
  const send = useChange('send_message', ['list_conversations']);
  const say = useSay();
  async function invite() {
    const body = text.current?.value.trim() ?? '';
    if (!text.current?.form || body === '') return;
    const email = String(new FormData(text.current.form).get('creator_email') ?? '').trim();
    if (email === '') {
      say('Added, but nobody was invited: an invitation needs an email address.');
      return;
    }
    await send.mutateAsync({ body: { creator_email: email, body, send_email: true } }).then(
      () => say('The invitation is being emailed.'),
      (error: Error) => say(`Added, but the invitation was not sent: ${error.message}`),
    );
  }
  const input = (
    <IfMay needs="send_message">
      <Labelled label="Invitation" hint="Emailed to the creator with a link to reply. Leave blank to send nothing.">
        {(labelled) => <textarea rows={4} ref={text} maxLength={10_000} {...labelled} />}
      </Labelled>
    </IfMay>
  );
  return { invite, input };
}

function AddDialog({ isOpen, close }: ReturnType<typeof useDialog>) {
  const [by, setBy] = useState<'address' | 'handle'>('address');
  const { invite, input } = useInvitation();
  const dialog = {
    title: 'Add a creator',
    action: 'Add',
    shown: ['list_roster'],
    onClose: close,
    onDone: () => invite().then(close),
    head: <Choose ofForm label="Add by" value={by} options={ADD_BY} onChoose={setBy} />,
    children: input,
    isOpen,
  } as const;
  return by === 'address' ? (
    <OperationDialog
      {...dialog}
      operation="add_to_roster"
      fields={[E_MAIL, 'name', { name: 'note', hint: 'Only your team can see this.' }]}
    />
  ) : (
    <OperationDialog {...dialog} operation="add_to_roster_by_handle" fields={[...HANDLES, 'name', E_MAIL, 'tags']} />
  );
}

type RosterEntry = Row<'list_roster'>;

/** The profile, under the name of its platform where the creator's name says the handle already. */
function showProfile(entry: RosterEntry) {
  const label = (handle: string | null, platform: string) =>
    creatorName(entry) === `@${handle}` ? platform : `@${handle}`;
  return (
    toProfileLink('instagram.com/', entry.ig_handle, label(entry.ig_handle, 'Instagram')) ??
    toProfileLink('tiktok.com/@', entry.tt_handle, label(entry.tt_handle, 'TikTok')) ??
    creatorSecond(entry)
  );
}

export function Roster() {
  const { get } = useFilters();
  const sort = findChoice(get('sort'), SORTS) ?? 'sold';
  const query = {
    status: findChoice(get('status'), STATES),
    search: get('search'),
    tag: get('tag'),
    sort,
  };
  const list = useRows('list_roster', query);
  const totals = useCall('list_roster', { query: { ...query, sort: 'newest', totals: true, limit: 1 } }).data?.totals;
  const currency = useCall('get_session').data?.data.brand.currency ?? 'USD';
  const adding = useDialog('create');
  const columns: readonly Column<RosterEntry>[] = [
    {
      head: 'Creator',
      cell: (entry) => (
        <CreatorCell id={entry.id} name={creatorName(entry)} url={entry.pfp_url} second={showProfile(entry)} />
      ),
    },
    { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
    {
      head: 'Followers',
      cell: ({ ig_followers, tt_followers }) =>
        compact(ig_followers === null && tt_followers === null ? null : Math.max(ig_followers ?? 0, tt_followers ?? 0)),
      sort: { by: 'followers', isOn: sort === 'followers' },
      isNumber: true,
      isWide: true,
    },
    {
      head: 'Engagement',
      cell: ({ engagement_rate }) => rate(engagement_rate),
      sort: { by: 'engagement', isOn: sort === 'engagement' },
      isNumber: true,
      isWide: true,
    },
    {
      head: 'Sold',
      cell: ({ total_sold }) => (total_sold === 0 ? '–' : money(total_sold, currency)),
      sort: { by: 'sold', isOn: sort === 'sold' },
      isNumber: true,
    },
    { head: 'Tags', cell: ({ tags }) => tags.join(', ') || '–', isWide: true },
    ...(list.rows.some(({ campaigns_completed }) => campaigns_completed > 0)
      ? [
          {
            head: 'Completed',
            cell: ({ campaigns_completed }: RosterEntry) =>
              campaigns_completed === 0 ? '–' : number(campaigns_completed),
            sort: { by: 'campaigns', isOn: sort === 'campaigns' },
            isNumber: true,
            isWide: true,
          },
        ]
      : []),
    {
      head: 'Paid',
      cell: ({ total_earned }) => (total_earned === 0 ? '–' : money(total_earned, currency)),
      sort: { by: 'paid', isOn: sort === 'paid' },
      isNumber: true,
      isWide: true,
    },
    {
      head: 'Added',
      cell: ({ added_at }) => day(added_at),
      sort: { by: 'newest', isOn: sort === 'newest' },
      isWide: true,
    },
  ];
  return (
    <>
      <PageHead title="Roster" hint="The creators you work with.">
        <Download id="list_roster" query={query} name="roster.csv" />
        <IfMay needs="create_import">
          <Link className="button" to="/imports/new" search={{ of: 'roster' }}>
            Import creators
          </Link>
        </IfMay>
        <Button needs="add_to_roster" kind="primary" onPress={adding.open}>
          Add a creator
        </Button>
      </PageHead>
      <Filters
        of={[
          { name: 'search', label: 'Name, handle or email', kind: 'text' },
          stateFilter(STATES),
          { name: 'tag', label: 'Tag', kind: 'text' },
        ]}
      />
      <Table
        caption="Roster"
        noun="creator"
        list={list}
        columns={columns}
        empty={<Empty title="No creators yet">Add a creator, import a file, or find creators in the directory.</Empty>}
        foot={
          <Totals
            label="Totals of these creators"
            noun="creator"
            of={totals}
            sums={[
              ['total_sold', 'Sold'],
              ['total_earned', 'Paid'],
            ]}
            note="All time. Sold is paid orders, less refunds; paid is commissions, without fees and advances."
          />
        }
      />
      <AddDialog {...adding} />
    </>
  );
}
