import type { Db } from '../../engines/postgres/open.ts';
import {
  type ComparedRow,
  compareSealed,
  findSealHead,
  listSeals,
  listUnnoted,
  SEALED,
  type SealedTable,
  useUtc,
} from './seal-queries.ts';

const BATCH = 1_000;

const isDigest = (value: unknown) => typeof value === 'string' && value.startsWith('sha256:');

/** How a row's value differs from the one that was sealed. */
function differing(name: string, actual: unknown, sealed: unknown): string {
  if (isDigest(actual) || isDigest(sealed)) return `${name} is not what was sealed`;
  const say = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value));
  return `${name} is ${say(actual)}, sealed as ${say(sealed)}`;
}

/** What is wrong with a row; undefined if nothing is. */
function wrongWith({ sealed, actual, brokenAt }: ComparedRow): string | undefined {
  if (sealed === null && actual !== null) return 'it was not written by Rollcall';
  if (sealed !== null && actual === null) return 'it was sealed and is gone';
  const names = Object.keys({ ...sealed, ...actual }).sort();
  const wrong = names.filter((name) => JSON.stringify(actual?.[name]) !== JSON.stringify(sealed?.[name]));
  if (wrong.length > 0) return wrong.map((name) => differing(name, actual?.[name], sealed?.[name])).join('; ');
  return brokenAt === null ? undefined : `it was edited before seal ${brokenAt} was written`;
}

const nameOf = ({ noun }: SealedTable, key: readonly string[]) => `${noun} ${key.join(' ')}`;

async function verifyTable(db: Db, brandId: string, table: SealedTable): Promise<string[]> {
  const problems = (await listUnnoted(db, brandId, table)).map(
    (key) => `${nameOf(table, key)}: it was not written by Rollcall`,
  );
  let after: string[] = [];
  for (;;) {
    const rows = await compareSealed(db, brandId, table, after, BATCH);
    for (const row of rows) {
      const wrong = wrongWith(row);
      if (wrong !== undefined) problems.push(`${nameOf(table, row.key)}: ${wrong}`);
    }
    const last = rows.at(-1);
    if (last === undefined) return problems;
    after = last.key;
  }
}

/** Walks the brand's seals, and compares every sealed row with its last sealed state. */
export async function verifySeals(db: Db, brandId: string): Promise<{ hash: Buffer | null; problems: string[] }> {
  await useUtc(db);
  const problems: string[] = [];
  let last: { seq: number; hash: Buffer | null } = { seq: 0, hash: null };
  for (;;) {
    const seals = await listSeals(db, brandId, last, BATCH);
    for (const { seq, hash, isRight, isOfLedger } of seals) {
      if (seq !== last.seq + 1) problems.push(`seals ${last.seq + 1} to ${seq - 1} are missing`);
      else if (!isRight) problems.push(`seal ${seq}: it or what it covers is not what was hashed`);
      if (!isOfLedger) problems.push(`seal ${seq}: the ledger no longer has the entry that was its last one then`);
      last = { seq, hash };
    }
    if (seals.length < BATCH) break;
  }
  const head = await findSealHead(db, brandId);
  if (head.seq !== last.seq || !(head.hash ?? Buffer.alloc(0)).equals(last.hash ?? Buffer.alloc(0))) {
    problems.push(`the head says ${head.seq} seals, the last one is ${last.seq}, or has another hash`);
  }
  for (const table of SEALED) problems.push(...(await verifyTable(db, brandId, table)));
  return { hash: last.hash, problems };
}
