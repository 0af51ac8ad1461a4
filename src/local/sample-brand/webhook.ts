import { once } from 'node:events';
import { createServer } from 'node:http';
import { openConsumers } from '../../interfaces/nouns.ts';
import { openKeptConnections } from '../../kit/engines/http/kept-connections.ts';
import { openRelay } from '../../kit/outbox/relay.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import { attemptDelivery, recordAttempts } from '../../platform/webhooks/attempts.ts';
import { claimDue } from '../../platform/webhooks/claims.ts';
import { createSubscription, patchSubscription } from '../../platform/webhooks/webhooks.ts';
import type { Past } from './past.ts';
import { known, type Schedule } from './schedule.ts';

export const RECEIVER_HOST = '127.0.0.1';
const EVENTS = ['application.received', 'deliverable.submitted', 'payout.created', 'content.refreshed'] as const;
/** The receivers' addresses afterwards, under a reserved name that never resolves. */
const HOST = 'https://hooks.lumen.example';
/** The path of a receiver that is down. */
const DOWN = '/planner';
const SLOTS = 64;

export interface LocalReceiver {
  url: string;
  close(): Promise<void>;
}

/** Takes deliveries on this machine while the sample is made: one path fails now and then, as receivers do, the other always. */
export async function openReceiver(): Promise<LocalReceiver> {
  let receivedCount = 0;
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === DOWN) {
      response.writeHead(503).end('The content planner is being moved to another server.');
      return;
    }
    receivedCount += 1;
    response.writeHead(receivedCount % 17 === 0 ? 503 : 200).end();
  }).listen(0, RECEIVER_HOST);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://${RECEIVER_HOST}:${port}`,
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
      const deliveries = await claimDue(context.postgres.db, request);
      if (deliveries.length === 0) break;
      const attempts = deliveries.map((one) => attemptDelivery(context, connections, one));
      await recordAttempts(context, await Promise.all(attempts));
    }
  }
  connections.close();
}

/**
 * Webhooks of the last weeks with their deliveries: one ends switched off, and one fails. The failing one gets only what
 * creators hand in, so that trying the sample out sends nothing.
 */
export function addWebhook({ ago, add }: Schedule, { url }: LocalReceiver, ids: Map<string, string>): void {
  const create = (days: number, path: string, events: readonly (typeof EVENTS)[number][], description: string) =>
    add(ago(days), ({ change, context: { secrets } }) =>
      change('create_webhook', async (work) => {
        const webhook = { variant: 'current', url: `${url}${path}`, events, description } as const;
        const { row } = await createSubscription(work, secrets, webhook);
        ids.set(path, row.id);
      }),
    );
  create(33, '/hooks', EVENTS, 'Used to create the sample; now off');
  create(12, DOWN, ['deliverable.submitted'], 'Content planner');
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
    await past.change('update_webhook', async (work) => {
      await patchSubscription(work, known(ids, '/hooks'), { url: `${HOST}/hooks`, active: false });
      await patchSubscription(work, known(ids, DOWN), { url: `${HOST}${DOWN}` });
    });
  };
  add(ago(0, -0.9), end, 'alone');
}
