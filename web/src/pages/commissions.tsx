import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { CallError, type Row, whenAccepted } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useMay } from '../call/may.ts';
import { joinRows, useCall, useChange, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { CAMPAIGN_FILTER, CREATOR_FILTER, type Filter, Filters, findChoice, useFilters } from '../kit/filters.tsx';
import { counted, day, money, number, words } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { useDialog, useOpened } from '../kit/opened.ts';
import { orderSecond } from '../kit/order-name.ts';
import { Button, Empty, PageHead } from '../kit/parts.tsx';
import { useSelection } from '../kit/selection.ts';
import { type Column, Table } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';
import { sumUp, Totals } from '../kit/totals.tsx';
import { ApproveDueDialog } from './approve-due.tsx';
import { CommissionStages, useReadyCommissions } from './commission-stages.tsx';
import { RateNote, SHOW_REVIEWS, Standing } from './commission-standing.tsx';
import { ClawBackDialog, ManualCommissionDialog } from './corrections.tsx';
import { ExplainDialog } from './explain.tsx';
import { CreatorName } from './item-links.tsx';

const STATES = listChoices('list_affiliate_commissions', 'status');
const SORTS = listChoices('list_affiliate_commissions', 'sort');
type Commission = Row<'list_affiliate_commissions'>;

const ORDER_FILTER: Filter = { name: 'order_id', label: 'Order', kind: 'text' };

type ReviewDecision = 'approved' | 'rejected';

interface ReviewRefusal {
  id: string;
  order: string;
  reason: string;
}

interface Refused {
  to: ReviewDecision;
  refusals: readonly ReviewRefusal[];
  /** The ids that were not refused. */
  rest: readonly string[];
  /** The number that were changed before the refusal. */
  done: number;
}

/** At most so many orders of a group are listed by name. */
const NAMED = 3;
const REVIEW_PERIOD = 'The review period is not over.';

/** Refusals by their reason, the most frequent first. */
function Reasons({ of }: { of: readonly ReviewRefusal[] }) {
  const groups = [...Map.groupBy(of, ({ reason }) => reason)].toSorted(
    ([, one], [, other]) => other.length - one.length,
  );
  return (
    <ul className="plain">
      {groups.map(([reason, refusals]) => (
        <li key={reason}>
          <strong>{counted(refusals.length, 'commission')}</strong>: {reason}
          <p className="muted">
            {refusals
              .slice(0, NAMED)
              .map(({ order }) => order)
              .join(', ')}
            {refusals.length > NAMED && ` and ${number(refusals.length - NAMED)} more`}
          </p>
        </li>
      ))}
    </ul>
  );
}

/** The refusals that the API lists when it rejects a selection, one per row. */
function toRefusals(error: unknown, ids: readonly string[], orders: ReadonlyMap<string, Commission>): ReviewRefusal[] {
  if (!(error instanceof CallError) || error.code !== 'INVALID_SELECTION') throw error;
  return error.problems.flatMap(({ field, code, message }) => {
    const id = ids[Number(field.split('.').at(-1))];
    if (id === undefined) return [];
    const reason = code === 'review_period_active' ? REVIEW_PERIOD : message.replace(`${id}: `, '');
    const { order_number = null, order_id = null } = orders.get(id) ?? {};
    return [{ id, order: order_number ?? order_id ?? id, reason }];
  });
}

const AT_ONCE = 100;

export function Commissions() {
  const { get } = useFilters();
  const status = findChoice(get('status'), STATES);
  const approvableChoice = findChoice(get('approvable'), ['true', 'false']);
  const approvable = approvableChoice === undefined ? undefined : approvableChoice === 'true';
  const of = { creator_email: get('creator_email'), campaign_id: get('campaign_id') };
  const filters = { ...of, status, approvable, order_id: get('order_id') };
  const sort = findChoice(get('sort'), SORTS) ?? 'newest';
  const query = { ...filters, sort };
  // Without a filter or an order of their own, those that a review can approve come first.
  const isByReview = status === undefined && approvable === undefined && get('sort') === undefined;
  const reviewable = useRows('list_affiliate_commissions', { ...query, ...(isByReview && { approvable: true }) });
  const others = useRows('list_affiliate_commissions', { ...query, ...(isByReview && { approvable: false }) });
  const list = isByReview ? joinRows(reviewable, others) : reviewable;
  const readyCount = useReadyCommissions(of).data?.pagination.total;
  const totals = useCall('list_affiliate_commissions', { query: { ...filters, totals: true, limit: 1 } });
  const cache = useQueryClient();
  // The lists are read again once, after the last part.
  const review = useChange('update_commissions', []);
  const [reviewedCount, setReviewedCount] = useState<number>();
  const say = useSay();
  const may = useMay();
  const selection = useSelection<Commission>(filters);
  const { selected, onSelect, drop } = selection;
  const panel = useOpened();
  const [refusal, setRefusal] = useState<Refused>();
  const recording = useDialog('record');
  const approving = useDialog('approve');
  const [taking, setTaking] = useState<Commission>();

  async function decide(to: ReviewDecision, ids: readonly string[]) {
    try {
      for (let from = 0; from < ids.length; from += AT_ONCE) {
        setReviewedCount(from);
        const some = ids.slice(from, from + AT_ONCE);
        const refusals = await whenAccepted(() => review.mutateAsync({ body: { event_ids: some, status: to } })).then(
          () => [],
          (error: unknown) => toRefusals(error, some, selected),
        );
        if (refusals.length > 0) {
          const rest = ids.slice(from).filter((id) => !refusals.some((one) => one.id === id));
          setRefusal({ to, refusals, rest, done: from });
          return;
        }
      }
      say(`${number(ids.length)} ${to}.`);
      drop(selected.keys());
      setRefusal(undefined);
    } catch (error) {
      say(error instanceof Error ? error.message : 'Something went wrong. Try again.');
    } finally {
      await Promise.all(SHOW_REVIEWS.map((name) => cache.invalidateQueries({ queryKey: [name] })));
      setReviewedCount(undefined);
    }
  }

  const isReviewing = reviewedCount !== undefined;
  const columns: readonly Column<Commission>[] = [
    {
      head: 'Order',
      cell: ({ order_id, order_number, type, discount_code, affiliate_code, ...creator }) => (
        <>
          {order_id === null ? (
            words(type)
          ) : (
            <button type="button" className="link order-id" onClick={() => panel.open(order_id)}>
              {order_number ?? order_id}
            </button>
          )}
          <div className="wide">
            <span className="second">
              {[orderSecond({ order_id, order_number }), discount_code ?? affiliate_code].filter(Boolean).join(', ')}
            </span>
          </div>
          <div className="narrow">
            <span className="second">
              <CreatorName of={creator} />
            </span>
          </div>
        </>
      ),
    },
    { head: 'Creator', cell: (row) => <CreatorName of={row} />, isWide: true },
    {
      head: 'Sale',
      cell: ({ amount, currency }) => money(amount, currency),
      sort: { by: 'amount', isOn: sort === 'amount' },
      isNumber: true,
      isWide: true,
    },
    {
      head: 'Commission',
      cell: (row) => (
        <>
          {money(row.commission, row.currency)}
          <RateNote of={row} />
        </>
      ),
      sort: { by: 'commission', isOn: sort === 'commission' },
      isNumber: true,
    },
    {
      head: 'Status',
      cell: (commission) => <Standing of={commission} />,
    },
    {
      head: 'Actions',
      isWide: true,
      needs: 'claw_back_commission',
      cell: (commission) =>
        commission.status === 'paid' &&
        commission.clawed_back_at === null && (
          <Button needs="claw_back_commission" onPress={() => setTaking(commission)}>
            Claw back
          </Button>
        ),
    },
    {
      head: 'Recorded',
      isWide: true,
      isOrder: 'asked',
      cell: ({ created_at, occurred_at }) => (
        <>
          {day(created_at)}
          {day(occurred_at) !== day(created_at) && <span className="second">ordered {day(occurred_at)}</span>}
        </>
      ),
    },
  ];
  return (
    <>
      <PageHead
        title="Commissions"
        hint={
          approvable
            ? 'Ready to approve: select what to approve or reject.'
            : 'What creators earned from orders. Open an order to see who was paid and why.'
        }
      >
        <Button needs="approve_due_commissions" kind={readyCount === 0 ? 'plain' : 'primary'} onPress={approving.open}>
          {readyCount === undefined ? 'Approve all ready' : `Approve all ready (${number(readyCount)})`}
        </Button>
        <Menu label="More actions for commissions">
          <Download id="list_commissions" query={query} name="commissions.csv" />
          <Button needs="record_manual_commission" onPress={recording.open}>
            Record a commission
          </Button>
          <Link to="/commissions/past" search={{}} className="button plain">
            Past commissions
          </Link>
        </Menu>
      </PageHead>
      <CommissionStages of={of} status={status} approvable={approvable} />
      <Filters of={[CREATOR_FILTER, CAMPAIGN_FILTER, ORDER_FILTER]} saved={['sort', 'status', 'approvable']} />
      <Table
        caption="Commissions"
        noun="commission"
        order={isByReview && (readyCount ?? 0) > 0 ? 'those ready to approve first' : undefined}
        list={list}
        columns={columns}
        empty={
          <Empty title="No commissions yet">They appear when an order is attributed to a creator’s link or code.</Empty>
        }
        {...(may('update_commissions') ? { selection } : {})}
        maySelect={({ status: state }) => state !== 'paid'}
        foot={
          selected.size === 0 && (
            <Totals
              label="Totals of these commissions"
              noun="commission"
              of={totals.data?.totals}
              sums={[
                ['amount', 'Sales', 'Sale'],
                ['commission', 'Commission'],
              ]}
              note="Sales before refunds, of unpaid orders too. Analytics counts paid orders, less refunds."
            />
          )
        }
      />
      {selected.size > 0 && (
        <section className="bar" aria-label="Review">
          <span role="status">
            {isReviewing && selected.size > AT_ONCE
              ? `${number(reviewedCount)} of ${number(selected.size)} decided`
              : `${number(selected.size)} selected`}{' '}
            <strong>{sumUp(selected.values())}</strong>
          </span>
          <span className="row">
            <Button isDisabled={isReviewing} onPress={() => onSelect(new Map())}>
              Clear selection
            </Button>
            <Button kind="danger" isBusy={isReviewing} onPress={() => void decide('rejected', [...selected.keys()])}>
              Reject
            </Button>
            <Button kind="primary" isBusy={isReviewing} onPress={() => void decide('approved', [...selected.keys()])}>
              Approve
            </Button>
          </span>
        </section>
      )}
      <ManualCommissionDialog isOpen={recording.isOpen} onClose={recording.close} email={of.creator_email} />
      <ApproveDueDialog isOpen={approving.isOpen} onClose={approving.close} email={of.creator_email} />
      <ClawBackDialog commission={taking} onClose={() => setTaking(undefined)} />
      <ExplainDialog order={panel.id} onClose={panel.close} />
      <Dialog
        title="Some commissions cannot be changed"
        hint={refusal?.done ? `The first ${number(refusal.done)} were ${refusal.to}.` : 'Nothing has been changed yet.'}
        isOpen={refusal !== undefined}
        onClose={() => setRefusal(undefined)}
      >
        <Reasons of={refusal?.refusals ?? []} />
        <div className="popup-foot">
          <Button onPress={() => setRefusal(undefined)}>Cancel</Button>
          {refusal && refusal.rest.length > 0 && (
            <Button kind="primary" isBusy={isReviewing} onPress={() => void decide(refusal.to, refusal.rest)}>
              {refusal.to === 'approved' ? 'Approve' : 'Reject'} the other {number(refusal.rest.length)}
            </Button>
          )}
        </div>
      </Dialog>
    </>
  );
}
