import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { choiceOf, Filters, useFilters } from '../kit/filters.tsx';
import { FormDialog } from '../kit/form.tsx';
import { day, money, number, words } from '../kit/format.ts';
import { Badge, Button, Empty, Facts, Loading, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { BatchDialog } from './payout-batch.tsx';

const METHODS = ['manual', 'bank_transfer', 'wallet'] as const;
type Payout = Row<'list_payouts'>;

function Statement({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const { data } = useCall('get_payout', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const payout = data?.data;
  return (
    <Dialog title="Payout" isOpen={id !== undefined} onClose={onClose} isSide>
      {!payout && <Loading />}
      {payout && (
        <Facts
          of={[
            ['Creator', payout.creator_name ?? payout.creator_email],
            ['Amount', money(payout.amount, payout.currency)],
            ['State', <Badge key="state" state={payout.status} />],
            ['Method', words(payout.method)],
            ['Reference', payout.reference],
            ['Note', payout.note],
            ['Recorded', day(payout.created_at)],
            ['Settled', day(payout.paid_at)],
            ['Paid commissions', money(payout.allocated_amount, payout.currency)],
            ['Taken back by refunds', money(payout.netted_amount, payout.currency)],
            ['Left for later commissions', money(payout.unallocated_amount, payout.currency)],
            ['Commissions in it', number(payout.commission_ids.length)],
          ]}
        />
      )}
    </Dialog>
  );
}

export function Payouts() {
  const { get } = useFilters();
  const query = {
    creator_email: get('creator_email'),
    method: choiceOf(get('method'), METHODS),
    from: get('from'),
    to: get('to'),
  };
  const list = useRows('list_payouts', query);
  const create = useChange('create_payout', ['list_payouts']);
  const settle = useChange('settle_payout', ['list_payouts', 'get_payout', 'list_commissions']);
  const [isMaking, setMaking] = useState(false);
  const [isPaying, setPaying] = useState(false);
  const [settling, setSettling] = useState<Payout>();
  const [shown, setShown] = useState<string>();
  const columns: readonly Column<Payout>[] = [
    {
      head: 'Creator',
      cell: ({ id, creator_name, creator_email }) => (
        <>
          <button type="button" className="link" onClick={() => setShown(id)}>
            {creator_name ?? creator_email ?? id}
          </button>
          <span className="second">{creator_name ? creator_email : ''}</span>
        </>
      ),
    },
    { head: 'Method', cell: ({ method }) => words(method), isWide: true },
    { head: 'Amount', cell: ({ amount, currency }) => money(amount, currency), isNumber: true },
    { head: 'State', cell: ({ status }) => <Badge state={status} />, isWide: true },
    { head: 'Recorded', cell: ({ created_at }) => day(created_at), isWide: true },
    {
      head: 'Actions',
      cell: (payout) => payout.status === 'completed' && <Button onPress={() => setSettling(payout)}>Settle</Button>,
    },
  ];
  return (
    <>
      <PageHead title="Payouts" hint="What you paid creators. Settling a payout marks the commissions that it paid.">
        <Download id="list_payouts" query={query} name="payouts.csv" />
        <Button onPress={() => setPaying(true)}>Pay what is due</Button>
        <Button kind="primary" onPress={() => setMaking(true)}>
          Record a payout
        </Button>
      </PageHead>
      <Filters
        of={[
          { name: 'creator_email', label: 'Creator’s e-mail', kind: 'text' },
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
        isOpen={isMaking}
        onClose={() => setMaking(false)}
        action="Record the payout"
        fields={[
          { name: 'creator_email', label: 'Creator’s e-mail', kind: 'email', isRequired: true },
          { name: 'amount', label: 'Amount', kind: 'number', isRequired: true, step: '0.01' },
          { name: 'currency', label: 'Currency', hint: 'Three letters; your own unless you say otherwise.' },
          {
            name: 'method',
            label: 'Method',
            kind: 'select',
            isRequired: true,
            options: METHODS.map((method) => [method, words(method)]),
          },
          { name: 'wallet_email', label: 'Wallet’s e-mail', kind: 'email', hint: 'For a wallet.' },
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
          setMaking(false);
        }}
      />
      <FormDialog
        title={`Settle ${settling ? money(settling.amount, settling.currency) : ''}`}
        hint="The money has left. Approved commissions of this creator are marked as paid, the oldest first."
        isOpen={settling !== undefined}
        onClose={() => setSettling(undefined)}
        action="Settle the payout"
        fields={[
          { name: 'reference', label: 'Reference', hint: 'Your bank’s or wallet’s own.' },
          { name: 'paid_at', label: 'Paid on', kind: 'date' },
        ]}
        onSubmit={async (values) => {
          const paidAt = values.some('paid_at');
          await settle.mutateAsync({
            params: { id: settling?.id ?? '' },
            body: { status: 'paid', reference: values.orNull('reference'), ...(paidAt ? { paid_at: paidAt } : {}) },
          });
          setSettling(undefined);
        }}
      />
      <BatchDialog isOpen={isPaying} onClose={() => setPaying(false)} />
      <Statement id={shown} onClose={() => setShown(undefined)} />
    </>
  );
}
