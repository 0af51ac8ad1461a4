import { create, get, list, patch, remove } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { applyPatch, omitUndefined } from '../../kit/values/patch.ts';
import { dayIn } from '../../kit/values/time-zone.ts';
import { lockBrand } from '../../platform/brands/brands.ts';
import { parseOwnAddresses } from '../../platform/people/people.ts';
import { mailReports } from './reports.jobs.ts';
import { reportMails } from './reports.mails.ts';
import { Report, ReportCreate, ReportFilter, ReportPatch, toReport } from './reports.shapes.ts';
import { assertParameters, countReports, endOfPeriod, reportRows, reports, toDueAt } from './reports.ts';

const MAX_REPORTS = 50;

const tag = 'Reports and alerts';
const all = { path: '/v1/reports', tag, item: Report } as const;
const one = { path: '/v1/reports/{id}', tag, item: Report } as const;

/** Only people of the brand get these mails. */
const forAgents = { isListed: false };

const reportOperations = [
  list({
    ...all,
    id: 'list_reports',
    summary: 'List reports',
    description: 'Newest first.',
    forAgents,
    query: ReportFilter,
    rows: reports,
    itemOf: toReport,
  }),
  create({
    ...all,
    id: 'create_report',
    summary: 'Email figures of each day, week or month',
    description:
      'When a period has ended, its figures are emailed once, compared with the period before. The first one is ' +
      'the current period. A brand can have up to 50.',
    forAgents,
    body: ReportCreate,
    errors: ['CONFLICT'],
    apply: async (work, { body }) => {
      const { db, now, brandId } = work;
      const brand = await lockBrand(db, brandId);
      const { name, operation, parameters, every, at } = body;
      const timezone = body.timezone ?? brand.timeZone;
      assertParameters({ operation, parameters, timezone });
      const recipients = await parseOwnAddresses(work, 'to', body.to);
      if ((await countReports(db, brandId)) >= MAX_REPORTS) {
        throw new ApiError('CONFLICT', `A brand has at most ${MAX_REPORTS} reports; delete one first.`);
      }
      const id = newId('rep', now.getTime());
      const endsOn = endOfPeriod(every, dayIn(timezone, now));
      const row = await reportRows.insert(work, {
        id,
        name,
        operation,
        parameters: JSON.stringify(parameters),
        every,
        at,
        timezone,
        recipients,
        endsOn,
        dueAt: toDueAt({ timezone, at }, endsOn),
        sentAt: null,
        error: null,
        createdAt: now,
        updatedAt: null,
      });
      return toReport(row);
    },
  }),
  get({
    ...one,
    id: 'get_report',
    summary: 'Get a report',
    description: 'Shows its settings, and when it is emailed.',
    forAgents,
    find: async ({ postgres }, { caller, params }) =>
      toReport(await reports.get(postgres.db, caller.brandId, params.id)),
  }),
  patch({
    ...one,
    id: 'update_report',
    summary: 'Change a report',
    description: 'A new `every` or `timezone` starts again with the current period; a new `at` moves the next mail.',
    forAgents,
    body: ReportPatch,
    errors: ['NOT_FOUND'],
    apply: async (work, { params: { id }, body: { to, ...body } }) => {
      const { now } = work;
      const old = await reportRows.lock(work, id);
      const { name, operation, parameters, every, at, timezone } = body;
      const changedReport = applyPatch(old, { name, operation, parameters, every, at, timezone });
      assertParameters(changedReport);
      const isAnew = changedReport.every !== old.every || changedReport.timezone !== old.timezone;
      const endsOn = isAnew ? endOfPeriod(changedReport.every, dayIn(changedReport.timezone, now)) : old.endsOn;
      const isMoved = isAnew || changedReport.at !== old.at;
      const row = await reportRows.update(work, old, {
        ...omitUndefined({ name, operation, every, at, timezone }),
        ...(parameters === undefined ? {} : { parameters: JSON.stringify(parameters) }),
        ...(to === undefined ? {} : { recipients: await parseOwnAddresses(work, 'to', to) }),
        ...(isMoved ? { endsOn, dueAt: toDueAt(changedReport, endsOn) } : {}),
        error: null,
        updatedAt: now,
      });
      return toReport(row);
    },
  }),
  remove({
    id: 'delete_report',
    path: '/v1/reports/{id}',
    tag,
    summary: 'Delete a report',
    description: 'It is no longer emailed.',
    forAgents,
    item: Report,
    errors: ['NOT_FOUND'],
    apply: async (work, { params: { id } }) => {
      const row = await reportRows.lock(work, id);
      await reportRows.delete(work, row);
      return toReport(row);
    },
  }),
] as const;

export const reportsNoun = noun({
  name: 'reports',
  tag: {
    name: 'Reports and alerts',
    about: "Emails with figures to the brand's people, after each period or when a figure leaves its bounds.",
  },
  ids: { reports: 'rep' },
  operations: reportOperations,
  jobs: [mailReports],
  mails: reportMails,
});
