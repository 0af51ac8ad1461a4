import { checkAlerts } from '../../analytics/alerts/alerts.jobs.ts';
import { dueAfter, lastEnd } from '../../analytics/alerts/alerts.ts';
import { mailReports } from '../../analytics/reports/reports.jobs.ts';
import type { CallOf } from '../../interfaces/nouns.ts';
import { sendDueMails } from '../../kit/mail/sender.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { dayIn, timeIn, toMonday } from '../../kit/values/time-zone.ts';
import { listOwners } from '../../platform/people/people.ts';
import type { Past } from './past.ts';

const ZONE = 'UTC';
const AT = '08:00';
/** The Friday before a report of Monday morning. */
const BEFORE_MS = 2 * DAY_MS + 17 * HOUR_MS;

/** The last Monday morning. */
const lastMonday = (now: Date) => timeIn(ZONE, toMonday(dayIn(ZONE, new Date(now.getTime() - 9 * HOUR_MS))), AT);

/** The brand sets up its reports and alerts at this time. */
export const reportsBegin = (now: Date) => new Date(lastMonday(now).getTime() - BEFORE_MS);

/**
 * Sets up reports and alerts for the people of the brand, checks the week that has ended since, and mails its figures.
 * They read figures, so all else has to be there.
 */
export async function mailFigures(past: Past, now: Date): Promise<void> {
  const { context, brandId } = past;
  const to = (await listOwners(context.postgres.db, brandId)).map(({ email }) => email);
  if (to.length === 0) return;
  const createAndAdvance = async (make: Promise<unknown>) => {
    await make;
    past.moveTo(new Date(past.now().getTime() + MINUTE_MS));
  };
  const report = (body: Omit<CallOf<'create_report'>['body'], 'to'>) =>
    createAndAdvance(past.call('create_report', { body: { ...body, to, at: AT, timezone: ZONE } }));
  const alert = (body: Omit<CallOf<'create_alert'>['body'], 'to' | 'window'>) =>
    createAndAdvance(past.call('create_alert', { body: { ...body, to, timezone: ZONE, window: 'week' } }));
  await report({ name: 'Monthly profit', operation: 'returns', every: 'month' });
  await report({ name: 'Monday figures', operation: 'analytics', every: 'week' });
  await alert({ name: 'Refunds are high', metric: 'refunds', condition: 'above', threshold: 1_500 });
  await alert({ name: 'Best sellers', metric: 'orders', by: 'creator', condition: 'above', threshold: 12 });
  const monday = lastMonday(now);
  past.moveTo(dueAfter(lastEnd({ span: 'week', timezone: ZONE }, monday)));
  await checkAlerts.run(context);
  past.moveTo(monday);
  await mailReports.run(context);
  await sendDueMails(context);
}
