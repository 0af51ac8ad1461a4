import { create, get, list, patch, remove } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { ApiError, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { applyPatch, omitUndefined } from '../../kit/values/patch.ts';
import { lockBrand } from '../../platform/brands/brands.ts';
import { parseOwnAddresses } from '../../platform/people/people.ts';
import { checkAlerts } from './alerts.jobs.ts';
import { alertMails } from './alerts.mails.ts';
import { Alert, AlertCreate, AlertFilter, AlertPatch, type Condition, toAlert } from './alerts.shapes.ts';
import {
  type AlertRow,
  alertRows,
  alerts,
  countAlerts,
  deleteFirings,
  dueAfter,
  lastEnd,
  shiftEnd,
  USUAL_THRESHOLD,
} from './alerts.ts';

const MAX_ALERTS = 50;

const tag = 'Reports and alerts';
const all = { path: '/v1/alerts', tag, item: Alert } as const;
const one = { path: '/v1/alerts/{id}', tag, item: Alert } as const;

/** Only people of the brand get these mails. */
const forAgents = { isListed: false };

/** Throws VALIDATION_ERROR for a threshold that the condition cannot have. */
function checkedThreshold(condition: Condition, threshold: number | undefined): number {
  if (condition === 'unusual' && threshold === undefined) return USUAL_THRESHOLD;
  if (threshold === undefined) {
    throw validationError([{ field: 'threshold', code: 'required', message: `is required for ${condition}.` }]);
  }
  const isWrong = condition === 'unusual' ? threshold <= 0 : condition === 'change_percent' && threshold === 0;
  if (!isWrong) return threshold;
  const right = condition === 'unusual' ? 'above 0' : 'above 0 for a rise, below 0 for a fall';
  throw validationError([{ field: 'threshold', code: 'invalid', message: `must be ${right}; got ${threshold}.` }]);
}

/** The window that is under way is checked first. */
function firstWindow(alert: Pick<AlertRow, 'span' | 'timezone'>, now: Date): Pick<AlertRow, 'untilAt' | 'dueAt'> {
  const untilAt = shiftEnd(alert, lastEnd(alert, now), 1);
  return { untilAt, dueAt: dueAfter(untilAt) };
}

/** A change of any of these fields restarts the alert. */
const CONDITION_FIELDS = ['metric', 'dimension', 'condition', 'threshold', 'span', 'currency', 'timezone'] as const;

const alertOperations = [
  list({
    ...all,
    id: 'list_alerts',
    summary: 'List alerts',
    description: 'Newest first, with their status.',
    forAgents,
    query: AlertFilter,
    rows: alerts,
    itemOf: (row) => toAlert(row),
  }),
  create({
    ...all,
    id: 'create_alert',
    summary: 'Email when a figure leaves its bounds',
    description:
      'Each window is checked after it has ended. One email is sent when the condition is first met, and one when ' +
      'it no longer is. The first window is the current one. A brand can have up to 50.',
    forAgents,
    body: AlertCreate,
    errors: ['CONFLICT'],
    apply: async (work, { body }) => {
      const { db, now, brandId } = work;
      const brand = await lockBrand(db, brandId);
      const { name, metric, condition, window: span } = body;
      const threshold = checkedThreshold(condition, body.threshold);
      const timezone = body.timezone ?? brand.timeZone;
      const recipients = await parseOwnAddresses(work, 'to', body.to);
      if ((await countAlerts(db, brandId)) >= MAX_ALERTS) {
        throw new ApiError('CONFLICT', `A brand has at most ${MAX_ALERTS} alerts; delete one first.`);
      }
      const id = newId('alr', now.getTime());
      const row = await alertRows.insert(work, {
        id,
        name,
        metric,
        dimension: body.by,
        condition,
        threshold,
        span,
        timezone,
        recipients,
        currency: body.currency ?? brand.currency,
        ...firstWindow({ span, timezone }, now),
        checkedAt: null,
        error: null,
        createdAt: now,
        updatedAt: null,
      });
      return toAlert(row);
    },
  }),
  get({
    ...one,
    id: 'get_alert',
    summary: 'Get an alert',
    description: 'Includes what it fires for.',
    forAgents,
    find: async ({ postgres }, { caller, params }) => toAlert(await alerts.get(postgres.db, caller.brandId, params.id)),
  }),
  patch({
    ...one,
    id: 'update_alert',
    summary: 'Change an alert',
    description:
      'A new condition starts again with the current window; until it is checked, the alert is quiet, without an email.',
    forAgents,
    body: AlertPatch,
    errors: ['NOT_FOUND'],
    apply: async (work, { params: { id }, body }) => {
      const { db, now, brandId } = work;
      const old = await alertRows.lock(work, id);
      const { name, metric, by: dimension, condition, threshold, window: span, currency, timezone, to } = body;
      const changes = { name, metric, dimension, condition, threshold, span, currency, timezone };
      const changedAlert = applyPatch(old, changes);
      checkedThreshold(changedAlert.condition, changedAlert.threshold);
      const isAnew = CONDITION_FIELDS.some((column) => changedAlert[column] !== old[column]);
      if (isAnew) await deleteFirings(db, brandId, id);
      await alertRows.update(work, old, {
        ...omitUndefined(changes),
        ...(to === undefined ? {} : { recipients: await parseOwnAddresses(work, 'to', to) }),
        ...(isAnew ? firstWindow(changedAlert, now) : {}),
        error: null,
        updatedAt: now,
      });
      return toAlert(await alerts.get(db, brandId, id));
    },
  }),
  remove({
    id: 'delete_alert',
    path: '/v1/alerts/{id}',
    tag,
    summary: 'Delete an alert',
    description: 'Sends no other email, even if it is firing.',
    forAgents,
    item: Alert,
    errors: ['NOT_FOUND'],
    apply: async (work, { params: { id } }) => {
      const row = await alertRows.lock(work, id);
      await alertRows.delete(work, row);
      return toAlert(row);
    },
  }),
] as const;

export const alertsNoun = noun({
  name: 'alerts',
  ids: { alerts: 'alr' },
  operations: alertOperations,
  jobs: [checkAlerts],
  mails: alertMails,
});
