import type { Db } from '../engines/postgres/open.ts';
import { DAY_MS } from '../values/duration.ts';
import { deleteOldMails } from './queries.ts';

/** As long as the links in the mails work. */
const KEPT_MS = 30 * DAY_MS;
const BATCH = 1_000;

/**
 * Deletes sent mails with their addresses and texts. Failed mails are kept: they show who got nothing, and which
 * message of a conversation was not mailed.
 */
export async function forgetMails(db: Db, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  while ((await deleteOldMails(db, before, BATCH)) === BATCH);
}
