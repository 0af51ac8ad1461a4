import { z } from 'zod';
import { createdAt, creatorEmail, currencyField, idField } from '../../../kit/values/fields.ts';
import { Currency, fromMinor } from '../../../kit/values/money.ts';
import { ListQuery, timestamp } from '../../../kit/values/page.ts';
import { toWire } from '../../../kit/values/wire.ts';
import { Email } from '../../../workflow/creators/creators.shapes.ts';
import { payeeName } from '../../payouts/payouts.shapes.ts';
import { StoreTime } from '../../stores/formats/provider.ts';
import type { PastCommissionFacts } from '../past-commissions.ts';

const isPlain = (text: string) => !/\p{Cc}/u.test(text);
const name = z.string().trim().min(1).refine(isPlain, 'must not have control characters');

const source = name.max(100).describe('Where it was paid, in your own words.').meta({ example: 'Our former tool' });
const reference = name
  .max(200)
  .describe('Its id there, such as a payout or an order. A source and reference are recorded once.')
  .meta({ example: 'PO-2217' });
const amount = z.number().positive().describe('What was paid, in major units of `currency`.').meta({ example: 125.5 });
const paidAt = 'When the creator was paid.';

export const PastCommission = z
  .object({
    id: idField('pcm', 'Id of the past commission.'),
    creator_email: creatorEmail,
    creator_name: payeeName,
    ...{ source, reference, amount, currency: currencyField },
    paid_at: timestamp.describe(paidAt).meta({ example: '2025-11-30T12:00:00.000Z' }),
    created_at: createdAt,
  })
  .meta({ id: 'PastCommission' });

export const PastCommissionFilter = z.object({
  ...ListQuery,
  creator_email: Email.optional().describe('Only past commissions of this creator; case is ignored.'),
  source: source.optional().describe('Only past commissions of this source.'),
});

const Reported = z.object({
  creator_email: Email.describe('E-mail address of a creator who is or was on the roster.'),
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

export const PastCommissionsRecorded = z
  .object({
    recorded: count.describe('How many are new.').meta({ example: 2 }),
    known: count.describe('How many were recorded before, and are unchanged.').meta({ example: 0 }),
  })
  .meta({ id: 'PastCommissionsRecorded' });

export function pastCommissionOf(row: PastCommissionFacts): z.input<typeof PastCommission> {
  const { brandId: _brand, creatorId: _creator, amountMinor, ...shown } = row;
  return { ...toWire(shown), amount: fromMinor(amountMinor, row.currency) };
}
