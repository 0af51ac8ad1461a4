import { z } from 'zod';
import { toCommission } from '../../affiliates/commissions/commissions.shapes.ts';
import { createManualCommission } from '../../affiliates/reviews/reviews.ts';
import { change, noLookUp, nothing, type Operation } from '../../kit/operation/operation.ts';
import { Email } from '../../kit/values/email.ts';
import { validationError } from '../../kit/values/errors.ts';
import { Currency } from '../../kit/values/money.ts';
import { legacyCommission } from './items.ts';

const LegacyManualCommission = z
  .object({
    creator_email: Email.describe('Email address of a creator who is or was on the roster.'),
    amount: z.number().positive().describe('What the creator gets, in major units of `currency`.'),
    currency: Currency.optional().describe("Currency of `amount`; the brand's when omitted."),
    description: z.string().trim().max(5_000).nullable().optional().describe('Kept as `status_note`.'),
    status: z.enum(['pending', 'approved']).default('pending').describe('Status of the recorded commission.'),
  })
  .meta({ id: 'LegacyManualCommission' });

/**
 * Records a commission without an order: it can be approved at once and paid by payouts, and counts neither as
 * conversion nor as revenue.
 */
const createManual: Operation = change({
  id: 'create_manual_commission',
  method: 'POST',
  path: '/api/v1/commissions',
  tag: 'Commissions',
  summary: 'Record a commission by hand',
  description: 'Without an order and a review period. It counts as commission, not as a conversion or revenue.',
  callers: ['brand'],
  params: nothing,
  query: nothing,
  body: LegacyManualCommission,
  response: z.object({ data: legacyCommission }),
  status: 201,
  hints: { readOnly: false, idempotent: false, destructive: false },
  lookUp: noLookUp,
  apply: async (work, { body }) => ({ data: toCommission(await createManualCommission(work, body)) }),
});

const Sent = z.looseObject({});

/**
 * `POST /api/v1/commissions` reviews commissions if the body names events, and records one manually if it names a
 * creator.
 */
export function reviewOrRecord(review: Operation): Operation {
  return {
    ...review,
    summary: 'Review commissions, or record one by hand',
    description: `${review.description} With \`creator_email\` and \`amount\` it records a commission by hand and answers 201.`,
    body: z.union([review.body, LegacyManualCommission]),
    alternative: createManual,
    prepare: (raw) => {
      const { data: sent = {} } = Sent.safeParse(raw.body);
      if (!('creator_email' in sent) || raw.query.mode === 'plan') return review.prepare(raw);
      if ('event_id' in sent || 'event_ids' in sent) {
        const message = 'records a commission by hand; give it without `event_id` and `event_ids`.';
        throw validationError([{ field: 'creator_email', code: 'ambiguous', message }]);
      }
      return { ...createManual.prepare(raw), status: createManual.status };
    },
  };
}
