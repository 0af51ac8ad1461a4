import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Desk, openDesk } from '../../harness/affiliates.ts';
import { engineUrls, startApp, type TestApp, unique, until } from '../../harness/app.ts';
import { startProxy } from '../../harness/proxy.ts';

let app: TestApp;
const sockets: Socket[] = [];

beforeAll(async () => {
  app = await startApp();
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => app?.close());

/** A brand with so many creators, whose names are as long as is asked. */
async function withRoster(count: number, nameLength: number, on = app): Promise<Desk> {
  const desk = await openDesk(on);
  const [brandId, prefix, at] = [desk.brand.id, unique('crt'), app.context.clock.now()];
  await sql`
    with made as (
      insert into creators (id, brand_id, name, created_at)
      select ${prefix} || '-' || n, ${brandId}, repeat('n', ${nameLength}), ${at} from generate_series(1, ${count}) n
      returning id
    )
    insert into roster_entries (id, brand_id, creator_id, status, added_at)
    select 'entry-' || id, ${brandId}, id, 'active', ${at} from made
  `.execute(app.context.postgres.db);
  return desk;
}

const ROSTER = '/v1/roster';
/** Far more than what lies between a server and whoever reads of it: 24 MB. */
const withLongRoster = (on = app) => withRoster(12_000, 2_000, on);

interface Download {
  /** What was read of it; after a first part nothing more is, until the rest is asked for. */
  said(): string;
  /** Reads one chunk more. */
  takeOne(): void;
  /** All of it, once the connection has ended. */
  rest(): Promise<string>;
  leave(): void;
}

async function download({ brand }: Desk, path = ROSTER, { url } = app): Promise<Download> {
  const key = await brand.key('brand');
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  sockets.push(socket);
  let said = '';
  let isPatient = true;
  socket.on('data', (chunk: Buffer) => {
    said += chunk.toString('latin1');
    if (isPatient) socket.pause();
  });
  // A download that is broken off may end with a reset.
  socket.on('error', () => undefined);
  const fields = ['Host: go.example', `Authorization: Bearer ${key}`, 'Accept: text/csv', 'Connection: close'];
  socket.write(`GET ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
  return {
    said: () => said,
    takeOne: () => void socket.resume(),
    rest: async () => {
      isPatient = false;
      if (!socket.closed) await Promise.all([once(socket, 'close'), socket.resume()]);
      return said;
    },
    leave: () => void socket.destroy(),
  };
}

/** One that has begun, and is then left unread. */
async function unread(desk: Desk, on = app): Promise<Download> {
  const begun = await download(desk, ROSTER, on);
  await until('the first rows', () => begun.said().includes('nnnn'));
  return begun;
}

/** Whether a download ended as one does that has come to its end. */
const isWhole = (said: string): boolean => said.endsWith('0\r\n\r\n');
const linesOf = (csv: string): number => csv.split('\n').length - 1;

describe('concurrent exports', () => {
  it.each(['/v1/creators', '/v1/roster'])(
    'of %s are all answered completely, at the latest when they are requested again',
    async (path) => {
      const desk = await withRoster(1_001, 10);
      /** One of a brand's at a time: whoever has waited for 10 s is told to come again. */
      const whole = async (): Promise<string> => {
        const { status, body, headers } = await desk.get(path, 'text/csv');
        if (status === 200) return body;
        expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'SERVICE_UNAVAILABLE', '10']);
        return await whole();
      };
      const answers = await Promise.all(Array.from({ length: 12 }, whole));
      expect(answers.map(linesOf)).toEqual(Array(12).fill(1_002));
    },
  );
});

describe('exports that nobody reads', () => {
  it('delay no other call or brand’s export and are ended; the same brand’s next ones wait and then get 503', async () => {
    const [slow, other] = [await withLongRoster(), await withRoster(5, 10)];
    const first = await unread(slow);
    const more = await Promise.all(Array.from({ length: 14 }, () => download(slow)));
    for (let i = 0; i < 3; i += 1) {
      const calls = [other.get('/v1/campaigns'), other.get(ROSTER), other.get(ROSTER, 'text/csv')];
      expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200]);
    }
    for (const answer of await Promise.all(more.map((one) => one.rest()))) {
      expect(answer).toMatch(/^HTTP\/1\.1 503 .*^retry-after: \d+\r$.*"code":"SERVICE_UNAVAILABLE"/ims);
      expect(answer).not.toContain('nnnn');
    }
    await until('the end of what is not read', async () => (await slow.get(ROSTER, 'text/csv')).status === 200);
    const said = await first.rest();
    expect(said).toMatch(/^HTTP\/1\.1 200 /);
    expect(isWhole(said)).toBe(false);
  });

  it('are ended if they are read steadily but too slowly, and the brand’s next one gets its turn', async () => {
    const desk = await withLongRoster();
    const dripping = await unread(desk);
    const timer = setInterval(() => dripping.takeOne(), 4_000);
    await until('the end of what drips', async () => (await desk.get(ROSTER, 'text/csv')).status === 200);
    clearInterval(timer);
    expect(isWhole(await dripping.rest())).toBe(false);
  });

  it('are ended at once if the reader disconnects', async () => {
    const desk = await withLongRoster();
    for (let i = 0; i < 4; i += 1) (await unread(desk)).leave();
    const { status, body } = await desk.get(ROSTER, 'text/csv');
    expect([status, linesOf(body)]).toEqual([200, 12_001]);
  });

  it('are cut off if PostgreSQL is lost, and work again as soon as it is back', async () => {
    const proxy = await startProxy(engineUrls().postgres);
    const apart = await startApp({ urls: { postgres: proxy.url } });
    const desk = await withLongRoster(apart);
    for (let i = 0; i < 4; i += 1) {
      const begun = await unread(desk, apart);
      await proxy.cut();
      await proxy.restore();
      expect(isWhole(await begun.rest())).toBe(false);
    }
    await until('an export', async () => (await desk.get(ROSTER, 'text/csv')).status === 200);
    const whole = await (await unread(desk, apart)).rest();
    expect([isWhole(whole), whole.split('active').length - 1]).toEqual([true, 12_000]);
    await apart.close();
    await proxy.close();
  });

  it('do not keep a process from stopping, and are cut off when it stops', async () => {
    const apart = await startApp();
    const begun = await unread(await withLongRoster(apart), apart);
    await apart.close();
    expect(isWhole(await begun.rest())).toBe(false);
  });
});
