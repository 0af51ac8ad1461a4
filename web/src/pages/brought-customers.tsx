import { Link } from '@tanstack/react-router';
import type { Answer, Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Detail } from '../kit/detail.tsx';
import { Confirm } from '../kit/dialog.tsx';
import { type Editing, Editor } from '../kit/editor.tsx';
import { CREATOR_FILTER, Filters, findChoice, LINK_FILTER, sortIn, useFilters } from '../kit/filters.tsx';
import { day, money, number, words } from '../kit/format.ts';
import { useOpened } from '../kit/opened.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Empty, Facts } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { CreatorName } from './item-links.tsx';
import { ErasePerson, ExportPerson } from './person-rights.tsx';

type Customer = Answer<'get_customer'>['data'];

const ORIGINS = listChoices('list_customers', 'origin');
const STATES = listChoices('list_customers', 'state');
const SHOWN = ['list_customers', 'get_customer'] as const;

const ORIGIN_WORDS: Readonly<Record<Customer['origin'], string>> = {
  order: 'An order that a code or click won',
  lead: 'Reported before the first order',
  hand: 'Entered by hand',
  import: 'Imported from another tool',
};

const STATE_WORDS: Readonly<Record<Customer['state'], string>> = {
  open: 'Not paid yet',
  running: 'Earns',
  over: 'Over',
  ended: 'Ended',
};

const COVERS: Readonly<Record<Customer['covers'], string>> = {
  order: 'The first order',
  subscription: 'The subscription',
  customer: 'All later orders',
};

const State = ({ of }: { of: Customer['state'] }) => (
  <span className={of === 'running' ? 'badge good' : 'badge quiet'}>{STATE_WORDS[of]}</span>
);

/** The address as it is masked, else a subscription, else the first order. */
const customerName = ({ customer_email, subscription_ids: [subscription] }: Row<'list_customers'>) =>
  customer_email ?? (subscription === undefined ? 'A customer' : `Subscription ${subscription}`);

const paymentsText = ({ made, of }: Customer['payments']) =>
  of === null ? number(made) : `${number(made)} of ${number(of)}`;

const earnedText = ({ commission }: Row<'list_customers'>) =>
  commission.map(({ amount, currency }) => money(amount, currency)).join(' + ') || '–';

function MoveCustomer({ item: customer, isOpen, onClose }: Editing<Customer>) {
  return (
    <OperationDialog
      operation="update_customer"
      title="Move the customer"
      hint="Later orders earn for another link or code, or by the terms as they are now. Decided orders stay."
      isOpen={isOpen}
      onClose={onClose}
      action="Save"
      params={{ id: customer.id }}
      fields={[
        { name: 'link_id', label: 'Link or code', kind: 'link', hint: 'Empty: the same as now.' },
        {
          name: 'terms',
          label: 'Terms',
          labels: { '': 'As they were copied', present: 'Those in effect now' },
        },
        { name: 'reason', hint: 'For your own records.' },
      ]}
      omits={['ended']}
      shown={SHOWN}
      onDone={onClose}
    />
  );
}

function Actions({ of: customer }: { of: Customer }) {
  const { id, state } = customer;
  const update = useChange('update_customer', SHOWN);
  const forget = useChange('delete_customer', SHOWN);
  const isEnded = state === 'ended';
  return (
    <div className="row">
      <Editor item={customer} needs="update_customer" kind="primary" text="Move">
        {(editing) => <MoveCustomer {...editing} />}
      </Editor>
      <Confirm
        needs="update_customer"
        label={isEnded ? 'Take the end back' : 'End'}
        title={isEnded ? 'Let later orders earn again?' : 'End this customer?'}
        action={isEnded ? 'Take it back' : 'End'}
        isDanger={!isEnded}
        onConfirm={() => update.mutateAsync({ params: { id }, body: { ended: !isEnded } })}
      >
        <p>
          {isEnded
            ? 'Later orders earn by the terms that were copied.'
            : 'Later orders pay nobody by this customer. Commissions that exist stay.'}
        </p>
      </Confirm>
      <Confirm
        needs="delete_customer"
        label="Forget"
        title="Forget this customer?"
        action="Forget"
        onConfirm={() => forget.mutateAsync({ params: { id } })}
      >
        <p>Nothing recognizes the customer any more, and later orders pay nobody. Orders and commissions stay.</p>
      </Confirm>
      <ExportPerson of={{ customer_of: id }} />
      <ErasePerson of={{ customer_of: id }} name="this customer" />
    </div>
  );
}

function CustomerPanel({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useCall('get_customer', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  return (
    <Detail id={id} onClose={onClose} query={query} title={(one) => (one ? customerName(one) : 'Customer')}>
      {(one) => (
        <>
          <p className="note-box">{one.summary}</p>
          <Facts
            of={[
              ['Status', <State key="state" of={one.state} />],
              ['Creator', <CreatorName key="creator" of={one} />],
              [
                'Link or code',
                <Link key="link" to="/links" search={{ open: one.link_id }}>
                  {one.link_value}
                </Link>,
              ],
              ['Known by', ORIGIN_WORDS[one.origin]],
              [
                'First order',
                one.first_order_id && (
                  <Link to="/orders" search={{ open: one.first_order_id }}>
                    Why it was won
                  </Link>
                ),
              ],
              ['Covers', COVERS[one.covers]],
              ['Since', day(one.since)],
              ['Until', one.until === null ? 'Without an end' : day(one.until)],
              ['Payments', paymentsText(one.payments)],
              [
                'Orders',
                <Link key="orders" to="/orders" search={{ customer_id: one.id }}>
                  {number(one.orders)}
                </Link>,
              ],
              ['Commission', earnedText(one)],
              ['Subscriptions', one.subscription_ids.join(', ')],
            ]}
          />
          <Actions of={one} />
        </>
      )}
    </Detail>
  );
}

/** The customers whose later orders earn for a creator: why, and until when. */
export function BroughtCustomers() {
  const { get } = useFilters();
  const query = {
    creator_email: get('creator_email'),
    link_id: get('link_id'),
    subscription_id: get('subscription_id'),
    origin: findChoice(get('origin'), ORIGINS),
    state: findChoice(get('state'), STATES),
    by_upgrade: get('by_upgrade') === 'true' ? true : undefined,
    created_after: get('created_after'),
    sort: sortIn(get),
  };
  const list = useRows('list_customers', query);
  const panel = useOpened();
  const columns: readonly Column<Row<'list_customers'>>[] = [
    {
      head: 'Customer',
      cell: (one) => (
        <Opener
          onOpen={() => panel.open(one.id)}
          second={
            <>
              {words(COVERS[one.covers])}
              <span className="narrow">
                {one.creator_name ?? one.creator_email}, {STATE_WORDS[one.state].toLowerCase()}
              </span>
            </>
          }
        >
          {customerName(one)}
        </Opener>
      ),
    },
    { head: 'Creator', cell: (one) => <CreatorName of={one} />, isWide: true },
    { head: 'Status', cell: ({ state }) => <State of={state} />, isWide: true },
    { head: 'Payments', cell: ({ payments }) => paymentsText(payments), isNumber: true, isWide: true },
    { head: 'Commission', cell: earnedText, isNumber: true },
    { head: 'Until', cell: ({ until }) => (until === null ? 'Without an end' : day(until)), isWide: true },
    { head: 'Since', cell: ({ since }) => day(since), isWide: true, isOrder: true },
  ];
  return (
    <>
      <Filters
        of={[CREATOR_FILTER, LINK_FILTER, { name: 'subscription_id', label: 'Subscription', kind: 'text' }]}
        more={[
          {
            name: 'state',
            label: 'Status',
            kind: 'select',
            options: STATES.map((state) => [state, STATE_WORDS[state]]),
          },
          {
            name: 'origin',
            label: 'Known by',
            kind: 'select',
            options: ORIGINS.map((origin) => [origin, ORIGIN_WORDS[origin]]),
          },
          { name: 'by_upgrade', label: 'Recorded by', kind: 'select', options: [['true', 'The upgrade']] },
          { name: 'created_after', label: 'Since', kind: 'date' },
        ]}
      />
      {query.by_upgrade && (
        <p className="note-box">
          Orders from before the upgrade won these customers, and their renewals pay the creators too. Check that this
          is right; where it is not, open the customer and choose Move, End or Forget.
        </p>
      )}
      <Table
        caption="Customers of creators"
        noun="customer"
        list={list}
        columns={columns}
        empty={
          <Empty title="No customers of creators yet">
            They appear where terms cover more than the first order, and after free trials.
          </Empty>
        }
      />
      <CustomerPanel id={panel.id} onClose={panel.close} />
    </>
  );
}
