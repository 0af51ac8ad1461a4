import { Link } from '@tanstack/react-router';
import type { Answer } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { day, minorMoney, money, number, words } from '../kit/format.ts';
import { orderSecond } from '../kit/order-name.ts';
import { Badge, Facts, Failure, IfMay, Loading } from '../kit/parts.tsx';
import { PlainTable } from '../kit/table.tsx';
import { BothTimes } from '../kit/time.tsx';
import { ReviewOne, rateText, Standing } from './commission-standing.tsx';
import { CreatorName } from './item-links.tsx';
import { ErasePerson, ExportPerson } from './person-rights.tsx';

type Explained = Answer<'explain_attribution'>['data'];
type ExplainedCommission = NonNullable<Explained['commission']>;

const UNPAID = 'order_not_paid';

/** Explains why a commission cannot be approved, in plain words; the order says itself why it does not count as paid. */
const BLOCKS: Readonly<Record<Exclude<ExplainedCommission['blocked_by'][number], typeof UNPAID>, string>> = {
  rejected: 'The commission was rejected.',
  review_period_active: 'The review period is not over.',
  high_fraud_flag: 'It was flagged as possible fraud, so it is not approved automatically.',
};

const WON_BY: Readonly<Record<NonNullable<Explained['rule']>, string>> = {
  code: 'a redeemed code',
  last_click: 'the last click within its window',
  first_click: 'the first click within its window',
  subscription: 'the subscription that it continues',
  customer: 'the customer, whom the creator brought',
};

/** The decision in a sentence; the commission itself stands below. */
function Decision({ of: { rule, commission, explanation } }: { of: Explained }) {
  if (rule === null || commission === null) return explanation;
  return (
    <>
      Attributed to <CreatorName of={commission} /> for {WON_BY[rule]}.
    </>
  );
}

const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['shopify', 'Shopify'],
  ['woocommerce', 'WooCommerce'],
]);

/** A store of an order, which the API names `provider:address`. */
function storeName(source: string): string {
  const [provider = '', address] = source.split(':');
  return [PROVIDERS.get(provider) ?? words(provider), address].filter(Boolean).join(', ');
}

/** The id in Rollcall. The number at a store may be that of several orders. */
const isId = (order: string) => /^ord_[0-9A-Za-z]{20}$/.test(order);

type OrderKind = Explained['kind'];

export const KIND_WORDS: Readonly<Record<OrderKind, string>> = {
  once: 'One-time order',
  first: 'First of a subscription',
  renewal: 'Renewal',
  upgrade: 'Change of plan',
  resubscribe: 'Subscribed again',
};

const LIMITS: Readonly<Record<NonNullable<ExplainedCommission['capped']>['by'], string>> = {
  order: 'the limit of an order',
  customer: 'the limit of a customer',
  month: 'the limit of a month',
  budget: 'the budget',
};

/** The part of each rule of the terms, if they say more than a percentage. */
function Parts({ of: { parts, capped, terms_id }, currency }: { of: ExplainedCommission; currency: string }) {
  if (terms_id === null || parts.length === 0) return null;
  return (
    <>
      <PlainTable
        caption="What each rule pays"
        rows={parts}
        getKey={({ rule }) => String(rule)}
        columns={[
          { head: 'Rule', cell: ({ name }) => name ?? 'No rule' },
          {
            head: 'Sale',
            isNumber: true,
            cell: ({ amount_minor, refunded_minor }) => minorMoney(amount_minor - refunded_minor, currency),
          },
          { head: 'Commission', isNumber: true, cell: (part) => minorMoney(part.commission_minor, currency) },
        ]}
      />
      {capped && (
        <p className="hint">
          {minorMoney(capped.cut_minor, currency)} less by {LIMITS[capped.by]},{' '}
          {minorMoney(capped.limit_minor, currency)}.
        </p>
      )}
    </>
  );
}

const REVIEW_PERIOD = 'review_period_active';

const isReviewOver = ({ status, blocked_by }: ExplainedCommission) =>
  status === 'pending' && !blocked_by.includes(REVIEW_PERIOD);

/** An order that only awaits its payment. */
const isAwaited = ({ paid_at, cancelled_at }: Explained) => paid_at === null && cancelled_at === null;

/** The reason that an order does not count as paid. */
function describeUnpaid(order: Explained): string {
  if (order.cancelled_at !== null) return `The order was cancelled on ${day(order.cancelled_at)}.`;
  if (order.paid_at === null) return 'The order is not paid yet, so its commission waits.';
  return 'The order was refunded in full.';
}

const canBeReviewed = (commission: ExplainedCommission) =>
  isReviewOver(commission) && !commission.blocked_by.includes(UNPAID);

/** The commission of an order, and the decision on it, which a reviewer opens the order for. */
function CommissionPart({ of: commission, order }: { of: ExplainedCommission; order: Explained }) {
  const { currency } = order;
  const isTimeOnly = commission.blocked_by.every(
    (code) => code === REVIEW_PERIOD || (code === UNPAID && isAwaited(order)),
  );
  return (
    <>
      <h3 className="row">
        Commission <Standing of={commission} />
      </h3>
      <Facts
        of={[
          ['Amount', <strong key="amount">{money(commission.commission, currency)}</strong>],
          ['Rate', rateText(commission)],
          // A period that is not over says its end below.
          ['Ready since', isReviewOver(commission) && day(commission.hold_ends_at)],
          ['Note', commission.status_note],
        ]}
      />
      {canBeReviewed(commission) && <ReviewOne id={commission.id} />}
      {commission.blocked_by.length > 0 && (
        <div className={isTimeOnly ? 'problem summary wait' : 'problem summary'}>
          {commission.blocked_by.map((code) => (
            <p key={code}>
              {code === UNPAID ? describeUnpaid(order) : BLOCKS[code]}
              {code === REVIEW_PERIOD && ` The commission can be approved from ${day(commission.hold_ends_at)}.`}
            </p>
          ))}
        </div>
      )}
      {commission.fraud_flags.map(({ code, detail, severity }) => (
        <p key={code}>
          <Badge state={`${severity} risk`} /> {detail}
        </p>
      ))}
      <Parts of={commission} currency={currency} />
    </>
  );
}

function Products({ of, currency }: { of: Explained['items']; currency: string }) {
  if (of.length === 0) return null;
  return (
    <>
      <h3>Products</h3>
      <PlainTable
        caption="Products"
        rows={of.map((item, place) => ({ ...item, place }))}
        getKey={({ place }) => String(place)}
        columns={[
          {
            head: 'Product',
            cell: ({ sku, title }) => (
              <>
                {title ?? sku ?? 'Item'}
                {title !== null && <span className="second">{sku}</span>}
              </>
            ),
          },
          { head: 'Quantity', cell: ({ quantity }) => number(quantity), isNumber: true },
          {
            head: 'Total',
            cell: ({ amount_minor, refunded_minor }) => (
              <>
                {minorMoney(amount_minor, currency)}
                {refunded_minor > 0 && <span className="second">{minorMoney(refunded_minor, currency)} refunded</span>}
              </>
            ),
            isNumber: true,
          },
        ]}
      />
    </>
  );
}

type Candidate = Explained['candidates'][number];

const candidateName = (candidate: Candidate) =>
  candidate.type === 'code'
    ? `Code ${candidate.code}`
    : (candidate.link_value ?? (candidate.type === 'customer' ? 'The subscription' : 'A click'));

/** Explains why an order paid a creator, or did not. It is known by its id, or by its number at a store. */
export function ExplainDialog({ order = '', onClose }: { order: string | undefined; onClose: () => void }) {
  const isKnown = isId(order);
  const byId = useCall('get_order', { params: { id: order } }, { enabled: isKnown });
  const byNumber = useCall(
    'explain_attribution',
    { query: { order_id: order, match: 'id' } },
    { enabled: order !== '' && !isKnown },
  );
  const stores = useCall('list_affiliate_stores', { query: { limit: 100 } });
  const { data: answer, error, refetch } = isKnown ? byId : byNumber;
  const explanation = answer?.data;
  const data = explanation && [explanation.id, explanation.order_id].includes(order) ? explanation : undefined;
  const atStore = data?.order_number ?? data?.order_id ?? (isKnown ? '' : order);
  return (
    <Dialog title={`Order ${atStore}`.trim()} isOpen={order !== ''} onClose={onClose} isSide>
      {error && <Failure error={error} again={() => void refetch()} />}
      {!error && !data && <Loading />}
      {data && (
        <div className="stack">
          <p className="note-box">
            <Decision of={data} />
          </p>
          {data.commission && <CommissionPart of={data.commission} order={data} />}
          <h3>Order</h3>
          <Facts
            of={[
              ['Store', stores.data?.data.find(({ id }) => id === data.integration_id)?.name ?? storeName(data.source)],
              ['ID at the store', orderSecond(data)],
              ['Amount', money(data.amount, data.currency)],
              ['Ordered', <BothTimes key="ordered" at={data.occurred_at} />],
              ['Paid', <BothTimes key="paid" at={data.paid_at} />],
              ['Cancelled', data.cancelled_at && <BothTimes key="cancelled" at={data.cancelled_at} />],
              ['Customer', data.customer_email],
              ['Kind', data.kind !== 'once' && KIND_WORDS[data.kind]],
              ['Subscription', data.subscription_id],
              [
                'Customer of',
                data.customer_id && (
                  <Link to="/customers" search={{ view: 'each', open: data.customer_id }}>
                    See who brought them, and until when
                  </Link>
                ),
              ],
            ]}
          />
          <Products of={data.items} currency={data.currency} />
          {data.unpaid_lines.length > 0 && (
            <ul className="plain">
              {data.unpaid_lines.map(({ explanation }, i) => (
                <li key={i}>{explanation}</li>
              ))}
            </ul>
          )}
          <h3>Links and codes considered</h3>
          <ul className="plain">
            {data.candidates.map((candidate, i) => (
              <li key={`${candidate.type} ${candidate.link_id ?? i}`}>
                <strong>{candidateName(candidate)}</strong>
                {(candidate.creator_name ?? candidate.creator_email) !== null && (
                  <> of {candidate.creator_name ?? candidate.creator_email}</>
                )}
                <p className="small muted">{candidate.explanation}</p>
              </li>
            ))}
            {data.candidates.length === 0 && <li className="muted">This order came with no code and no click.</li>}
          </ul>
          {data.refunds.length > 0 && (
            <>
              <h3>Refunds</h3>
              <ul className="plain">
                {data.refunds.map(({ refund_id, amount, at }) => (
                  <li key={refund_id}>
                    {money(amount, data.currency)}, {day(at)}
                  </li>
                ))}
              </ul>
            </>
          )}
          {data.customer_email !== null && (
            <IfMay needs="create_data_request">
              <h3>The customer’s data</h3>
              <div className="row">
                <ExportPerson of={{ customer_of: data.id }} />
                <ErasePerson of={{ customer_of: data.id }} name="this customer" isQuiet />
              </div>
            </IfMay>
          )}
        </div>
      )}
    </Dialog>
  );
}
