import type { Context } from '../../../kit/operation/context.ts';
import { periodicJob } from '../../../kit/operation/periodic.ts';
import { inWork } from '../../../kit/operation/work.ts';
import { DAY_MS, MINUTE_MS } from '../../../kit/values/duration.ts';
import { isUnderWay } from '../../../platform/jobs/queries.ts';
import { createScheduledExport } from '../actions.ts';
import { AFTER_MIDNIGHT_MS, nextMidnight } from './actions.ts';
import { dueSchedules, type ScheduleRow } from './queries.ts';

/** Starts an export of everything that was recorded since the last one that was delivered, up to midnight UTC. */
async function startDue({ postgres, clock }: Context, schedule: ScheduleRow): Promise<void> {
  const { id, brandId, untilAt } = schedule;
  const actor = { brandId, keyId: null, operation: 'run_export_schedule', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    if (await isUnderWay(work.db, brandId, id)) {
      const { error } = schedule;
      return await dueSchedules.postpone(work.db, schedule, new Date(work.now.getTime() + MINUTE_MS), error);
    }
    const midnight = nextMidnight(work.now);
    const until = new Date(midnight.getTime() - DAY_MS);
    const nextAt = new Date(midnight.getTime() + AFTER_MIDNIGHT_MS);
    const isTaken = await dueSchedules.take(work.db, schedule, { nextAt });
    if (isTaken && (untilAt === null || untilAt < until)) await createScheduledExport(work, schedule, until);
  });
}

export const runExportSchedules = periodicJob({
  name: 'run-export-schedules',
  everyMs: 5_000,
  asksFor: 'scheduled exports that are due',
  rows: dueSchedules,
  doing: 'starting a scheduled export',
  run: startDue,
});
