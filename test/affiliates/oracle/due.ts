import { z } from 'zod';
import { major } from './deliveries.ts';
import { type Oracle, standings } from './model.ts';
import { dueTo, payable } from './paying.ts';
import { assertSame } from './reviews.ts';
import type { World } from './world.ts';

export interface Payee {
  creator: number;
  currency: string;
}

/** Everybody of whom there is money, a row a currency. */
export function payees(oracle: Oracle): Payee[] {
  const rows = [
    ...standings(oracle).map(({ commission, currency }) => ({ creator: commission.link.creator, currency })),
    ...oracle.payouts.map(({ creator, currency }) => ({ creator, currency })),
  ];
  return [...new Map(rows.map((row) => [`${row.creator} ${row.currency}`, row])).values()];
}

const Preview = z.object({
  data: z.array(
    z.object({ creator_email: z.string(), currency: z.string(), commission_count: z.number(), total: z.number() }),
  ),
});
const Roster = z.object({ data: z.array(z.object({ id: z.string(), creator_email: z.string() })) });
const Balance = z.object({
  data: z.object({ by_currency: z.array(z.object({ currency: z.string(), payable_now: z.number() })) }),
});

const inOrder = (rows: Iterable<readonly [string, ...unknown[]]>) => [...rows].sort(([a], [b]) => (a < b ? -1 : 1));

/** What is to be paid: of everybody as the preview says it, and of each creator as the balance does. */
export async function checkDue({ door, oracle, emails }: World): Promise<void> {
  const rows = payees(oracle).map(({ creator, currency }) => ({
    creator,
    currency,
    count: payable(oracle, creator, currency).length,
    total: major(dueTo(oracle, creator, currency), currency),
  }));
  const { data } = Preview.parse(await door.ask('GET', '/v1/payouts/preview?limit=100'));
  const shown = data.map((row) => [`${row.creator_email} ${row.currency}`, row.commission_count, row.total] as const);
  const listed = rows.filter(({ count, total }) => count > 0 || total > 0);
  const wanted = listed.map((row) => [`${emails[row.creator]} ${row.currency}`, row.count, row.total] as const);
  assertSame('what payouts would pay', inOrder(shown), inOrder(wanted));
  const roster = Roster.parse(await door.ask('GET', '/v1/roster?limit=100')).data;
  for (const { id, creator_email } of roster) {
    const balance = Balance.parse(await door.ask('GET', `/v1/roster/${id}/balance`)).data.by_currency;
    const own = rows.filter(({ creator }) => emails[creator] === creator_email);
    assertSame(
      'payable_now',
      inOrder(balance.map((row) => [row.currency, row.payable_now] as const).filter(([, minor]) => minor !== 0)),
      inOrder(own.map((row) => [row.currency, row.total] as const).filter(([, minor]) => minor !== 0)),
    );
  }
}
