import { expect } from 'vitest';
import { inSnapshot } from '../../src/affiliates/ledger/ledger.ts';
import { verifyRecords } from '../../src/affiliates/ledger/verify-ledger.ts';
import { keysInTurn, makeBrand, send, type TestApp, unique } from '../harness/app.ts';

interface Placed {
  id: string;
  order_id: string;
  commission: number | null;
  rule: string | null;
}

/** A brand whose codes have terms, and the orders that it reports. */
export async function openShop(app: TestApp, keys = 1) {
  const brand = await makeBrand(app.context);
  const nextKey = await keysInTurn(brand, keys);
  let moment = 0;
  const tell = async (method: string, path: string, body?: object) =>
    await send(`${app.url}${path}`, nextKey(), method, body ?? undefined);
  /** A time after all earlier ones of the shop. */
  const next = (): string => {
    moment += 1;
    return new Date(Date.now() + moment).toISOString();
  };

  /** Creates a code of a new creator, or of the one whose address is given. */
  async function makeCode(terms: object, creator_email = `${unique('ana')}@mail.example`) {
    await tell('POST', '/v1/roster', { creator_email });
    const body = { creator_email, value: unique('CODE').toUpperCase(), hold_days: 0, terms };
    const answer = await tell('POST', '/v1/affiliates/links', body);
    expect([answer.status, answer.body.details]).toEqual([201, undefined]);
    return answer.body.data;
  }

  /** Reports an order that is placed and paid now. */
  async function place(order: object): Promise<Placed> {
    const at = next();
    const body = { source: 'shop', order_id: unique('o'), currency: 'USD', placed_at: at, paid_at: at, ...order };
    const answer = await tell('POST', '/v1/orders', body);
    expect([answer.status, answer.body.details]).toEqual([200, undefined]);
    return answer.body.data;
  }

  const explain = async ({ order_id }: Pick<Placed, 'order_id'>) =>
    (await tell('GET', `/v1/affiliates/explain?order_id=${order_id}`)).body.data;

  return {
    brand,
    tell,
    next,
    makeCode,
    place,
    explain,
    /** Refunds a part of an order, of the lines with these SKUs, and returns what the order still pays. */
    refund: async (order: Placed, amount: number, lines: Record<string, number> = {}): Promise<number> => {
      const items = Object.entries(lines).map(([sku, refunded]) => ({ sku, amount: refunded }));
      const refund = { refund_id: unique('r'), amount, at: next(), items };
      const answer = await tell('POST', `/v1/orders/${order.id}/refunds`, refund);
      expect([answer.status, answer.body.details]).toEqual([200, undefined]);
      return (await explain(order)).commission.commission;
    },
    /** What `verify` finds. */
    listProblems: async (): Promise<string[]> =>
      (await inSnapshot(app.context.postgres.db, (trx) => verifyRecords(trx, brand.id))).problems,
  };
}

export type TermsShop = Awaited<ReturnType<typeof openShop>>;
