import type { Caller } from '../../kit/access/keys/callers.ts';
import { queueMails } from '../../kit/mail/queue.ts';
import type { Context } from '../../kit/operation/context.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import { periodicJob, waitForEvents } from '../../kit/operation/periodic.ts';
import { inWork } from '../../kit/operation/work.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { newId } from '../../kit/values/ids.ts';
import { dayIn, daysAfter, timeIn } from '../../kit/values/time-zone.ts';
import { getBrandCurrency, listSubscriptions } from '../../platform/brands/brands.ts';
import { listAddresses } from '../../platform/people/people.ts';
import type { Figure } from './reports.shapes.ts';
import {
  dueReports,
  endOfPeriod,
  getOperation,
  getReportName,
  getReportSource,
  type ReportRow,
  toDueAt,
  toPagePath,
  toPeriods,
  toQuery,
} from './reports.ts';

const ROWS = 5;
const ROWS_BEFORE = 100;
/** Older periods are not mailed. */
const MAX_AGE_DAYS = 366;

/** The brand as the caller of a reading operation. */
async function toCaller({ postgres }: Context, { id, brandId }: ReportRow): Promise<Caller> {
  const subscriptions = await listSubscriptions(postgres.db, brandId);
  const own = subscriptions.find(({ kind }) => kind === 'brand');
  if (!own) throw new Error('The brand has no subscription.');
  const never = { expiresAt: null, revokedAt: null, scopes: null };
  return { kind: 'brand', keyId: id, brandId, ...never, subscription: { ...own, version: 0 } };
}

interface Answer {
  answer: unknown;
  /** Everything up to this time is in it; undefined while that is unknown. */
  asOf: Date | undefined;
}

async function readPeriod(context: Context, caller: Caller, report: ReportRow, query: Record<string, string>) {
  const headers = new Map<string, string>();
  const operation = getOperation(report.operation);
  const bytes = await operation.prepare({ params: {}, query, body: undefined, answer: 'json' }).run(context, caller, {
    requestId: newId('req', context.clock.now().getTime()),
    idempotencyKey: undefined,
    setHeader: (name, value) => void headers.set(name, value),
    waive: () => {},
    note: () => {},
    pay: () => Promise.resolve({ isPaid: true }),
  });
  if (!Buffer.isBuffer(bytes)) throw new Error(`${operation.id} returned a stream.`);
  const asOf = headers.get('x-data-as-of');
  const answer: unknown = JSON.parse(bytes.toString());
  return { answer, asOf: asOf === undefined ? undefined : new Date(asOf) } satisfies Answer;
}

/** The figures of the period, and whether all of its events are in them. */
async function readFigures(context: Context, report: ReportRow): Promise<{ figures: Figure[]; isWhole: boolean }> {
  const caller = await toCaller(context, report);
  const { now, before } = toPeriods(report);
  const [answer, earlier, currency] = await Promise.all([
    readPeriod(context, caller, report, toQuery(report, now, ROWS)),
    readPeriod(context, caller, report, toQuery(report, before, ROWS_BEFORE)),
    getBrandCurrency(context.postgres.db, report.brandId),
  ]);
  const { figures, isDated } = getReportSource(report.operation);
  const lastMs = timeIn(report.timezone, now.until).getTime() - 1;
  return {
    figures: figures(answer.answer, earlier.answer, { parameters: report.parameters, currency }),
    isWhole: !isDated || (answer.asOf !== undefined && answer.asOf.getTime() >= lastMs),
  };
}

/** Mails a period and moves on to the next, in one transaction. */
async function mailPeriod(context: Context, report: ReportRow): Promise<void> {
  const { postgres, clock } = context;
  const { id, brandId, every, endsOn, timezone } = report;
  const actor = { brandId, keyId: null, operation: 'mail_report', requestId: null };
  // Periods that are too old are skipped.
  const oldest = dayIn(timezone, new Date(clock.now().getTime() - MAX_AGE_DAYS * DAY_MS));
  const nextEnd = endOfPeriod(every, endsOn >= oldest ? endsOn : daysAfter(oldest, -1));
  const next = { endsOn: nextEnd, dueAt: toDueAt(report, nextEnd) };
  if (next.endsOn !== endOfPeriod(every, endsOn)) {
    await dueReports.take(postgres.db, report, { ...next, error: null });
    return;
  }
  const { figures, isWhole } = await readFigures(context, report);
  if (await waitForEvents(context, dueReports, report, { isWhole, since: toDueAt(report, endsOn) })) return;
  const { from } = toPeriods(report).now;
  const { title } = getReportSource(report.operation);
  const to = daysAfter(endsOn, -1);
  const params = {
    name: getReportName(report),
    title: title(report.parameters),
    every,
    from,
    to,
    figures,
    isWhole,
    page: toPagePath(report, { from, to }, await getTimeZone(postgres.db, brandId)),
  };
  await inWork(postgres.db, clock, actor, async (work) => {
    if (!(await dueReports.take(work.db, report, { ...next, sentAt: work.now, error: null }))) return;
    // People who left the brand get no mail.
    const addresses = await listAddresses(work.db, brandId, report.recipients);
    const subjectRow = `${id}:${every}:${endsOn}`;
    await queueMails(
      work,
      addresses.map((address) => ({ kind: 'report' as const, to: address, subjectRow, params })),
    );
  });
}

export const mailReports = periodicJob({
  name: 'mail-reports',
  everyMs: 10_000,
  asksFor: 'reports whose period has ended',
  rows: dueReports,
  doing: 'mailing a report',
  run: mailPeriod,
});
