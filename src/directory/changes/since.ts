import type { Db } from '../../kit/engines/postgres/open.ts';
import { validationError } from '../../kit/values/errors.ts';
import { TimeText } from '../../kit/values/time.ts';
import { findSeqAt, findSeqOf, findStart, findUnderWay } from './queries.ts';

/** A position in the feed, and in the documents' `changed_at`. */
export interface Since {
  /** The last batch of changes at that point. */
  seq: number;
  /** Content that searches began to see later has this `changed_at` or a later one, in milliseconds since 1970. */
  changedFrom: number;
}

/** Reads a time, or a version of the directory: everything after its import. */
export async function readSince(db: Db, alias: string, field: string, value: string): Promise<Since> {
  const time = TimeText.safeParse(value);
  if (time.success) {
    const at = new Date(time.data);
    const from = await findUnderWay(db, alias, at);
    return { seq: await findSeqAt(db, alias, at), changedFrom: (from ?? at).getTime() };
  }
  const startedAt = await findStart(db, alias, value);
  if (startedAt) return { seq: (await findSeqOf(db, alias, value)) ?? 0, changedFrom: startedAt.getTime() + 1 };
  const message = `${JSON.stringify(value)} is neither a time such as 2026-11-22T09:30:00Z nor a version from X-Directory-Version.`;
  throw validationError([{ field, code: 'not_found', message }]);
}
