import type { Db } from '../engines/postgres/open.ts';
import { DAY_MS } from '../values/duration.ts';
import { deleteOldMails } from './queries.ts';

/** As long as the links that were in them open. */
const KEPT_MS = 30 * DAY_MS;
const BATCH = 1_000;

/**
 * Forgets what was sent, with whom it went to and what it said. What failed stays: it tells whom nothing reached, and a
 * conversation shows by it that a message was not mailed.
 */
export async function forgetMails(db: Db, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  while ((await deleteOldMails(db, before, BATCH)) === BATCH);
}
