import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { claimedWork } from '../../kit/operation/claimed-work.ts';
import type { Job } from '../../kit/operation/job.ts';
import { inWork, type Work } from '../../kit/operation/work.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { convertSeals } from '../ledger/convert-seals.ts';
import { endParting } from '../stores/connections/parting.ts';
import { endBooks } from './books.ts';
import { carryOutRunning, FILE_KEPT_MS, letWait } from './data-requests.ts';
import { appendErasures, ErasureLine } from './erasures-file.ts';

/** Carries out what stores ask for, and what had to wait for the conversion of a brand's seals. */
export const carryOutDataRequests = claimedWork({
  name: 'carry-out-data-requests',
  everyMs: 5_000,
  asksFor: 'requests of people that are to be carried out',
  places: 2,
  placesOfBrand: 1,
  due: (db: Db) =>
    db.selectFrom('dataRequests').select(['id', 'brandId']).where('state', '=', 'running').orderBy('createdAt'),
  doing: 'carrying out a request of a person',
  run: async (context, { id, brandId }, turn) => {
    await convertSeals(context.postgres.db, context.clock, brandId);
    const actor = { brandId, keyId: null, operation: 'carry_out_data_request', requestId: null };
    const inTurn = (change: (work: Work) => Promise<void>) =>
      inWork(context.postgres.db, context.clock, actor, async (work) => {
        await turn.hold(work.db);
        await change(work);
      });
    await inTurn((work) => carryOutRunning(work, context.secrets, id)).catch(async (error: unknown) => {
      if (!(error instanceof ApiError && error.code === 'MONEY_DUE')) throw error;
      await inTurn((work) => letWait(work, id));
    });
  },
});

const Leftovers = z.object({
  files: z.array(z.string()),
  mails: z.array(z.string()),
  line: ErasureLine.nullable().default(null),
});
const AT_ONCE = 20;

/** Removes files and mails of people who were erased, notes the erasures beside the assets, ends books, and forgets whom an access was about once its file has ended. */
export const endDataRequests: Job = {
  name: 'end-data-requests',
  everyMs: 5_000,
  asksFor: 'files and emails of people who were erased, and what is kept for so long only',
  leaves: true,
  run: async ({ postgres: { db }, files, mailer, clock }) => {
    const rows = await db
      .selectFrom('dataRequests')
      .select(['id', 'leftovers'])
      .where('leftovers', 'is not', null)
      .limit(AT_ONCE)
      .execute();
    const erasures = rows.map(({ id, leftovers }) => ({ id, ...Leftovers.parse(leftovers) }));
    await appendErasures(
      db,
      files,
      erasures.flatMap(({ line }) => line ?? []),
    );
    for (const { id, files: keys, mails } of erasures) {
      for (const key of keys) await files.remove(key);
      await mailer.remove(mails);
      await sql`update data_requests set leftovers = null where id = ${id}`.execute(db);
    }
    await endBooks(db, clock.now());
    await endParting(db, clock.now());
    const before = new Date(clock.now().getTime() - FILE_KEPT_MS);
    await sql`update data_requests set selector = null
      where selector is not null and state = 'done' and created_at < ${before}`.execute(db);
  },
};
