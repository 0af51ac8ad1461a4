import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  makeBrand,
  type RollcallProcess,
  startApp,
  startWorkerProcess,
  type TestApp,
  unique,
  until,
} from '../../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../../harness/database.ts';
import { type Receiver, startReceiver } from '../../harness/kit/receiver.ts';
import { APPLICATION, emit, subscribe } from '../../harness/platform/webhooks.ts';
import { longDeadlineMs } from '../../run/deadline.ts';

const ROUNDS = 5;
const EVENTS = 40;

let database: TestDatabase;
let app: TestApp;
let receiver: Receiver;
let worker: RollcallProcess | undefined;
beforeAll(async () => {
  database = await makeDatabase('webhooks');
  app = await startApp({ urls: { postgres: database.url } });
  receiver = await startReceiver();
  receiver.answer = (_received, response) => void setTimeout(() => response.end(), 150);
});
afterAll(async () => {
  await worker?.kill();
  await receiver?.close();
  await app?.close();
  await database?.drop();
});

it(
  'workers killed during attempts lose no event, and repeated deliveries have the same id and bytes',
  async () => {
    const cert = path.join(mkdtempSync(path.join(tmpdir(), 'rollcall-ca-')), 'ca.pem');
    writeFileSync(cert, receiver.cert);
    const brand = await makeBrand(app.context);
    await subscribe(app, await brand.key('brand'), `${receiver.url}/hook`, ['application.received']);
    const start = () =>
      startWorkerProcess(unique('none'), {
        DATABASE_URL: database.url,
        REDIS_URL: ownRedis(),
        NODE_EXTRA_CA_CERTS: cert,
      });
    for (let round = 0; round < ROUNDS; round += 1) {
      worker = await start();
      const from = receiver.received.length;
      for (let n = 0; n < EVENTS; n += 1) {
        await emit(app, brand, 'application.received', { ...APPLICATION, id: `app_${round}_${n}` });
      }
      await until('attempts in flight', () => receiver.received.length > from + 5);
      await worker.kill();
    }
    worker = await start();
    const arrived = () => new Set(receiver.received.map(({ body }) => JSON.parse(body).data.id));
    await until('every event', () => arrived().size === ROUNDS * EVENTS);
    const bytes = Map.groupBy(receiver.received, ({ headers }) => String(headers['webhook-id']));
    expect(bytes.size).toBe(ROUNDS * EVENTS);
    for (const same of bytes.values()) expect(new Set(same.map(({ body }) => body)).size).toBe(1);
  },
  longDeadlineMs,
);
