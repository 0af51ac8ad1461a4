import { once } from 'node:events';
import { createServer } from 'node:http';
import { signedDelivery, type TestStore } from './store.ts';
import type { Hook } from './store-hooks.ts';

const MINUTE_MS = 60_000;
const GIVES_UP_AFTER_MS = 5_000;
/** Shopify tries a delivery eight times within four hours; how long it waits after each. */
const WAITS_MS = [1, 2, 5, 12, 30, 70, 120].map((minutes) => minutes * MINUTE_MS);
/** WooCommerce switches a webhook off at the next failure after so many in a row. */
const MOST_FAILURES = 5;

interface Delivery {
  hook: Hook;
  headers: Record<string, string>;
  body: string;
  tries: number;
  dueAt: number;
}

export interface Sending {
  /** Sends what a change is reported by, to each active webhook of the topic. */
  report(topic: string, body: object): Promise<void>;
  /** Tries again what is due by the store's clock. Only Shopify does. */
  sendDue(): Promise<void>;
  counts: { reported: number; dropped: number; delivered: number; failed: number; switchedOff: number };
}

interface SendingOptions {
  now: () => Date;
  /** Where a webhook's address leads to in this test. */
  reach(url: string): string;
  /** Whether a delivery gets lost although the store takes it as delivered. */
  isDropped(): boolean;
}

const topicOf = ({ provider }: TestStore, topic: string) =>
  provider === 'shopify' ? topic.replace('/', '_').toUpperCase() : topic;

/** WooCommerce takes redirects for success, Shopify does not. */
const isTaken = ({ provider }: TestStore, status: number) =>
  status >= 200 && (provider === 'woocommerce' ? status <= 302 : status < 300);

/** The sending side of a store's webhooks, as its provider documents it; of a generic store, one try. */
export function openSending(store: TestStore, { now, reach, isDropped }: SendingOptions): Sending {
  const { provider, hooks } = store;
  const counts = { reported: 0, dropped: 0, delivered: 0, failed: 0, switchedOff: 0 };
  const failures = new Map<string, number>();
  let waiting: Delivery[] = [];

  function noteFailure(delivery: Delivery): void {
    const { hook } = delivery;
    counts.failed += 1;
    if (provider === 'woocommerce') {
      const inARow = (failures.get(hook.id) ?? 0) + 1;
      failures.set(hook.id, inARow);
      if (inARow <= MOST_FAILURES || hook.state !== 'active') return;
      hook.state = 'disabled';
      counts.switchedOff += 1;
    }
    if (provider !== 'shopify') return;
    const waitMs = WAITS_MS[delivery.tries - 1];
    if (waitMs !== undefined) {
      waiting.push({ ...delivery, dueAt: now().getTime() + waitMs });
      return;
    }
    const left = hooks.all.filter(({ id }) => id !== hook.id);
    counts.switchedOff += hooks.all.length - left.length;
    hooks.all = left;
  }

  async function attempt(delivery: Delivery): Promise<void> {
    const { hook, headers, body } = delivery;
    delivery.tries += 1;
    const signal = AbortSignal.timeout(GIVES_UP_AFTER_MS);
    const status = await fetch(reach(hook.url), { method: 'POST', headers, body, signal, redirect: 'manual' }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );
    if (!isTaken(store, status)) return noteFailure(delivery);
    counts.delivered += 1;
    failures.delete(hook.id);
  }

  return {
    counts,
    report: async (topic, body) => {
      const its = hooks.all.filter((hook) => hook.topic === topicOf(store, topic) && hook.state === 'active');
      for (const hook of its) {
        counts.reported += 1;
        if (isDropped()) {
          counts.dropped += 1;
          continue;
        }
        const secret = provider === 'shopify' ? store.access.app.secret : hook.secret;
        const delivery = signedDelivery(provider, secret, topic, body, now());
        const headers = { ...delivery.headers, 'x-shopify-triggered-at': now().toISOString() };
        await attempt({ ...delivery, headers, hook, tries: 0, dueAt: now().getTime() });
      }
    },
    sendDue: async () => {
      const due = waiting.filter(({ dueAt }) => dueAt <= now().getTime());
      waiting = waiting.filter(({ dueAt }) => dueAt > now().getTime());
      for (const delivery of due) {
        if (hooks.all.includes(delivery.hook)) await attempt(delivery);
      }
    },
  };
}

/** A door that is not there for its callers: it answers 503. */
export async function startDown() {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(503).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}
