import { commissions } from '../../affiliates/commissions/commissions.ts';
import { payouts } from '../../affiliates/payouts/payouts.ts';
import { reviewAll } from '../../affiliates/reviews/reviews.ts';
import { disputes, openDispute, patchDispute } from '../../affiliates/statements/disputes.ts';
import { getStatement } from '../../affiliates/statements/statements.ts';
import type { CallOf } from '../../interfaces/nouns.ts';
import { DAY_MS, HOUR_MS } from '../../kit/values/duration.ts';
import { toDay } from '../../kit/values/time-zone.ts';
import { GIFTS } from './contact.ts';
import type { Past } from './past.ts';
import type { Person } from './people.ts';
import { known, type Schedule } from './schedule.ts';
import { ORDERS } from './store.ts';

const COUPON_SITE = 'The code was shared on a coupon site.';

/** Reviews what can be approved: nearly all of it is. */
const review = ({ change }: Past, week: number) =>
  change('review_commissions', async (work) => {
    const where = { approvable: true, now: work.now, sort: 'oldest' as const };
    const approvable = await commissions.select(work.db, work.brandId, where, { limit: ORDERS, offset: 0 });
    const ids = approvable
      .toSorted((a, b) => ((a.storeOrderId ?? '') < (b.storeOrderId ?? '') ? -1 : 1))
      .map(({ id }) => id);
    const rejectedIds = week % 4 === 0 ? ids.splice(0, 1) : [];
    if (rejectedIds.length > 0) await reviewAll(work, rejectedIds, { status: 'rejected', note: COUPON_SITE });
    await reviewAll(work, ids, { status: 'approved', note: null });
  });

/** Adds costs that only the brand knows, so that the sample has a profit. */
function addCosts({ ago, add }: Schedule, ids: Map<string, string>): void {
  const enter = (days: number, body: CallOf<'create_cost'>['body']) =>
    add(ago(days), ({ make }) => make('create_cost', { body }));
  enter(88.5, { kind: 'cogs_percent', amount: 31, note: 'Average of the range' });
  enter(88.4, { kind: 'per_order', amount: 4.2, note: 'Packing and postage' });
  for (const { sku, name, cost } of GIFTS) {
    enter(88.3, { kind: 'per_item', scope: 'product', sku, amount: cost, note: name });
  }
  const period = { from: ago(60).toISOString().slice(0, 10), to: ago(31).toISOString().slice(0, 10) };
  add(ago(61), ({ make }) => {
    const body = { kind: 'fixed', scope: 'campaign', campaign_id: known(ids, 'summer'), amount: 1_200 } as const;
    return make('create_cost', { body: { ...body, ...period, note: 'Photographer and studio' } });
  });
}

/** The last month that ended at least three days ago, and when its statements are made. */
function closedMonth(ago: Schedule['ago']) {
  const today = ago(3);
  const [year, month] = [today.getUTCFullYear(), today.getUTCMonth()];
  const from = new Date(Date.UTC(year, month - 1, 1));
  const until = new Date(Date.UTC(year, month, 1));
  return { from, until, days: { from: toDay(from), to: toDay(new Date(until.getTime() - DAY_MS)) } };
}

/** A month's statements for everyone who was paid in it, and what two creators ask about theirs. */
function addStatements({ ago, add }: Schedule, [first, second]: readonly [Person, Person], ids: Map<string, string>) {
  const { from, until, days } = closedMonth(ago);
  const after = (hours: number) => new Date(until.getTime() + hours * HOUR_MS);
  add(
    after(9),
    async ({ make, context, brandId }) => {
      const where = { sort: 'oldest' as const, created_after: from, created_before: until };
      const paidPayouts = await payouts.select(context.postgres.db, brandId, where, { limit: ORDERS });
      const emails = paidPayouts.flatMap(({ creatorEmail }) => creatorEmail ?? []).toSorted();
      for (const email of new Set([...emails, first.email, second.email])) {
        const body = { creator_email: email, ...days, send_email: true };
        ids.set(`statement of ${email}`, await make('create_statement', { body }));
      }
    },
    'money',
  );
  const ask = (at: Date, { email }: Person, message: string) =>
    add(
      at,
      ({ change }) =>
        change('page_statement', async (work) => {
          const statementId = known(ids, `statement of ${email}`);
          const { creatorId } = await getStatement(work.db, work.brandId, statementId);
          await openDispute(work, { creatorId, statementId, payoutId: null, lineId: null, message });
        }),
      'money',
    );
  ask(after(21), second, 'Does this include the orders of the launch weekend?');
  add(
    after(33),
    ({ change }) =>
      change('update_dispute', async (work) => {
        const open = await disputes.select(work.db, work.brandId, { status: 'open', sort: 'newest' }, { limit: 1 });
        for (const { id } of open) await patchDispute(work, id, { answer: 'Yes, up to the last day of the month.' });
      }),
    'money',
  );
  ask(ago(1.2), first, 'One order from my story seems to be missing. Could you look it up?');
}

/** Adds approvals, payouts and answers of the brand. The newest week is left for the reader to approve. */
export function addMoney(schedule: Schedule, people: readonly Person[], ids: Map<string, string>): void {
  addCosts(schedule, ids);
  const { ago } = schedule;
  const add = (at: Date, run: Parameters<Schedule['add']>[1]) => schedule.add(at, run, 'money');
  for (let week = 2; week <= 11; week += week < 10 ? 2 : 1) add(ago(84 - week * 7 + 0.4), (past) => review(past, week));
  for (const days of [56, 35]) {
    // Two batches may fall into one month.
    const reference = `LUMEN-${ago(days).toISOString().slice(0, 10)}`;
    const body = { method: 'wallet' as const, minimum: 50, cutoff: ago(days + 2).toISOString(), reference };
    add(ago(days), ({ call }) => call('pay_payout_batch', { body }));
  }
  const [first, second, third, fourth] = people;
  if (!first || !second || !third || !fourth) throw new Error('The sample has too few creators.');
  add(ago(40), async ({ make }) => {
    const body = { creator_email: fourth.email, amount: 450, method: 'bank_transfer' as const, note: 'Fee for a reel' };
    const id = await make('create_payout', { body });
    await make('settle_payout', {
      params: { id },
      body: { status: 'paid', reference: 'Invoice 12', commission_ids: [] },
    });
  });
  add(ago(10), ({ make }) =>
    make('create_payout', {
      body: { creator_email: second.email, amount: 60, method: 'wallet', wallet_email: second.email },
    }),
  );
  add(ago(2), ({ make }) =>
    make('create_payout', { body: { creator_email: third.email, amount: 75, method: 'manual', note: 'By cheque' } }),
  );
  addStatements(schedule, [first, second], ids);
}
