import { z } from 'zod';
import type { Act } from './history.ts';
import { type OracleOrder, type ReviewOutcome, reviewOutcome } from './model.ts';
import { useLeftOf } from './paying.ts';
import { pick, type World } from './world.ts';

type Of<Name extends Act['act']> = Extract<Act, { act: Name }>;

const Commissions = z.object({
  data: z.array(z.object({ id: z.string(), order_id: z.string().nullable() })),
});

/** Ids by order: the one thing the oracle cannot know. Order ids are the history's own, over all its stores. */
export async function idsOf({ door }: World): Promise<Map<string, string>> {
  const { data } = Commissions.parse(await door.ask('GET', '/v1/commissions?limit=100'));
  return new Map(data.map(({ id, order_id }) => [order_id ?? id, id]));
}

export const orderIdOf = (order: OracleOrder) => order.reported[0]?.orderId ?? '';

const CODES: Readonly<Record<Exclude<ReviewOutcome, 'moves' | 'skipped'>, string>> = {
  paid: 'COMMISSION_PAID',
  order_not_paid: 'ORDER_NOT_PAID',
  review_period_active: 'REVIEW_PERIOD_ACTIVE',
};

export function assertSame(what: string, app: unknown, oracle: unknown): void {
  const [reported, wanted] = [JSON.stringify(app), JSON.stringify(oracle)];
  if (reported !== wanted) throw new Error(`${what}: the app says ${reported}, the oracle ${wanted}`);
}

async function reviewOne({ door }: World, id: string, status: string, outcome: ReviewOutcome): Promise<void> {
  const answer = await door.send('PATCH', `/v1/affiliates/commissions/${id}`, { status });
  const wanted = outcome === 'moves' || outcome === 'skipped' ? [200, null] : [409, CODES[outcome]];
  assertSame('a review', [answer.status, answer.body.code ?? null], wanted);
}

async function reviewMany(
  { door }: World,
  how: 'post' | 'bulk',
  ids: string[],
  status: string,
  outcomes: ReviewOutcome[],
): Promise<void> {
  const answer =
    how === 'post'
      ? await door.send('POST', '/v1/commissions', { status, event_ids: ids })
      : await door.send('PATCH', '/v1/affiliates/commissions/bulk', { status, event_ids: ids });
  const refused = outcomes.flatMap((outcome, i) =>
    outcome === 'moves' || outcome === 'skipped' ? [] : [`event_ids.${i} ${outcome}`],
  );
  if (refused.length > 0) {
    const reported = (answer.body.details ?? []).map(({ field, code }: Record<string, string>) => `${field} ${code}`);
    return assertSame('a refused selection', [answer.status, reported], [422, refused]);
  }
  const moved = outcomes.filter((outcome) => outcome === 'moves').length;
  const skipped = ids.length - moved;
  const counts = { updated_count: moved, skipped_count: skipped, total_requested: ids.length };
  assertSame(
    'a reviewed selection',
    [answer.status, answer.body.data],
    [how === 'post' ? answer.status : 200, how === 'post' ? { updated: moved } : { status, ...counts }],
  );
}

export async function reviewNow(world: World, act: Of<'review'>, now: number): Promise<void> {
  const { status, how } = act;
  const paying = [...world.oracle.orders.values()].filter(
    (order) => order.commission && (!act.areMovable || reviewOutcome(order, status, now) === 'moves'),
  );
  const orders = [...new Set(act.orders.flatMap((which) => pick(paying, which) ?? []))];
  if (orders.length === 0) return;
  const chosen = how === 'patch' ? orders.slice(0, 1) : orders;
  const known = await idsOf(world);
  const ids = chosen.map((order) => known.get(orderIdOf(order)) ?? 'missing');
  const outcomes = chosen.map((order) => reviewOutcome(order, status, now));
  if (how === 'patch') await reviewOne(world, ids[0] ?? '', status, outcomes[0] ?? 'skipped');
  else await reviewMany(world, how, ids, status, outcomes);
  if (outcomes.some((outcome) => outcome !== 'moves' && outcome !== 'skipped')) return;
  // Also what was skipped: a rejection of what the facts reject becomes the brand's own.
  for (const { commission } of chosen) if (commission && commission.review !== 'paid') commission.review = status;
  if (status === 'rejected') return;
  useLeftOf(
    world.oracle,
    chosen.filter((_, i) => outcomes[i] === 'moves'),
  );
}
