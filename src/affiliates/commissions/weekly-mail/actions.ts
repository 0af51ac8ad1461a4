import { queueMail } from '../../../kit/mail/queue.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { inWork, type Work } from '../../../kit/operation/work.ts';
import { DAY_MS } from '../../../kit/values/duration.ts';
import { getCreator } from '../../../workflow/creators/queries.ts';
import { type DueMail, listDueMails, noteApproved, sumApproved, takeMail } from './queries.ts';

const BATCH = 100;
const WEEK_DAYS = 7;
/** The first Monday after 1 January 1970, in days. */
const FIRST_MONDAY = 4;

/** The Monday after a time, at midnight UTC. */
function nextMonday(at: Date): Date {
  const today = Math.floor(at.getTime() / DAY_MS);
  return new Date((today - ((today - FIRST_MONDAY) % WEEK_DAYS) + WEEK_DAYS) * DAY_MS);
}

/** Commissions were approved for the first time: their creators get one mail at the end of the week. */
export async function mailAtEndOfWeek({ db, brandId, now }: Work, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await noteApproved(db, brandId, ids, nextMonday(now));
}

async function mailOne({ postgres, clock }: Context, due: DueMail): Promise<void> {
  const { brandId, creatorId, dueAt: until } = due;
  const actor = { brandId, keyId: null, operation: 'mail_approved', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    if (!(await takeMail(work.db, due))) return;
    const from = new Date(until.getTime() - WEEK_DAYS * DAY_MS);
    const sums = await sumApproved(work.db, due, { from, until });
    const { email: to } = await getCreator(work.db, brandId, creatorId);
    if (to === null || sums.length === 0) return;
    const day = (at: Date) => at.toISOString().slice(0, 10);
    await queueMail(work, {
      ...{ kind: 'commissions_approved', to, subjectRow: `${creatorId}:${day(until)}`, creatorId },
      params: {
        ...{ from: day(from), to: day(new Date(until.getTime() - DAY_MS)) },
        sums: sums.map(({ amountMinor: amount_minor, ...sum }) => ({ ...sum, amount_minor })),
      },
    });
  });
}

/** Mails what was approved in past weeks. Safe to run twice: taking a row and queueing its mail are one transaction. */
export async function mailApproved(context: Context): Promise<void> {
  const { postgres, clock, failures } = context;
  for (;;) {
    const due = await listDueMails(postgres.db, clock.now(), BATCH);
    let mailed = 0;
    for (const one of due) {
      try {
        await mailOne(context, one);
        mailed += 1;
      } catch (error) {
        failures.failed('mailing approved commissions', error, { brandId: one.brandId });
      }
    }
    if (due.length < BATCH || mailed === 0) return;
  }
}
