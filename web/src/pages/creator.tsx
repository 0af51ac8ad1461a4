import { Link, Navigate, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Answer } from '../call/call.ts';
import { useCall, useChange, useFirst } from '../call/use.ts';
import { CLICKS_COUNT, commissionsCount, ORDERS_COUNT, salesCount } from '../kit/counts.ts';
import { creatorName } from '../kit/creator-name.ts';
import { Confirm } from '../kit/dialog.tsx';
import { Editor } from '../kit/editor.tsx';
import { Face } from '../kit/face.tsx';
import { ago, compact, counted, day, money, number, rate, words } from '../kit/format.ts';
import { Glance } from '../kit/glance.tsx';
import { Menu } from '../kit/menu.tsx';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Badge, Button, Card, Facts, Failure, IfMay, Loading, PageHead, Stat, Stats } from '../kit/parts.tsx';
import { useSay } from '../kit/toast.tsx';
import { CreatorCampaigns } from './creator-campaigns.tsx';
import { EditCreator } from './creator-edit.tsx';
import { FormLinks } from './item-links.tsx';
import { PaymentProfile } from './payment-profile.tsx';
import { isPaid } from './payout-state.tsx';
import { ErasePerson, ExportPerson } from './person-rights.tsx';
import { SalesTrend } from './sales-trend.tsx';
import {
  BriefsGlance,
  ContractsGlance,
  DeliverablesGlance,
  LinksGlance,
  PostsGlance,
  ShipmentsGlance,
} from './work-glances.tsx';

type RosterCreator = Answer<'get_roster_creator'>['data'];

/** A creator; without a record they applied and are not on the roster. */
interface CreatorIdentity {
  name: string;
  email: string | null;
  record: RosterCreator | undefined;
}

const PROFILES = { instagram: 'https://www.instagram.com/', tiktok: 'https://www.tiktok.com/@' } as const;

function Handle({ of, handle, followers }: { of: keyof typeof PROFILES; handle: string; followers: number | null }) {
  return (
    <span>
      <a href={`${PROFILES[of]}${encodeURIComponent(handle)}`} target="_blank" rel="noreferrer">
        @{handle}
      </a>
      {followers !== null && <span className="muted">, {compact(followers)} followers</span>}
    </span>
  );
}

/** The creator's balance and payments, one row per currency, and the sales they brought. */
function Money({ record: { id, creator_id, creator_email } }: { record: RosterCreator }) {
  const balance = useCall('get_creator_balance', { params: { id } });
  const statements = useStatements(creator_email);
  const isEnabled = creator_email !== null;
  const results = useFirst('list_creators', { creator_email: creator_email ?? '' }, { limit: 1, isEnabled });
  const currency = useCall('get_session').data?.data.brand.currency ?? 'USD';
  const brought = results.data?.data.find((one) => one.id === creator_id)?.performance;
  if (balance.error) return <Failure error={balance.error} again={() => void balance.refetch()} />;
  if (!balance.data) return <Loading rows={2} />;
  const { by_currency: balances } = balance.data.data;
  return (
    <>
      {balances.map((one, i) => (
        <Stats key={one.currency}>
          <Stat
            label="Payable now"
            value={money(one.payable_now, one.currency)}
            note="Approved, less deductions"
            why="Approved commissions, less refunds of paid ones and money paid in advance."
          />
          <Stat
            label="Ready to approve"
            value={money(one.pending, one.currency)}
            why="Pending commissions whose review period is over."
          />
          <Stat
            label="In review period"
            value={money(one.held, one.currency)}
            why="Pending commissions that cannot be approved yet."
          />
          <Stat
            label="Paid so far"
            value={money(one.earned, one.currency)}
            note={i === 0 && statements}
            why="Commissions paid, less refunds that payouts deducted. Payouts below include fees and advances."
          />
        </Stats>
      ))}
      {balances.length === 0 && (
        <p className="hint row">No earnings yet. They start with the first order of a link or code. {statements}</p>
      )}
      {brought && brought.conversions + brought.clicks > 0 && (
        <Stats>
          <Stat label="Sales" value={money(brought.revenue, currency)} note="All time" why={salesCount(currency)} />
          <Stat label="Orders" value={number(brought.conversions)} note="All time" why={ORDERS_COUNT} />
          <Stat label="Clicks" value={number(brought.clicks)} note="All time" why={CLICKS_COUNT} />
          <Stat
            label="Commissions"
            value={money(brought.commissions_earned, currency)}
            note="All time"
            why={commissionsCount(currency)}
          />
        </Stats>
      )}
      {brought && brought.conversions + brought.clicks > 0 && (
        <Card title="Sales by week, last 12 weeks">
          <SalesTrend only={{ creator: creator_id }} days={84} granularity="week" />
        </Card>
      )}
    </>
  );
}

/** A link to the creator's statements; false if there are none. */
function useStatements(email: string | null) {
  const of = { creator_email: email ?? '' };
  const total = useFirst('list_statements', of, { limit: 1, isEnabled: email !== null }).data?.pagination.total ?? 0;
  return (
    total > 0 && (
      <Link to="/statements" search={of}>
        {counted(total, 'statement')}
      </Link>
    )
  );
}

/** Leads to the creator's disputes that wait for an answer. */
function OpenDisputes({ email }: { email: string }) {
  const of = { creator_email: email, status: 'open' } as const;
  const total = useFirst('list_disputes', of, { limit: 1 }).data?.pagination.total ?? 0;
  if (total === 0) return null;
  return (
    <Link to="/disputes" search={of}>
      {counted(total, 'open dispute')}
    </Link>
  );
}

/** Everything that the creator and the brand did together, found by email address. */
function Together({ email }: { email: string }) {
  const of = { creator_email: email };
  return (
    <div className="grid">
      <ContractsGlance of={of} />
      <DeliverablesGlance of={of} />
      <Glance
        title="Commissions"
        id="list_affiliate_commissions"
        to="/commissions"
        query={of}
        empty="No commissions yet."
        row={({ id, order_id, order_number, type, commission, currency, status, created_at }) => ({
          key: id,
          // The list is in the order of this day, not of the order's own.
          second: `Recorded ${day(created_at)}`,
          value: money(commission, currency),
          state: status,
          name: order_id === null ? words(type) : `Order ${order_number ?? order_id}`,
          opens: { ...of, ...(order_id === null ? {} : { open: order_id }) },
        })}
      />
      <Glance
        title="Payouts"
        id="list_payouts"
        to="/payouts"
        query={of}
        empty="No payouts yet."
        row={({ id, amount, currency, created_at, method, status }) => ({
          key: id,
          name: money(amount, currency),
          second: `${words(method)}, ${day(created_at)}`,
          state: isPaid({ status, method }) ? 'paid' : 'to_settle',
        })}
      />
      <LinksGlance of={of} />
      <PostsGlance of={of} />
      <Glance
        title="Messages"
        id="list_conversations"
        to="/conversations"
        query={of}
        empty="No messages yet."
        row={({ conversation_id, last_message, message_count, unread_count }) => ({
          key: conversation_id,
          name: last_message.body,
          second: `${number(message_count)} ${message_count === 1 ? 'message' : 'messages'}, ${ago(last_message.sent_at)}`,
          ...(unread_count > 0 ? { state: 'unread' } : {}),
        })}
      />
      <BriefsGlance of={of} />
      <CreatorCampaigns email={email} />
      <ShipmentsGlance of={of} />
      <Glance
        title="Past commissions"
        id="list_past_commissions"
        to="/commissions/past"
        query={of}
        empty={null}
        row={({ id, source, amount, currency, paid_at }) => ({
          key: id,
          name: source,
          second: day(paid_at),
          value: money(amount, currency),
          opens: of,
        })}
      />
    </div>
  );
}

function About({ record }: { record: RosterCreator }) {
  const { creator_email, ig_handle, ig_followers, tt_handle, tt_followers, engagement_rate, tags, note } = record;
  return (
    <Card title="About">
      <Facts
        of={(
          [
            ['Email', creator_email && <a href={`mailto:${creator_email}`}>{creator_email}</a>],
            ['Instagram', ig_handle && <Handle of="instagram" handle={ig_handle} followers={ig_followers} />],
            ['TikTok', tt_handle && <Handle of="tiktok" handle={tt_handle} followers={tt_followers} />],
            ['Engagement', engagement_rate === null ? null : rate(engagement_rate)],
            ['Tags', tags.join(', ')],
            ['Campaigns completed', number(record.campaigns_completed)],
            ['On the roster since', day(record.added_at)],
            ['Note', note],
          ] as const
        ).filter(([, value]) => value !== null && value !== '')}
      />
    </Card>
  );
}

function Merge({ record, isOpen, onClose }: { record: RosterCreator; isOpen: boolean; onClose: () => void }) {
  const navigate = useNavigate();
  const say = useSay();
  return (
    <OperationDialog
      operation="merge_roster_creators"
      title={`Merge ${creatorName(record)} into another creator`}
      hint="For one person who is on the roster twice. Handles, tags, note, applications, links and clicks move to the other creator. It cannot be undone. A creator with orders or payouts cannot be merged into another: merge in the other direction."
      isOpen={isOpen}
      onClose={onClose}
      action="Merge"
      params={{ id: record.id }}
      fields={[{ name: 'into', label: 'Creator to keep', kind: 'entry' }]}
      shown={['list_roster', 'get_roster_creator', 'list_creators']}
      onDone={async ({ data }) => {
        say('The two creators are one now.');
        await navigate({ to: '/creators/$id', params: { id: data.id }, search: {}, replace: true });
      }}
    />
  );
}

/** The forms of other pages, for this creator. */
function CreatorForms({ email }: { email: string }) {
  const search = { creator_email: email, dialog: 'create' };
  return (
    <>
      <FormLinks of={{ creator_email: email }} />
      <IfMay needs="create_payout">
        <Link to="/payouts" search={search} className="button plain">
          Record a payout
        </Link>
      </IfMay>
      <IfMay needs="create_statement">
        <Link to="/statements" search={search} className="button plain">
          Create a statement
        </Link>
      </IfMay>
    </>
  );
}

function RosterActions({ record }: { record: RosterCreator }) {
  const [isMerging, setMerging] = useState(false);
  const remove = useChange('remove_from_roster', ['list_roster', 'get_roster_creator']);
  return (
    <>
      <Editor item={record} needs="update_roster_creator">
        {(editing) => <EditCreator {...editing} />}
      </Editor>
      <Menu label={`More actions for ${creatorName(record)}`} needs="update_roster_creator">
        {record.creator_email !== null && <CreatorForms email={record.creator_email} />}
        <Button needs="merge_roster_creators" onPress={() => setMerging(true)}>
          Merge into another creator
        </Button>
        {record.status !== 'removed' && (
          <Confirm
            needs="remove_from_roster"
            label="Remove from the roster"
            title="Remove this creator?"
            action="Remove"
            onConfirm={() => remove.mutateAsync({ params: { id: record.id } })}
          >
            <p>Links, commissions and payouts stay. You can add the creator again.</p>
          </Confirm>
        )}
        <ExportPerson of={{ creator_id: record.creator_id }} />
        <ErasePerson of={{ creator_id: record.creator_id }} name={creatorName(record)} />
      </Menu>
      <Merge record={record} isOpen={isMerging} onClose={() => setMerging(false)} />
    </>
  );
}

function Adding({ email }: { email: string }) {
  const add = useChange('add_to_roster', ['list_roster']);
  const say = useSay();
  const addIt = () =>
    add.mutateAsync({ body: { creator_email: email } }).then(
      () => say('Added to the roster.'),
      (error: Error) => say(error.message),
    );
  return (
    <Button needs="add_to_roster" isBusy={add.isPending} onPress={() => void addIt()}>
      Add to the roster
    </Button>
  );
}

function Page({ name, email, record }: CreatorIdentity) {
  const handle = record?.ig_handle ?? record?.tt_handle;
  return (
    <>
      <div className="creator-head">
        <Face name={name} url={record?.pfp_url ?? null} isLarge />
        <PageHead
          title={name}
          hint={
            <span className="row">
              {[handle && `@${handle}`, email !== name && email].filter(Boolean).join(' · ')}
              <Badge state={record?.status ?? 'not_on_the_roster'} />
              {email !== null && <OpenDisputes email={email} />}
            </span>
          }
        >
          {email !== null && (
            <IfMay needs="send_message">
              <Link to="/conversations" search={{ creator_email: email, dialog: 'create' }} className="button primary">
                Write a message
              </Link>
            </IfMay>
          )}
          {record ? <RosterActions record={record} /> : email !== null && <Adding email={email} />}
        </PageHead>
      </div>
      {record && <Money record={record} />}
      <div className={record ? 'beside-about' : undefined}>
        {email === null ? (
          <p className="note-box">
            Contracts, messages, links and payouts need an email address. Add the creator’s with Edit.
          </p>
        ) : (
          <Together email={email} />
        )}
        {record && (
          <div className="about">
            <About record={record} />
            <PaymentProfile id={record.id} email={email} />
          </div>
        )}
      </div>
    </>
  );
}

/** Most lists of the API know a creator by their address only. */
function ByEmail({ email }: { email: string }) {
  const rosterEntry = useFirst('list_roster', { creator_email: email }, { limit: 1 });
  const applications = useFirst('list_applications', { creator_email: email }, { limit: 1 });
  if (rosterEntry.error) return <Failure error={rosterEntry.error} again={() => void rosterEntry.refetch()} />;
  if (!rosterEntry.data || applications.isPending) return <Loading />;
  const [entry] = rosterEntry.data.data;
  if (entry) return <Navigate to="/creators/$id" params={{ id: entry.id }} search={{}} replace />;
  return <Page name={applications.data?.data[0]?.creator_name ?? email} email={email} record={undefined} />;
}

function ById({ id }: { id: string }) {
  const { data, error, refetch } = useCall('get_roster_creator', { params: { id } });
  if (error) {
    return (
      <>
        <PageHead title="Creator" />
        <Failure error={error} again={() => void refetch()} />
      </>
    );
  }
  const record = data?.data;
  if (!record || ![record.id, record.creator_id].includes(id)) return <Loading />;
  return <Page name={creatorName(record)} email={record.creator_email} record={record} />;
}

/** One creator: money, work, messages, content, links, parcels and notes. */
export function Creator() {
  const { id = '' } = useParams({ strict: false });
  return id.includes('@') ? <ByEmail key={id} email={id} /> : <ById key={id} id={id} />;
}
