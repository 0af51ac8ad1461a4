import type { OrderFacts } from '../../../src/affiliates/stores/formats/facts.ts';
import { makeBrand, send, type TestApp } from '../app.ts';
import { type Assignment, daysAgo, makeAssignment, orderFacts } from './sales.ts';

/** Long enough ago that every hold is over. */
export const orderedAt = daysAgo(60);
export const later = (minutes: number) => new Date(orderedAt.getTime() + minutes * 60_000);

/** An order of then in which the assignment's code was redeemed. */
export const order = ({ code }: Assignment, more: Partial<OrderFacts> = {}): OrderFacts =>
  orderFacts(orderedAt, { codes: [code], ...more });

/** A brand with one assignment. */
export async function makeSeller({ context }: TestApp, terms: Parameters<typeof makeAssignment>[2] = {}) {
  const brand = await makeBrand(context);
  return { brand, assignment: await makeAssignment(context, brand, terms), key: await brand.key('brand') };
}

export const commissionsOf = async ({ url }: TestApp, key: string) =>
  (await send(`${url}/v1/affiliates/commissions?sort=oldest`, key, 'GET')).body.data;
