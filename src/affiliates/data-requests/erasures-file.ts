import { text } from 'node:stream/consumers';
import { sql } from 'kysely';
import { z } from 'zod';
import type { FileStore } from '../../kit/engines/files/store.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { transact } from '../../kit/engines/postgres/transaction.ts';
import { ApiError } from '../../kit/values/errors.ts';
import type { BuyerSelector } from './buyer-erasure.ts';
import type { DataRequestRow } from './data-requests.shapes.ts';

/** Lies beside the assets, outside of the database, so that an older copy of the database learns whom it has to erase. */
const FILE = 'erasures.ndjson';

/** One erasure: ids and keyed hashes, by which an older copy finds the person, and nothing that names them. */
export const ErasureLine = z.object({
  request: z.string(),
  brand: z.string(),
  subject: z.enum(['creator', 'customer']),
  source: z.enum(['api', 'page', 'cli', 'shopify', 'woocommerce']),
  created_at: z.iso.datetime(),
  at: z.iso.datetime(),
  creator_id: z.string().nullable(),
  /** The hash of the address of somebody who applied and never became a creator. */
  applicant: z.string().nullable().default(null),
  buyer: z
    .object({
      hashes: z.array(z.string()),
      integrationId: z.string().nullable(),
      orderIds: z.array(z.string()).nullable(),
      customerOf: z.string().nullable(),
      join: z.enum(['both', 'either', 'store']),
    })
    .nullable(),
});
export type ErasureLine = z.output<typeof ErasureLine>;

export function toLine(
  { id, brandId, subject, source, createdAt }: DataRequestRow,
  at: Date,
  { creatorId, buyer }: { creatorId: string | null; buyer: Omit<BuyerSelector, 'hashes'> | null },
  hashes: readonly string[] = [],
): ErasureLine {
  const { email: _address, ...selector } = buyer ?? { email: null };
  return ErasureLine.parse({
    request: id,
    brand: brandId,
    subject,
    source,
    creator_id: creatorId,
    applicant: (buyer === null && creatorId === null ? hashes[0] : null) ?? null,
    created_at: createdAt.toISOString(),
    at: at.toISOString(),
    buyer: buyer && { ...selector, hashes },
  });
}

const isMissing = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.cause instanceof Error &&
  (error.cause.name === 'NoSuchKey' || ('code' in error.cause && error.cause.code === 'ENOENT'));

async function readText(files: FileStore): Promise<string> {
  try {
    return await text(await files.read(FILE));
  } catch (error) {
    if (isMissing(error)) return '';
    throw error;
  }
}

/** Every erasure that was carried out, also those of which this database is too old to know. */
export async function readErasures(files: FileStore): Promise<ErasureLine[]> {
  const lines = (await readText(files)).split('\n').filter((line) => line !== '');
  return lines.map((line) => ErasureLine.parse(JSON.parse(line)));
}

/** Adds lines to the file, which is written as a whole. A line that is there already may come again. */
export async function appendErasures(db: Db, files: FileStore, lines: readonly ErasureLine[]): Promise<void> {
  if (lines.length === 0) return;
  await transact(db, async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext('erasures'))`.execute(trx);
    const before = await readText(files);
    const addedLines = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const bytes = async function* () {
      yield Buffer.from(before + addedLines);
    };
    await files.write(FILE, bytes(), 'application/x-ndjson');
  });
}
