import { type Answer, call, makeBrand, send, type TestApp } from '../harness/app.ts';
import { click } from '../harness/clicks.ts';
import { connectTestStore, deliver, signedDelivery, type TestStore, WEBHOOK_SECRET } from '../harness/store.ts';
import type { Reported } from './model.ts';

const KEYS = 3;

/** How decimals are written: not asked of src/, which could be wrong. */
const DECIMALS: Readonly<Record<string, number>> = { USD: 2, EUR: 2, JPY: 0, KWD: 3 };

export const major = (minor: number, currency: string): number => minor / 10 ** (DECIMALS[currency] ?? 2);

export function decimal(minor: number, currency: string): string {
  const decimals = DECIMALS[currency] ?? 2;
  if (decimals === 0) return String(minor);
  const digits = String(minor).padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** A brand as its people, its stores and its visitors reach it. */
export interface Door {
  send(method: string, path: string, body?: object): Promise<Answer>;
  /** As `send`, of what must succeed. */
  ask(method: string, path: string, body?: object): Promise<Answer['body']>;
  click: typeof click extends (app: infer _A, ...rest: infer R) => infer T ? (...rest: R) => T : never;
  /** As its store tells it at a time. */
  report(store: number, event: string, data: object, at: number): Promise<void>;
  connect(store: TestStore): Promise<string>;
}

export async function openDoor(app: TestApp): Promise<Door> {
  const brand = await makeBrand(app.context);
  const keys = await Promise.all(Array.from({ length: KEYS }, () => brand.key('brand')));
  const integrations: string[] = [];
  let turn = 0;
  const door: Door = {
    send: async (method, path, body) => {
      turn += 1;
      const key = keys[turn % KEYS] ?? '';
      return body
        ? await send(`${app.url}${path}`, key, method, body)
        : await call(`${app.url}${path}`, key, { method });
    },
    ask: async (method, path, body) => {
      const answer = await door.send(method, path, body);
      if (answer.status < 300) return answer.body;
      throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    },
    click: (...rest) => click(app, ...rest),
    report: async (store, event, data, at) => {
      const delivery = signedDelivery('generic', WEBHOOK_SECRET, event, data, new Date(at));
      const { status, body } = await deliver(app.url, 'generic', integrations[store] ?? '', delivery);
      if (status !== 200) throw new Error(`${event} was answered ${status}: ${JSON.stringify(body)}`);
    },
    connect: async (store) => {
      const id = await connectTestStore(app.context, brand.id, store);
      integrations.push(id);
      return id;
    },
  };
  return door;
}

const text = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const refundsOf = ({ refunds, currency }: Reported) =>
  refunds.map(({ id, amountMinor, at }) => ({ refund_id: id, amount: decimal(amountMinor, currency), at: text(at) }));

/** An order as a store of its own making tells it. */
export const orderBody = (reported: Reported, email: string | null) => ({
  order_id: reported.orderId,
  currency: reported.currency,
  amount: decimal(reported.baseMinor, reported.currency),
  placed_at: text(reported.occurredAt),
  paid_at: text(reported.paidAt),
  cancelled_at: text(reported.cancelledAt),
  updated_at: text(reported.updatedAt),
  customer_email: email,
  codes: reported.codes,
  click_ids: reported.tokens,
  refunds: refundsOf(reported),
});

export const refundBody = (reported: Reported) => ({
  order_id: reported.orderId,
  currency: reported.currency,
  refunds: refundsOf(reported),
});
