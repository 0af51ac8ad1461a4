import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Query, Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useRows } from '../call/use.ts';
import { Download } from '../kit/download.tsx';
import { CREATOR_FILTER, Filters, findChoice, useFilters } from '../kit/filters.tsx';
import { counted, day, money, number, words } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { useDialog, useOpened } from '../kit/opened.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Button, Empty, PageHead, Stat, Stats } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { Foot, ReadFoot } from '../kit/totals.tsx';
import { CorrectionDialog } from './corrections.tsx';
import { BatchDialog } from './payout-batch.tsx';
import { SettleDialog } from './payout-settle.tsx';
import { isPaid, isToSettle, PayoutState } from './payout-state.tsx';
import { PayoutDialog } from './payout-statement.tsx';

const SETTLED = ['true', 'false'] as const;
const SORTS = listChoices('list_payouts', 'sort');
const METHODS = listChoices('list_payouts', 'method');
type Payout = Row<'list_payouts'>;

/** The amounts owed now, by currency; undefined while they are loading. */
const useOwed = () =>
  useCall('preview_payouts', { query: { limit: 1 } }).data?.summary.by_currency.filter(({ total }) => total > 0);

const sumQuery = (query: Query<'list_payouts'>) => ({ query: { ...query, totals: true, limit: 1 } });

const sumText = (sums: readonly { amount: number; currency: string }[]) =>
  sums.map(({ amount, currency }) => money(amount, currency)).join(' + ');

const dueText = (sums: readonly { total: number; currency: string }[]) =>
  sums.map(({ total, currency }) => money(total, currency)).join(' + ');

/** The money on its way to creators, from due to paid. */
function Due() {
  const owedSums = useOwed();
  const unsettled = useCall('list_payouts', sumQuery({ settled: false })).data;
  const paid = useCall('list_payouts', sumQuery({ settled: true })).data;
  const payees = owedSums?.reduce((sum, one) => sum + one.payees, 0);
  return (
    <Stats isBrief>
      <Stat
        label="Due now"
        value={
          owedSums?.length ? (
            <Link to="/payouts/open-items" search={{}}>
              {dueText(owedSums)}
            </Link>
          ) : (
            owedSums && 'Nothing'
          )
        }
        note={
          payees === 0
            ? 'every approved commission is paid'
            : `to ${number(payees)} ${payees === 1 ? 'creator' : 'creators'}, less refunds and advances`
        }
        why="Approved commissions of all time, less refunds of paid ones and money paid in advance. Balances adds what is pending."
      />
      <Stat
        label="To settle"
        value={
          unsettled?.totals?.length ? (
            <Link to="/payouts" search={{ settled: 'false' }}>
              {sumText(unsettled.totals)}
            </Link>
          ) : unsettled ? (
            'Nothing'
          ) : (
            '–'
          )
        }
        note={
          unsettled &&
          (unsettled.pagination.total === 0
            ? 'every recorded payout is settled'
            : `${counted(unsettled.pagination.total, 'payout')} recorded, not yet confirmed`)
        }
      />
      <Stat
        label="Paid"
        value={paid ? sumText(paid.totals ?? []) || 'Nothing' : '–'}
        note={paid && `${counted(paid.pagination.total, 'payout')} since you began`}
      />
    </Stats>
  );
}

/** The sum of what is recorded, and how much of it is not settled. */
function PayoutTotals({ query }: { query: Query<'list_payouts'> }) {
  const all = useCall('list_payouts', sumQuery(query)).data;
  const unsettled = useCall('list_payouts', sumQuery({ ...query, settled: false })).data;
  if (!all || !unsettled) return <ReadFoot hasNote />;
  if (!all.totals?.length) return null;
  const toSettle = new Map(unsettled.totals?.map(({ currency, amount }) => [currency, amount]));
  return (
    <Foot
      label="Totals of these payouts"
      lines={all.totals.map(({ count, currency, amount }) => {
        const open = query.settled === true ? 0 : (toSettle.get(currency) ?? 0);
        return {
          count: [counted(count, 'payout'), open !== 0 && `including ${money(open, currency)} to settle`]
            .filter(Boolean)
            .join(', '),
          sums: [['Total', money(amount, currency), 'Amount']] as const,
        };
      })}
      note="Includes fees and advances; excludes voided and returned payouts."
    />
  );
}

export function Payouts() {
  const { get } = useFilters();
  const settledChoice = findChoice(get('settled'), SETTLED);
  const query = {
    creator_email: get('creator_email'),
    method: findChoice(get('method'), METHODS),
    settled: settledChoice === undefined ? undefined : settledChoice === 'true',
    from: get('from'),
    to: get('to'),
    sort: findChoice(get('sort'), SORTS) ?? 'newest',
  };
  const list = useRows('list_payouts', query);
  const currency = useCall('get_session').data?.data.brand.currency;
  const making = useDialog('create');
  const paying = useDialog('pay');
  const owedSums = useOwed();
  const [settling, setSettling] = useState<Payout>();
  const [correcting, setCorrecting] = useState<Payout>();
  const panel = useOpened();
  const columns: readonly Column<Payout>[] = [
    {
      head: 'Creator',
      cell: ({ id, creator_name, creator_email }) => (
        <Opener
          of={{ creator_name, creator_email }}
          onOpen={() => panel.open(id)}
          second={creator_name && <span className="wide">{creator_email}</span>}
        >
          {creator_name ?? creator_email ?? id}
        </Opener>
      ),
    },
    { head: 'Method', cell: ({ method }) => words(method), chip: 'value' },
    {
      head: 'Amount',
      cell: ({ amount, currency }) => money(amount, currency),
      sort: { by: 'amount', isOn: query.sort === 'amount' },
      isNumber: true,
    },
    { head: 'Status', cell: (payout) => <PayoutState of={payout} />, chip: 'value' },
    { head: 'Recorded', cell: ({ created_at }) => day(created_at), chip: 'value', isOrder: true },
    {
      head: 'Actions',
      isWide: true,
      needs: 'settle_payout',
      cell: (payout) => (
        <span className="row">
          {isToSettle(payout) && (
            <Button needs="settle_payout" onPress={() => setSettling(payout)}>
              Settle
            </Button>
          )}
          {payout.corrected_at === null && (
            <Menu
              label={`More actions for ${payout.creator_name ?? payout.creator_email ?? payout.id}`}
              needs="void_payout"
            >
              <Button onPress={() => setCorrecting(payout)}>{isPaid(payout) ? 'Mark as returned' : 'Void'}</Button>
            </Menu>
          )}
        </span>
      ),
    },
  ];
  return (
    <>
      <PageHead title="Payouts" hint="What you paid creators. Settling a payout marks its commissions as paid.">
        <Download id="list_payouts" query={query} name="payouts.csv" />
        <Link to="/payouts/open-items" search={{}} className="button plain">
          Balances
        </Link>
        <Button needs="create_payout" onPress={making.open}>
          Record a payout
        </Button>
        {owedSums?.length !== 0 && (
          <Button needs="pay_payout_batch" kind="primary" onPress={paying.open}>
            {owedSums ? `Pay ${dueText(owedSums)}` : 'Pay what is due'}
          </Button>
        )}
      </PageHead>
      <Due />
      <Filters
        of={[
          {
            name: 'settled',
            label: 'Status',
            kind: 'select',
            options: [
              ['false', 'To settle'],
              ['true', 'Paid'],
            ],
          },
          CREATOR_FILTER,
          {
            name: 'method',
            label: 'Method',
            kind: 'select',
            options: METHODS.map((method) => [method, words(method)]),
          },
          { name: 'from', label: 'From', kind: 'date' },
          { name: 'to', label: 'To', kind: 'date' },
        ]}
      />
      <Table
        caption="Payouts"
        noun="payout"
        list={list}
        columns={columns}
        empty={<Empty title="No payouts yet">Record one when you pay a creator.</Empty>}
        foot={<PayoutTotals query={{ ...query, sort: 'newest' }} />}
      />
      <OperationDialog
        operation="create_payout"
        title="Record a payout"
        hint="For a creator who is or was on the roster."
        isOpen={making.isOpen}
        onClose={making.close}
        action="Record the payout"
        start={{ creator_email: get('creator_email'), method: 'manual', currency }}
        fields={[
          'creator_email',
          { name: 'amount', step: '0.01' },
          { name: 'currency', isRequired: true },
          'method',
          { name: 'wallet_email', label: 'Wallet email', kind: 'email', hint: 'Only for wallet payouts.' },
          'note',
        ]}
        omits={['description', 'commission_ids']}
        shown={['list_payouts']}
        onDone={making.close}
      />
      <SettleDialog payout={settling} onClose={() => setSettling(undefined)} />
      <CorrectionDialog payout={correcting} onClose={() => setCorrecting(undefined)} />
      <BatchDialog isOpen={paying.isOpen} onClose={paying.close} />
      <PayoutDialog id={panel.id} onClose={panel.close} />
    </>
  );
}
