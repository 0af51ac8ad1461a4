import { z } from 'zod';
import { act, list, remove } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { Email } from '../../kit/values/email.ts';
import { createdAt, creatorEmail, currencyField, idField } from '../../kit/values/fields.ts';
import { Currency } from '../../kit/values/money.ts';
import { ListQuery, TotalsQuery, timestamp } from '../../kit/values/page.ts';
import { toWire } from '../../kit/values/wire.ts';
import { payeeName } from '../payouts/payouts.shapes.ts';
import { StoreTime } from '../stores/formats/provider.ts';
import { type PastCommissionFacts, pastCommissions, recordPast } from './past-commissions.ts';

const name = z
  .string()
  .trim()
  .min(1)
  .refine((text) => !/\p{Cc}/u.test(text), 'must not have control characters');

const source = name.max(100).describe('Where it was paid, in your own words.').meta({ example: 'Our former tool' });
const reference = name
  .max(200)
  .describe('Its id there, such as a payout or an order. A source and reference are recorded once.')
  .meta({ example: 'PO-2217' });
const amount = z.number().positive().describe('What was paid, in major units of `currency`.').meta({ example: 125.5 });
const paidAt = 'When the creator was paid.';

const PastCommission = z
  .object({
    id: idField('pcm', 'Id of the past commission.'),
    creator_email: creatorEmail,
    creator_name: payeeName,
    source,
    reference,
    amount,
    currency: currencyField,
    paid_at: timestamp.describe(paidAt).meta({ example: '2025-11-30T12:00:00.000Z' }),
    created_at: createdAt,
  })
  .meta({ id: 'PastCommission' });

export const PastCommissionFilter = z.object({
  ...ListQuery,
  creator_email: Email.optional().describe('Only past commissions of this creator; case is ignored.'),
  source: source.optional().describe('Only past commissions of this source.'),
  sort: z
    .enum(['newest', 'oldest', 'amount'])
    .default('newest')
    .describe('`amount`: largest first, whatever the currency. The others sort by the time of the payment.'),
  ...TotalsQuery,
});
export type PastCommissionFilter = z.output<typeof PastCommissionFilter>;

const Reported = z.object({
  creator_email: Email.describe('Email address of a creator who is or was on the roster.'),
  reference,
  amount,
  currency: Currency.describe('Currency in which it was paid.'),
  paid_at: StoreTime.describe(paidAt).meta({ example: '2025-11-30T12:00:00Z' }),
});

const MOST = 500;

export const PastCommissionsReported = z
  .object({ source, past_commissions: z.array(Reported).min(1).max(MOST).describe('What was paid there.') })
  .meta({ id: 'PastCommissionsReported' });
export type PastCommissionsReported = z.output<typeof PastCommissionsReported>;

const count = z.number().int().min(0);

const PastCommissionsRecorded = z
  .object({
    recorded: count.describe('How many are new.').meta({ example: 2 }),
    known: count.describe('How many were recorded before, and are unchanged.').meta({ example: 0 }),
  })
  .meta({ id: 'PastCommissionsRecorded' });

function toPastCommission(row: PastCommissionFacts): z.input<typeof PastCommission> {
  const { brandId: _brand, creatorId: _creator, amountMinor, ...shown } = row;
  return { ...toWire(shown), amount: fromMinor(amountMinor, row.currency) };
}

const tag = 'Past commissions';
/** Records from another tool are moved once, so few agents need these tools. */
const forAgents = { isListed: false };
const idempotent = { readOnly: false, idempotent: true };

const pastCommissionOperations = [
  list({
    path: '/v1/past-commissions',
    id: 'list_past_commissions',
    tag,
    summary: 'List past commissions',
    description: 'Last paid first. `created_after` and `created_before` mean the time of the payment.',
    forAgents,
    item: PastCommission,
    query: PastCommissionFilter,
    rows: pastCommissions,
    sums: { amount: 'What creators were paid.' },
    itemOf: toPastCommission,
  }),
  act({
    path: '/v1/past-commissions/batch',
    id: 'report_past_commissions',
    tag,
    summary: 'Record up to 500 past commissions',
    description:
      'Keeps a record of what was paid with another tool. It pays nobody, emits no events, and is not in ' +
      'balances, statements or figures. All are recorded, or none if one is invalid; repeating a report changes nothing.',
    forAgents,
    hints: idempotent,
    body: PastCommissionsReported,
    item: PastCommissionsRecorded,
    apply: (work, { body }) => recordPast(work, body),
  }),
  remove({
    id: 'delete_past_commission',
    path: '/v1/past-commissions/{id}',
    tag,
    summary: 'Delete a past commission',
    description: 'Deletes one that was recorded by mistake. Nothing else changes.',
    forAgents,
    item: PastCommission,
    errors: ['NOT_FOUND'],
    hints: { ...idempotent, destructive: true },
    apply: async ({ db, brandId, audit }, { params: { id } }) => {
      const row = await pastCommissions.get(db, brandId, id);
      await db.deleteFrom('pastCommissions').where('brandId', '=', brandId).where('id', '=', id).execute();
      audit({ resourceId: id, old: row, new: null });
      return toPastCommission(row);
    },
  }),
] as const;

export const pastCommissionsNoun = noun({
  name: 'past-commissions',
  tag: {
    name: 'Past commissions',
    about: 'A record of what creators were paid with another tool. It pays nobody, and no figure counts it.',
  },
  ids: { 'past-commissions': 'pcm' },
  operations: pastCommissionOperations,
});
