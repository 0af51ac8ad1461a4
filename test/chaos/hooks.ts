import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import type { Db } from '../../src/kit/engines/postgres/open.ts';
import { made } from '../harness/app.ts';
import { type Received, type Receiver, startReceiver } from '../harness/kit/receiver.ts';
import { wrong } from './check-clicks.ts';
import type { OrderTally } from './orders.ts';
import type { Brand } from './world.ts';

/** So that a kill meets attempts that are under way. */
const ANSWERS_AFTER_MS = 60;
const EVENT = 'commission.created';

const Body = z.object({ event: z.literal(EVENT), data: z.looseObject({ order_id: z.string() }) });

/** A receiver of every brand's new commissions, on a certificate that the worker trusts. */
export interface Hooks {
  receiver: Receiver;
  /** The certificate's file. */
  cert: string;
  subscribe(app: { url: string }, brand: Brand): Promise<void>;
  close(): Promise<void>;
}

export async function openHooks(): Promise<Hooks> {
  const receiver = await startReceiver();
  receiver.answer = (_received, response) => void setTimeout(() => response.end(), ANSWERS_AFTER_MS);
  const folder = await mkdtemp(path.join(tmpdir(), 'rollcall-chaos-'));
  const cert = path.join(folder, 'ca.pem');
  await writeFile(cert, receiver.cert);
  return {
    ...{ receiver, cert },
    subscribe: async ({ url }, { id, desk }) => {
      await made(`${url}/v1/webhooks`, await desk.brand.key('brand'), {
        url: `${receiver.url}/${id}`,
        events: [EVENT],
      });
    },
    close: async () => {
      await receiver.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface HooksFound {
  /** Requests, and the events they reported. */
  requests: number;
  events: number;
  differences: string[];
}

/** Whether every event of every brand has been handed to its webhooks, and no delivery waits. */
export async function isDelivered(db: Db): Promise<boolean> {
  const waiting = await db
    .selectFrom('webhookDeliveries')
    .select('id')
    .where('state', '=', 'pending')
    .limit(1)
    .executeTakeFirst();
  const unrelayed = await db
    .selectFrom('outbox')
    .select('id')
    .where('event', '=', EVENT)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('webhookDeliveries')
            .select('webhookDeliveries.id')
            .whereRef('webhookDeliveries.eventId', '=', 'outbox.id'),
        ),
      ),
    )
    .limit(1)
    .executeTakeFirst();
  return waiting === undefined && unrelayed === undefined;
}

const idOf = ({ headers }: Received) => String(headers['webhook-id']);

/** Of every order that pays somebody its brand got the event, once or more often, always under one id and in the same bytes. */
export function checkHooks({ receiver }: Hooks, { taken }: OrderTally): HooksFound {
  const byEvent = Map.groupBy(receiver.received, idOf);
  const reported = Map.groupBy(receiver.received, ({ path: brand, body }) => {
    return `${brand.slice(1)} ${Body.parse(JSON.parse(body)).data.order_id}`;
  });
  const expected = new Set(taken.flatMap(({ id, brand, winner }) => (winner ? [`${brand.id} ${id}`] : [])));
  const several = (requests: readonly Received[], read: (one: Received) => string) =>
    new Set(requests.map(read)).size > 1;
  return {
    ...{ requests: receiver.received.length, events: byEvent.size },
    differences: [
      ...wrong(
        'orders whose commission no receiver was told of',
        [...expected].filter((order) => !reported.has(order)),
      ),
      ...wrong(
        'deliveries about orders that pay nobody',
        [...reported.keys()].filter((order) => !expected.has(order)),
      ),
      ...wrong(
        'orders were told of under several ids',
        [...reported].flatMap(([order, requests]) => (several(requests, idOf) ? [order] : [])),
      ),
      ...wrong(
        'events had other bytes when they came again',
        [...byEvent].flatMap(([id, requests]) => (several(requests, ({ body }) => body) ? [id] : [])),
      ),
    ],
  };
}
