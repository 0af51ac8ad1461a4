import { setTimeout as pause } from 'node:timers/promises';
import { deliver, signedDelivery, WEBHOOK_SECRET } from '../harness/affiliates/store.ts';
import { type Delivery, makeOrder, type Order } from './order.ts';
import type { Random } from './random.ts';
import type { Assignment, World } from './world.ts';

const SENDERS = 8;
const THINK_MS = 20;
const SENT_AGAIN_AFTER_MS = 150;
const GIVE_UP_AFTER = 1_500;

export interface OrderTally {
  /** Whose every delivery was acknowledged. */
  taken: Order[];
  /** Deliveries that were answered 200, and those that were sent again because they were not. */
  acknowledged: number;
  sentAgain: number;
  /** Answers that no store should get. */
  faults: string[];
}

export interface OrderLoad extends OrderTally {
  lastAt(): number;
  /** Every order that was begun is reported to its end. */
  stop(): Promise<void>;
}

function count({ winner, revenueMinor, pendingMinor }: Order): void {
  if (!winner) return;
  winner.conversions += 1;
  winner.revenueMinor += revenueMinor;
  winner.pendingMinor += pendingMinor;
}

export function startOrders(
  url: string,
  { brands }: World,
  random: Random,
  recent: (link: Assignment) => string | undefined,
): OrderLoad {
  const tally: OrderTally = { taken: [], acknowledged: 0, sentAgain: 0, faults: [] };
  let isOver = false;
  let lastAt = 0;

  async function isTaken({ shop }: Order, [topic, body]: Delivery): Promise<boolean> {
    const signed = signedDelivery(shop.provider, WEBHOOK_SECRET, topic, body);
    const answer = await deliver(url, shop.provider, shop.integrationId, signed).catch(() => undefined);
    if (answer?.status === 200) return true;
    if (answer && answer.status !== 503) {
      tally.faults.push(`${topic} was answered ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return false;
  }

  /** Until it is acknowledged, as a store does; one that is never taken must end the run too. */
  async function send(order: Order, delivery: Delivery): Promise<void> {
    for (let tries = 1; !(await isTaken(order, delivery)); tries += 1) {
      if (tries === GIVE_UP_AFTER)
        throw new Error(`${delivery[0]} of order ${order.id} was not taken in ${tries} tries`);
      tally.sentAgain += 1;
      await pause(SENT_AGAIN_AFTER_MS + random.below(SENT_AGAIN_AFTER_MS));
    }
    tally.acknowledged += 1;
    lastAt = performance.now();
  }

  async function report(order: Order): Promise<void> {
    if (random.chance(0.1)) await Promise.all(order.deliveries.map((delivery) => send(order, delivery)));
    else for (const delivery of order.deliveries) await send(order, delivery);
    count(order);
    tally.taken.push(order);
  }

  async function sender(): Promise<void> {
    while (!isOver) {
      const order = makeOrder(random, random.pick(brands), recent, new Date());
      await report(order).catch((error: unknown) => void tally.faults.push(String(error)));
      await pause(random.below(2 * THINK_MS));
    }
  }

  const senders = Promise.all(Array.from({ length: SENDERS }, sender));
  return Object.assign(tally, {
    lastAt: () => lastAt,
    stop: async () => {
      isOver = true;
      await senders;
    },
  });
}
