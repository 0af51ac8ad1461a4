import { z } from 'zod';
import { createdAt, idField, updatedAt } from '../../kit/values/fields.ts';
import { Currency } from '../../kit/values/money.ts';
import { ListQuery, timestamp } from '../../kit/values/page.ts';
import { TimeZone } from '../../kit/values/time-zone.ts';
import { recipients } from '../reports/reports.shapes.ts';
import type { AlertRow, ShownAlert } from './alerts.ts';

const METRICS = ['clicks', 'orders', 'revenue', 'refunds', 'commission', 'conversion_rate', 'aov'] as const;
export type Metric = (typeof METRICS)[number];

const BY = ['creator', 'campaign', 'link', 'platform', 'store', 'source', 'country'] as const;
export type AlertBy = (typeof BY)[number];

export const CONDITIONS = ['above', 'below', 'change_percent', 'unusual'] as const;
export type Condition = (typeof CONDITIONS)[number];

export const WINDOWS = ['hour', 'day', 'week'] as const;
export type AlertWindow = (typeof WINDOWS)[number];

const name = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .nullable()
  .describe('Name of the alert, in the subject of its emails; null for one such as "Orders by creator".')
  .meta({ example: 'Nobody orders' });
const metric = z
  .enum(METRICS)
  .describe('The figure that is checked, as `/v1/analytics/breakdown` defines it.')
  .meta({ example: 'orders' });
const by = z
  .enum(BY)
  .nullable()
  .describe('Checks each creator, link, country or the like separately; null checks the whole brand.')
  .meta({ example: null });
const condition = z
  .enum(CONDITIONS)
  .describe(
    '`above`, `below`: the threshold. `change_percent`: from the window before, by at least the threshold. `unusual`: far ' +
      'from the same window of the last eight weeks; `/manual/jobs` has the formula.',
  )
  .meta({ example: 'below' });
const threshold = z
  .number()
  .min(-1_000_000_000_000)
  .max(1_000_000_000_000)
  .describe(
    'Bound in clicks, orders, percent or major units of `currency`. For `change_percent`, a rise, or a fall if negative. For ' +
      '`unusual`, the number of deviations, 3 by default.',
  )
  .meta({ example: 5 });
const window = z
  .enum(WINDOWS)
  .describe(
    'Length of the checked windows: each hour, day or week is checked after it has ended. Weeks begin on Monday.',
  )
  .meta({ example: 'day' });
const currency = Currency.describe(
  'Currency of money. Other currencies are left out of `revenue`, `aov` and the like.',
);
const timezone = TimeZone.describe('IANA time zone in which days and weeks begin.');
const to = recipients.describe("Addresses of the brand's people who get its mails. People who have left get none.");

export const Alert = z
  .object({
    id: idField('alr', 'Alert id.'),
    name,
    metric,
    by,
    condition,
    threshold,
    window,
    currency,
    timezone,
    to,
    status: z
      .enum(['quiet', 'firing'])
      .describe(
        'Alert status. `firing`: the figure left its bounds, and an email said so; a second email follows when it is back.',
      ),
    firing_since: timestamp
      .nullable()
      .describe('When it began to fire; null while it is quiet.')
      .meta({ example: null }),
    firing_keys: z
      .array(z.string())
      .describe('With `by`: ids or values for which it fires, up to 100.')
      .meta({ example: [] }),
    next_at: timestamp.describe('When it is checked next.').meta({ example: '2026-03-09T07:00:00.000Z' }),
    last_checked_at: timestamp
      .nullable()
      .describe('When a window was last checked; null before the first.')
      .meta({ example: '2026-03-02T07:00:00.000Z' }),
    last_error: z
      .string()
      .nullable()
      .describe('Why its window could not be checked; null while it works.')
      .meta({ example: null }),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'Alert' });

export const AlertCreate = z
  .object({
    name: name.default(null),
    metric,
    by: by.default(null),
    condition,
    threshold: threshold
      .optional()
      .describe('Bound in the unit of the metric; optional for `unusual` alone, where it counts deviations.'),
    window: window.default('day'),
    currency: currency.optional().describe("Currency of money; the brand's by default."),
    timezone: timezone.optional().describe("IANA time zone in which days and weeks begin; the brand's by default."),
    to,
  })
  .meta({ id: 'AlertCreate' });

export const AlertPatch = z
  .object({
    name: name.optional(),
    metric: metric.optional(),
    by: by.optional(),
    condition: condition.optional(),
    threshold: threshold.optional(),
    window: window.optional(),
    currency: currency.optional(),
    timezone: timezone.optional(),
    to: to.optional(),
  })
  .meta({ id: 'AlertPatch' });

export const AlertFilter = z.object(ListQuery);

export const toAlert = (row: AlertRow & Partial<ShownAlert>): z.input<typeof Alert> => {
  const { firingSince = null, firingKeys = [] } = row;
  return {
    id: row.id,
    name: row.name,
    metric: row.metric,
    by: row.dimension,
    condition: row.condition,
    threshold: row.threshold,
    window: row.span,
    currency: row.currency,
    timezone: row.timezone,
    to: row.recipients,
    status: firingSince === null ? 'quiet' : 'firing',
    firing_since: firingSince?.toISOString() ?? null,
    firing_keys: firingKeys,
    next_at: row.dueAt.toISOString(),
    last_checked_at: row.checkedAt?.toISOString() ?? null,
    last_error: row.error,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt?.toISOString() ?? null,
  };
};
