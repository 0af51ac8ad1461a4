import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Download } from '../kit/download.tsx';
import { listEnum } from '../kit/every.ts';
import { CREATOR_FILTER, Filters, findChoice, sortIn, useFilters } from '../kit/filters.tsx';
import { creatorField, FormDialog } from '../kit/form.tsx';
import { day, money, number, words } from '../kit/format.ts';
import { useDialog, useOpened } from '../kit/opened.ts';
import { Button, Empty, PageHead, Stat, Stats } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { BatchDialog } from './payout-batch.tsx';
import { SettleDialog } from './payout-settle.tsx';
import { isPaid, PayoutDialog, PayoutState } from './payout-statement.tsx';

const SETTLED = ['true', 'false'] as const;
const METHODS = listEnum<Row<'list_payouts'>['method']>()(['manual', 'bank_transfer', 'wallet']);
type Payout = Row<'list_payouts'>;

/** The amounts owed now, by currency; undefined while they are loading. */
const useOwed = () =>
  useCall('preview_payouts', { query: { limit: 1 } }).data?.summary.by_currency.filter(({ total }) => total > 0);

function Due() {
  const owed = useOwed();
  const unsettled = useCall('list_payouts', { query: { settled: false, limit: 1 } });
  const payees = owed?.reduce((sum, one) => sum + one.payees, 0);
  return (
    <Stats>
      <Stat
        label="Due now"
        value={owed && (owed.map(({ total, currency }) => money(total, currency)).join(' + ') || 'Nothing')}
        note={
          payees === 0
            ? 'every approved commission is paid'
            : `to ${number(payees)} ${payees === 1 ? 'creator' : 'creators'}, less refunds and advances`
        }
      />
      <Stat label="To settle" value={number(unsettled.data?.pagination.total)} note="recorded, not yet confirmed" />
    </Stats>
  );
}

export function Payouts() {
  const { get } = useFilters();
  const settled = findChoice(get('settled'), SETTLED);
  const query = {
    creator_email: get('creator_email'),
    method: findChoice(get('method'), METHODS),
    settled: settled === undefined ? undefined : settled === 'true',
    from: get('from'),
    to: get('to'),
    sort: sortIn(get),
  };
  const list = useRows('list_payouts', query);
  const create = useChange('create_payout', ['list_payouts']);
  const making = useDialog('create');
  const paying = useDialog('pay');
  const owed = useOwed();
  const [settling, setSettling] = useState<Payout>();
  const opened = useOpened();
  const columns: readonly Column<Payout>[] = [
    {
      head: 'Creator',
      cell: ({ id, creator_name, creator_email }) => (
        <Opener
          of={{ creator_name, creator_email }}
          onOpen={() => opened.open(id)}
          second={creator_name ? creator_email : ''}
        >
          {creator_name ?? creator_email ?? id}
        </Opener>
      ),
    },
    { head: 'Method', cell: ({ method }) => words(method), isWide: true },
    { head: 'Amount', cell: ({ amount, currency }) => money(amount, currency), isNumber: true },
    { head: 'Status', cell: (payout) => <PayoutState of={payout} />, isWide: true },
    { head: 'Recorded', cell: ({ created_at }) => day(created_at), isWide: true, isOrder: true },
    {
      head: 'Actions',
      needs: 'settle_payout',
      cell: (payout) =>
        !isPaid(payout) && (
          <Button needs="settle_payout" onPress={() => setSettling(payout)}>
            Settle
          </Button>
        ),
    },
  ];
  return (
    <>
      <PageHead title="Payouts" hint="What you paid creators. Settling a payout marks its commissions as paid.">
        <Download id="list_payouts" query={query} name="payouts.csv" />
        <Button needs="create_payout" onPress={making.open}>
          Record a payout
        </Button>
        {owed?.length !== 0 && (
          <Button needs="pay_payout_batch" kind="primary" onPress={paying.open}>
            Pay what is due
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
        list={list}
        columns={columns}
        empty={<Empty title="No payouts here">Record one when you pay a creator.</Empty>}
      />
      <FormDialog
        title="Record a payout"
        hint="For a creator who is or was on the roster."
        isOpen={making.isOpen}
        onClose={making.close}
        action="Record the payout"
        fields={[
          creatorField(get('creator_email')),
          { name: 'amount', label: 'Amount', kind: 'number', isRequired: true, step: '0.01' },
          { name: 'currency', label: 'Currency', hint: 'Three-letter code. Leave blank for your brand’s currency.' },
          {
            name: 'method',
            label: 'Method',
            kind: 'select',
            isRequired: true,
            options: METHODS.map((method) => [method, words(method)]),
          },
          { name: 'wallet_email', label: 'Wallet e-mail', kind: 'email', hint: 'Only for wallet payouts.' },
          { name: 'note', label: 'Note', kind: 'textarea' },
        ]}
        onSubmit={async (values) => {
          const currency = values.some('currency')?.toUpperCase();
          await create.mutateAsync({
            body: {
              creator_email: values.text('creator_email'),
              amount: values.number('amount'),
              method: values.choice('method', METHODS),
              ...(currency ? { currency } : {}),
              ...(values.some('wallet_email') ? { wallet_email: values.text('wallet_email') } : {}),
              note: values.orNull('note'),
            },
          });
          making.close();
        }}
      />
      <SettleDialog payout={settling} onClose={() => setSettling(undefined)} />
      <BatchDialog isOpen={paying.isOpen} onClose={paying.close} />
      <PayoutDialog id={opened.id} onClose={opened.close} />
    </>
  );
}
