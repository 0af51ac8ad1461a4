import { useRef, useState } from 'react';
import { CallError, type Row } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import { useChange, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { CREATOR_FILTER, choiceOf, Filters, stateFilter, useFilters } from '../kit/filters.tsx';
import { day, money, number, withLocalTimes, words } from '../kit/format.ts';
import { Badge, Button, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';
import { ExplainDialog } from './explain.tsx';

const STATES = ['pending', 'approved', 'rejected', 'paid'] as const;
type Commission = Row<'list_commissions'>;

type Decision = 'approved' | 'rejected';

interface Refusal {
  id: string;
  order: string;
  reason: string;
}

/** What the API names in its refusal of the whole, row by row. */
function refusalsOf(error: unknown, ids: readonly string[], orders: ReadonlyMap<string, string>): Refusal[] {
  if (!(error instanceof CallError) || error.code !== 'INVALID_SELECTION') throw error;
  return error.problems.flatMap(({ field, message }) => {
    const id = ids[Number(field.split('.').at(-1))];
    if (id === undefined) return [];
    return [{ id, order: orders.get(id) ?? id, reason: withLocalTimes(message.replace(`${id}: `, '')) }];
  });
}

const AT_ONCE = 100;

export function Commissions() {
  const { get } = useFilters();
  const status = choiceOf(get('status'), STATES);
  const query = { status, creator_email: get('creator_email') };
  const list = useRows('list_commissions', query);
  const review = useChange('update_commissions', ['list_commissions', 'get_analytics']);
  const say = useSay();
  const may = useMay();
  // Somebody chooses here, scrolls on, and chooses there.
  const orders = useRef(new Map<string, string>());
  for (const { id, order_id } of list.rows) orders.current.set(id, order_id ?? id);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [explained, setExplained] = useState<string>();
  const [refused, setRefused] = useState<{ to: Decision; refusals: readonly Refusal[]; rest: readonly string[] }>();

  async function decide(to: Decision, ids: readonly string[]) {
    try {
      for (let from = 0; from < ids.length; from += AT_ONCE) {
        const some = ids.slice(from, from + AT_ONCE);
        const refusals = await review.mutateAsync({ body: { event_ids: some, status: to } }).then(
          () => [],
          (error: unknown) => refusalsOf(error, some, orders.current),
        );
        if (refusals.length > 0) {
          setRefused({ to, refusals, rest: ids.slice(from).filter((id) => !refusals.some((one) => one.id === id)) });
          return;
        }
      }
      say(`${number(ids.length)} ${to}.`);
      setSelected(new Set());
      setRefused(undefined);
    } catch (error) {
      say(error instanceof Error ? error.message : 'It did not work.');
    }
  }

  const columns: readonly Column<Commission>[] = [
    {
      head: 'Order',
      cell: ({ order_id, type, discount_code, affiliate_code, creator_email }) => (
        <>
          {order_id === null ? (
            words(type)
          ) : (
            <button type="button" className="link" onClick={() => setExplained(order_id)}>
              {order_id}
            </button>
          )}
          <span className="second">{discount_code ?? affiliate_code}</span>
          <div className="narrow">
            <span className="second">{creator_email}</span>
          </div>
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
      <Filters of={[stateFilter(STATES), CREATOR_FILTER]} />
      <Table
        caption="Commissions"
        list={list}
        columns={columns}
        empty={
          <Empty title="No commissions here">
            They appear when an order is attributed to a creator’s link or code.
          </Empty>
        }
        {...(may('update_commissions') ? { selection: { selected, onSelect: setSelected } } : {})}
        maySelect={({ status: state }) => state !== 'paid'}
      />
      {selected.size > 0 && (
        <section className="bar" aria-label="Review">
          <span>{number(selected.size)} chosen</span>
          <span className="row">
            <Button onPress={() => setSelected(new Set())}>None</Button>
            <Button kind="danger" isBusy={review.isPending} onPress={() => void decide('rejected', [...selected])}>
              Reject
            </Button>
            <Button kind="primary" isBusy={review.isPending} onPress={() => void decide('approved', [...selected])}>
              Approve
            </Button>
          </span>
        </section>
      )}
      <ExplainDialog orderId={explained} onClose={() => setExplained(undefined)} />
      <Dialog
        title="Not all of them can be changed"
        hint="Nothing was changed yet."
        isOpen={refused !== undefined}
        onClose={() => setRefused(undefined)}
      >
        <ul className="plain">
          {refused?.refusals.map(({ id, order, reason }) => (
            <li key={id}>
              <strong>{order}</strong>: {reason}
            </li>
          ))}
        </ul>
        <div className="popup-foot">
          <Button onPress={() => setRefused(undefined)}>Leave them all</Button>
          {refused && refused.rest.length > 0 && (
            <Button kind="primary" isBusy={review.isPending} onPress={() => void decide(refused.to, refused.rest)}>
              {refused.to === 'approved' ? 'Approve' : 'Reject'} the other {number(refused.rest.length)}
            </Button>
          )}
        </div>
      </Dialog>
    </>
  );
}
