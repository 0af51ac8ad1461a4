import { z } from 'zod';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';
import type { Context } from '../../kit/operation/context.ts';
import { periodicJob } from '../../kit/operation/periodic.ts';
import { inWork } from '../../kit/operation/work.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import { hasOpenJob } from '../../platform/jobs/jobs.ts';
import { createScheduledExport } from './exports.ts';
import { AFTER_MIDNIGHT_MS, dueSchedules, type ScheduleRow, toMidnights } from './schedules.ts';

/** A scheduled export failed for the first time since one was delivered. */
const exportFailing = template({
  audience: 'brand',
  params: z.object({ of: z.string(), bucket: z.string(), error: z.string() }),
  write: ({ of, bucket, error }, { appUrlOf }) => ({
    subject: `The daily export of ${of} fails`,
    paragraphs: [
      'It is tried again each day. Nothing is lost: the next export that works has everything since the last one. You get no other mail until then.',
    ],
    facts: [
      ['Bucket', bucket],
      ['Error', error],
    ],
    action: { label: 'Open exports', url: appUrlOf('exports') },
  }),
});

export const exportMails = mails({ export_failing: exportFailing });

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof exportMails> {}
}

/** Starts an export of everything that was recorded since the last one that was delivered, up to its last midnight. */
async function startDue({ postgres, clock }: Context, schedule: ScheduleRow): Promise<void> {
  const { id, brandId, untilAt } = schedule;
  const actor = { brandId, keyId: null, operation: 'run_export_schedule', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    if (await hasOpenJob(work.db, brandId, id)) {
      const { error } = schedule;
      return await dueSchedules.postpone(work.db, schedule, new Date(work.now.getTime() + MINUTE_MS), error);
    }
    const { last: until, next } = toMidnights(schedule.timeZone, work.now);
    const nextAt = new Date(next.getTime() + AFTER_MIDNIGHT_MS);
    const isTaken = await dueSchedules.take(work.db, schedule, { nextAt });
    if (isTaken && (untilAt === null || untilAt < until)) await createScheduledExport(work, schedule, until);
  });
}

export const runExportSchedules = periodicJob({
  name: 'run-export-schedules',
  everyMs: 5_000,
  asksFor: 'scheduled exports that are due',
  leaves: true,
  rows: dueSchedules,
  doing: 'starting a scheduled export',
  run: startDue,
});
