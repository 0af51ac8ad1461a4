import { z } from 'zod';
import type { Act } from './history.ts';
import { type OracleOrder, type Verdict, verdictOn } from './model.ts';
import { useLeft } from './paying.ts';
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

export const orderIdOf = (order: OracleOrder) => order.told[0]?.orderId ?? '';

const CODES: Readonly<Record<Exclude<Verdict, 'moves' | 'skipped'>, string>> = {
  paid: 'COMMISSION_PAID',
  order_not_paid: 'ORDER_NOT_PAID',
  review_period_active: 'REVIEW_PERIOD_ACTIVE',
};

export function assertSame(what: string, app: unknown, oracle: unknown): void {
  const [told, wanted] = [JSON.stringify(app), JSON.stringify(oracle)];
  if (told !== wanted) throw new Error(`${what}: the app says ${told}, the oracle ${wanted}`);
}

async function reviewOne({ door }: World, id: string, status: string, verdict: Verdict): Promise<void> {
  const answer = await door.send('PATCH', `/v1/affiliates/commissions/${id}`, { status });
  const wanted = verdict === 'moves' || verdict === 'skipped' ? [200, null] : [409, CODES[verdict]];
  assertSame('a review', [answer.status, answer.body.code ?? null], wanted);
}

async function reviewMany(
  { door }: World,
  how: 'post' | 'bulk',
  ids: string[],
  status: string,
  verdicts: Verdict[],
): Promise<void> {
  const answer =
    how === 'post'
      ? await door.send('POST', '/v1/commissions', { status, event_ids: ids })
      : await door.send('PATCH', '/v1/affiliates/commissions/bulk', { status, event_ids: ids });
  const refused = verdicts.flatMap((verdict, i) =>
    verdict === 'moves' || verdict === 'skipped' ? [] : [`event_ids.${i} ${verdict}`],
  );
  if (refused.length > 0) {
    const told = (answer.body.details ?? []).map(({ field, code }: Record<string, string>) => `${field} ${code}`);
    return assertSame('a refused selection', [answer.status, told], [422, refused]);
  }
  const moved = verdicts.filter((verdict) => verdict === 'moves').length;
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
    (order) => order.commission && (!act.areMovable || verdictOn(order, status, now) === 'moves'),
  );
  const orders = [...new Set(act.orders.flatMap((which) => pick(paying, which) ?? []))];
  if (orders.length === 0) return;
  const chosen = how === 'patch' ? orders.slice(0, 1) : orders;
  const known = await idsOf(world);
  const ids = chosen.map((order) => known.get(orderIdOf(order)) ?? 'missing');
  const verdicts = chosen.map((order) => verdictOn(order, status, now));
  if (how === 'patch') await reviewOne(world, ids[0] ?? '', status, verdicts[0] ?? 'skipped');
  else await reviewMany(world, how, ids, status, verdicts);
  if (verdicts.some((verdict) => verdict !== 'moves' && verdict !== 'skipped')) return;
  // Also what was skipped: a rejection of what the facts reject becomes the brand's own.
  for (const { commission } of chosen) if (commission) commission.review = status;
  if (status === 'rejected') return;
  useLeft(
    world.oracle,
    chosen.filter((_, i) => verdicts[i] === 'moves'),
  );
}
