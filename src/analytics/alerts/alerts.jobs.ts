import { queueMails } from '../../kit/mail/queue.ts';
import type { Context } from '../../kit/operation/context.ts';
import { periodicJob, waitForEvents } from '../../kit/operation/periodic.ts';
import { inWork, type Work } from '../../kit/operation/work.ts';
import { listAddresses } from '../../platform/people/people.ts';
import { listMerged } from '../../workflow/creators/creators.ts';
import { listLabels, toGrouping } from '../breakdown/breakdown.ts';
import { listAllBreakdown } from '../figures/breakdown.ts';
import { withFreshness } from '../figures/freshness.ts';
import {
  AFTER_END_MS,
  type AlertRow,
  beginFiring,
  dueAfter,
  dueAlerts,
  endFiring,
  evaluateCondition,
  getAlertName,
  getMetric,
  isInCurrency,
  lastEnd,
  listFiringKeys,
  shiftEnd,
  type Totals,
  toPagePath,
  WEEKS,
  weeksBefore,
  ZERO_TOTALS,
} from './alerts.ts';

/** The keys that a mail names. */
const NAMED = 10;

type PeriodTotals = ReadonlyMap<string, Totals>;
type AlertPeriod = { from: Date; until: Date };

/** The alert's totals by key; under the empty key those of the whole brand. */
async function readWindow(context: Context, alert: AlertRow, window: AlertPeriod): Promise<PeriodTotals> {
  const { brandId, dimension, metric, currency } = alert;
  const { db } = context.postgres;
  const mergedCreators = await listMerged(db, brandId);
  const by = dimension === null ? { of: 'day' as const } : await toGrouping(db, brandId, dimension, mergedCreators);
  const only = isInCurrency(metric) ? { currency } : {};
  const sums = new Map<string, Totals>();
  for (const row of await listAllBreakdown(context.clickhouse, brandId, by, { ...window, only })) {
    const key = dimension === null ? '' : row.group_key;
    // Orders without such a key are left out.
    if (dimension !== null && key === '') continue;
    const { clicks, orders, click_orders, sales, refunds, commission } = sums.get(key) ?? ZERO_TOTALS;
    sums.set(key, {
      clicks: clicks + row.clicks,
      orders: orders + row.orders,
      click_orders: click_orders + row.click_orders,
      sales: sales + row.sales,
      refunds: refunds + row.refunds,
      commission: commission + row.commission,
    });
  }
  return sums;
}

const toWindow = (alert: AlertRow, until: Date): AlertPeriod => ({ from: shiftEnd(alert, until, -1), until });

/**
 * The windows that the condition compares with. `below` also needs the window before, because a key that fell to
 * nothing is only in that one.
 */
function earlierWindows(alert: AlertRow, until: Date): AlertPeriod[] {
  const { condition, dimension } = alert;
  if (condition === 'unusual') {
    return Array.from({ length: WEEKS }, (_, i) => toWindow(alert, weeksBefore(alert, until, i + 1)));
  }
  const isNeeded = condition === 'change_percent' || (condition === 'below' && dimension !== null);
  return isNeeded ? [toWindow(alert, shiftEnd(alert, until, -1))] : [];
}

interface WindowCheck {
  now: PeriodTotals;
  began: string[];
  ended: string[];
  isWhole: boolean;
}

/**
 * Splits the keys by the condition: `began` has those for which it holds in the window, `ended` those for which it does
 * not.
 */
async function checkWindow(context: Context, alert: AlertRow, until: Date): Promise<WindowCheck> {
  const { brandId } = alert;
  const asOf: Date[] = [];
  const setHeader = (_name: string, value: string) => void asOf.push(new Date(value));
  const windows = [toWindow(alert, until), ...earlierWindows(alert, until)];
  const readWindows = async () => {
    const sums: PeriodTotals[] = [];
    for (const window of windows) sums.push(await readWindow(context, alert, window));
    return sums;
  };
  const [now = new Map<string, Totals>(), ...before] = await withFreshness(
    context,
    { caller: { brandId }, setHeader },
    readWindows,
    'orders',
  );
  const firing = await listFiringKeys(context.postgres.db, alert);
  const keys = new Set([...(alert.dimension === null ? [''] : []), ...firing]);
  for (const sums of [now, ...before]) for (const key of sums.keys()) keys.add(key);
  const state = [...keys].map((key) => {
    const is = evaluateCondition(
      alert,
      now.get(key) ?? ZERO_TOTALS,
      before.map((sums) => sums.get(key) ?? ZERO_TOTALS),
    );
    return { key, is };
  });
  const keysThat = (expected: boolean) => state.flatMap(({ key, is }) => (is === expected ? [key] : []));
  return {
    now,
    began: keysThat(true),
    ended: keysThat(false),
    isWhole: asOf.some((at) => at.getTime() >= until.getTime() - 1),
  };
}

type AlertMail = 'alert_began' | 'alert_ended';

/** Sends one mail that names the keys, or none without keys. */
async function mailMove(work: Work, alert: AlertRow, kind: AlertMail, keys: readonly string[], { now }: WindowCheck) {
  if (keys.length === 0) return;
  const { id, brandId, dimension, metric, condition, threshold, currency, span, untilAt } = alert;
  const { unit, of } = getMetric(metric);
  const labels =
    dimension === null
      ? new Map<string, string | null>()
      : await listLabels(work.db, brandId, dimension, keys.slice(0, NAMED));
  const figures = keys.slice(0, NAMED).map((key) => ({
    label: dimension === null ? getMetric(metric).title : (labels.get(key) ?? key),
    value: of(now.get(key) ?? ZERO_TOTALS),
    previous: null,
    unit,
    currency,
  }));
  const params = {
    name: getAlertName(alert),
    metric: getMetric(metric).title,
    condition,
    threshold,
    unit,
    currency,
    window: span,
    figures,
    more: keys.length - figures.length,
    page: toPagePath(dimension),
  };
  // People who left the brand get no mail.
  const addresses = await listAddresses(work.db, brandId, alert.recipients);
  await queueMails(
    work,
    addresses.map((to) => ({ kind, to, subjectRow: `${id}:${untilAt.toISOString()}`, params })),
  );
}

/**
 * Checks the last window that has ended, and schedules the next one in one transaction with the mails. Earlier windows
 * are skipped.
 */
async function checkAlert(context: Context, alert: AlertRow): Promise<void> {
  const { postgres, clock } = context;
  const last = lastEnd(alert, new Date(clock.now().getTime() - AFTER_END_MS));
  const until = last > alert.untilAt ? last : alert.untilAt;
  const check = await checkWindow(context, alert, until);
  if (await waitForEvents(context, dueAlerts, alert, { isWhole: check.isWhole, since: until })) return;
  const actor = { brandId: alert.brandId, keyId: null, operation: 'check_alert', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    const next = shiftEnd(alert, until, 1);
    const nextState = { untilAt: next, dueAt: dueAfter(next), checkedAt: work.now, error: null };
    if (!(await dueAlerts.take(work.db, alert, nextState))) return;
    const endedKeys = await endFiring(work.db, alert, check.ended);
    const beganKeys = await beginFiring(work.db, alert, check.began, work.now);
    await mailMove(work, alert, 'alert_ended', endedKeys, check);
    await mailMove(work, alert, 'alert_began', beganKeys, check);
  });
}

export const checkAlerts = periodicJob({
  name: 'check-alerts',
  everyMs: 10_000,
  asksFor: 'alerts whose window has ended',
  rows: dueAlerts,
  doing: 'checking an alert',
  run: checkAlert,
});
