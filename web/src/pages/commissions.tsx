import { useState } from 'react';
import { call, type Row } from '../call/call.ts';
import { useChange, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { choiceOf, Filters, useFilters } from '../kit/filters.tsx';
import { day, money, number, words } from '../kit/format.ts';
import { Badge, Button, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';
import { BLOCKS, ExplainDialog } from './explain.tsx';

const STATES = ['pending', 'approved', 'rejected', 'paid'] as const;
type Commission = Row<'list_commissions'>;

interface Refusal {
  id: string;
  orderId: string;
  reasons: string[];
}

const AT_ONCE = 100;
const MAX_EXPLAINED = 25;

/** Why what is still as it was could not be reviewed, order by order. */
async function refusalsOf(rows: readonly Commission[]): Promise<Refusal[]> {
  const found: Refusal[] = [];
  for (const { id, order_id } of rows.slice(0, MAX_EXPLAINED)) {
    if (order_id === null) continue;
    const explained = await call('explain_attribution', { query: { order_id } }).catch(() => undefined);
    const commission = explained?.data.commission;
    if (!commission || !['pending', 'paid'].includes(commission.status)) continue;
    const reasons = commission.blocked_by.map((code) => BLOCKS[code] ?? words(code));
    found.push({ id, orderId: order_id, reasons: reasons.length > 0 ? reasons : [`It is ${commission.status}.`] });
  }
  return found;
}

export function Commissions() {
  const { get } = useFilters();
  const status = choiceOf(get('status'), STATES);
  const query = { status, creator_email: get('creator_email') };
  const list = useRows('list_commissions', query);
  const review = useChange('update_commissions', ['list_commissions', 'get_analytics']);
  const say = useSay();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [explained, setExplained] = useState<string>();
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const chosen = list.rows.filter(({ id }) => selected.has(id));

  async function decide(to: 'approved' | 'rejected') {
    let updated = 0;
    let skipped = 0;
    const ids = [...selected];
    while (ids.length > 0) {
      const { data } = await review.mutateAsync({ body: { event_ids: ids.splice(0, AT_ONCE), status: to } });
      updated += data.updated_count;
      skipped += data.skipped_count;
    }
    say(`${number(updated)} ${to}${skipped > 0 ? `, ${number(skipped)} not` : ''}.`);
    setSelected(new Set());
    if (skipped > 0) setRefusals(await refusalsOf(chosen));
  }

  const columns: readonly Column<Commission>[] = [
    {
      head: 'Order',
      cell: ({ order_id, type, discount_code, affiliate_code }) => (
        <>
          {order_id === null ? (
            words(type)
          ) : (
            <button type="button" className="link" onClick={() => setExplained(order_id)}>
              {order_id}
            </button>
          )}
          <span className="second">{discount_code ?? affiliate_code}</span>
        </>
      ),
    },
    { head: 'Creator', cell: ({ creator_email }) => creator_email ?? '–', isWide: true },
    { head: 'Sale', cell: ({ amount, currency }) => money(amount, currency), isNumber: true, isWide: true },
    { head: 'Commission', cell: ({ commission, currency }) => money(commission, currency), isNumber: true },
    {
      head: 'State',
      cell: ({ status: state, fraud_flags }) => (
        <span className="row">
          <Badge state={state} />
          {fraud_flags.length > 0 && <span className="badge bad">Check</span>}
        </span>
      ),
    },
    { head: 'Ordered', cell: ({ occurred_at }) => day(occurred_at), isWide: true },
  ];
  return (
    <>
      <PageHead title="Commissions" hint="What creators earned by orders. Open an order to read why it paid whom.">
        <Download id="list_commissions" query={query} name="commissions.csv" />
      </PageHead>
      <Filters
        of={[
          { name: 'status', label: 'State', kind: 'select', options: STATES.map((state) => [state, words(state)]) },
          { name: 'creator_email', label: 'Creator’s e-mail', kind: 'text' },
        ]}
      />
      <Table
        caption="Commissions"
        list={list}
        columns={columns}
        empty={
          <Empty title="No commissions here">
            They appear when an order is attributed to a creator’s link or code.
          </Empty>
        }
        selection={{ selected, onSelect: setSelected }}
        maySelect={({ status: state }) => state !== 'paid'}
      />
      {selected.size > 0 && (
        <section className="bar" aria-label="Review">
          <span>{number(selected.size)} chosen</span>
          <span className="row">
            <Button onPress={() => setSelected(new Set())}>None</Button>
            <Button kind="danger" isBusy={review.isPending} onPress={() => void decide('rejected')}>
              Reject
            </Button>
            <Button kind="primary" isBusy={review.isPending} onPress={() => void decide('approved')}>
              Approve
            </Button>
          </span>
        </section>
      )}
      <ExplainDialog orderId={explained} onClose={() => setExplained(undefined)} />
      <Dialog title="These were not changed" isOpen={refusals.length > 0} onClose={() => setRefusals([])}>
        <ul className="plain">
          {refusals.map(({ id, orderId, reasons }) => (
            <li key={id}>
              <strong>{orderId}</strong>: {reasons.join(' ')}
            </li>
          ))}
        </ul>
      </Dialog>
    </>
  );
}
