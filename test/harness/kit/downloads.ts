import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { sql } from 'kysely';
import { type Desk, openDesk } from '../affiliates/affiliates.ts';
import { type TestApp, unique, until } from '../app.ts';

const sockets = new Set<Socket>();

/** Ends every download that a test has begun. */
export function endDownloads(): void {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
}

/** A brand with so many creators, whose names are as long as is asked. */
export async function withRoster(app: TestApp, count: number, nameLength: number): Promise<Desk> {
  const desk = await openDesk(app);
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

export const ROSTER = '/v1/roster';
/** Far more than what lies between a server and whoever reads of it: 24 MB. */
export const withLongRoster = (app: TestApp) => withRoster(app, 12_000, 2_000);

export interface Download {
  /** What was read of it; after a first part nothing more is, until the rest is asked for. */
  said(): string;
  /** Reads one chunk more. */
  takeOne(): void;
  /** All of it, once the connection has ended. */
  rest(): Promise<string>;
  leave(): void;
}

export async function download({ url }: TestApp, { brand }: Desk): Promise<Download> {
  const key = await brand.key('brand');
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  sockets.add(socket);
  let said = '';
  let isPatient = true;
  socket.on('data', (chunk: Buffer) => {
    said += chunk.toString('latin1');
    if (isPatient) socket.pause();
  });
  // A download that is broken off may end with a reset.
  socket.on('error', () => undefined);
  const fields = ['Host: go.example', `Authorization: Bearer ${key}`, 'Accept: text/csv', 'Connection: close'];
  socket.write(`GET ${ROSTER} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
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
export async function unread(app: TestApp, desk: Desk): Promise<Download> {
  const begun = await download(app, desk);
  await until('the first rows', () => begun.said().includes('nnnn'));
  return begun;
}

/** Whether a download ended as one does that has come to its end. */
export const isWhole = (said: string): boolean => said.endsWith('0\r\n\r\n');
export const linesOf = (csv: string): number => csv.split('\n').length - 1;
