import { once } from 'node:events';
import { createServer } from 'node:http';
import { openConsumers } from '../../interfaces/nouns.ts';
import { openKeptConnections } from '../../kit/engines/http/kept-connections.ts';
import { openRelay } from '../../kit/outbox/relay.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import { createSubscription, patchSubscription } from '../../platform/webhooks/webhooks.ts';
import { attemptDelivery, recordAttempts } from '../../platform/webhooks/attempts.ts';
import { claimDue } from '../../platform/webhooks/claims.ts';
import type { Past } from './past.ts';
import { known, type Schedule } from './schedule.ts';

export const RECEIVER_HOST = '127.0.0.1';
const EVENTS = ['application.received', 'deliverable.submitted', 'payout.created', 'content.refreshed'] as const;
const SLOTS = 64;

export interface LocalReceiver {
  url: string;
  close(): Promise<void>;
}

/** Takes deliveries on this machine while the sample is made. It fails now and then, as receivers do. */
export async function openReceiver(): Promise<LocalReceiver> {
  let received = 0;
  const server = createServer((request, response) => {
    request.resume();
    received += 1;
    response.writeHead(received % 17 === 0 ? 503 : 200).end();
  }).listen(0, RECEIVER_HOST);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://${RECEIVER_HOST}:${port}/hooks`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Gives new events to everything that follows them. */
async function relay({ context }: Past): Promise<void> {
  const { postgres, log } = context;
  for (const consumer of openConsumers(context)) {
    await openRelay({ db: postgres.db, consumer, log, due: { ask: (list) => list(undefined) } })();
  }
}

async function deliver(past: Past): Promise<void> {
  const { context } = past;
  const connections = openKeptConnections();
  // After a failure a receiver counts as slow.
  for (const slow of [false, true, false]) {
    for (;;) {
      const request = { now: past.now(), slots: SLOTS, slow, stalled: [] };
      const claimed = await claimDue(context.postgres.db, request);
      if (claimed.length === 0) break;
      const attempts = claimed.map((one) => attemptDelivery(context, connections, one));
      await recordAttempts(context, await Promise.all(attempts));
    }
  }
  connections.close();
}

/** A webhook of the last weeks with its deliveries. It ends switched off, because its receiver is gone by then. */
export function addWebhook({ ago, add }: Schedule, { url }: LocalReceiver, ids: Map<string, string>): void {
  add(ago(33), ({ change, context: { secrets } }) =>
    change('create_webhook', async (work) => {
      const webhook = {
        variant: 'current',
        url,
        events: EVENTS,
        description: 'Took deliveries while the sample was made, then switched off',
      } as const;
      const { row } = await createSubscription(work, secrets, webhook);
      ids.set('webhook', row.id);
    }),
  );
  const follow = async (past: Past) => {
    await relay(past);
    await deliver(past);
  };
  for (let days = 32; days > 0; days -= 10) {
    add(ago(days), follow, 'alone');
    // A second attempt of those that failed.
    add(ago(days, 1), deliver, 'alone');
  }
  const end = async (past: Past) => {
    await follow(past);
    past.moveTo(new Date(past.now().getTime() + MINUTE_MS));
    await deliver(past);
    await past.change('update_webhook', (work) => patchSubscription(work, known(ids, 'webhook'), { active: false }));
  };
  add(ago(0, -0.9), end, 'alone');
}
