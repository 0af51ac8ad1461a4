import { z } from 'zod';
import { fromMinor } from '../../kit/values/decimals.ts';
import { Email } from '../../kit/values/email.ts';
import { createdAt, creatorEmail, currencyField, idField, updatedAt } from '../../kit/values/fields.ts';
import { booleanParameter, ListQuery, timestamp } from '../../kit/values/page.ts';
import { toWire } from '../../kit/values/wire.ts';
import { assignedCreatorName } from '../../workflow/creators/creators.shapes.ts';
import { Terms } from '../../workflow/terms/terms.shapes.ts';
import { parseTerms } from '../../workflow/terms/versions.ts';
import { maskedCustomer } from '../commissions/commissions.shapes.ts';
import { findEnd, findRowState } from '../terms/customer-rows.ts';
import { summarizeTerms } from '../terms/summary.ts';
import { type ListedCustomer, toPayments } from './customers.ts';

const ORIGINS = ['order', 'lead', 'hand', 'import'] as const;
const STATES = ['open', 'running', 'over', 'ended'] as const;

export const reason = z.string().trim().min(1).max(500);
const origin = z
  .enum(ORIGINS)
  .describe(
    'How the customer became known. `order`: a code or click won an order. `lead`: it was reported before any order. `hand`: by ' +
      'a person. `import`: from another tool.',
  )
  .meta({ example: 'order' });

export const Customer = z
  .object({
    id: idField('cus', 'Customer id.'),
    creator_email: creatorEmail,
    creator_name: assignedCreatorName,
    link_id: z
      .string()
      .describe('Code or link that brought the customer, and that earns on later orders.')
      .meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' }),
    link_value: z.string().describe('Discount code or link name of `link_id`.').meta({ example: 'ANA15' }),
    customer_email: maskedCustomer,
    subscription_ids: z
      .array(z.string())
      .describe('Subscriptions of the customer that are known, by their ids at the stores.')
      .meta({ example: ['8999'] }),
    origin,
    first_order_id: z
      .string()
      .nullable()
      .describe('Order that the customer was won with, by its id in Rollcall; null without one.')
      .meta({ example: 'ord_0Uo3xK2mVdT2aXs7LpRb' }),
    since: timestamp
      .describe('When the customer began to belong to the creator.')
      .meta({ example: '2026-03-01T18:05:00.000Z' }),
    until: timestamp.nullable().describe('When orders stop paying; null if they do not.').meta({ example: null }),
    terms_id: z
      .string()
      .nullable()
      .describe('Version of the copied terms; null for a percentage alone.')
      .meta({ example: 'trm_0Uo3xK2mVdT2aXs7LpRb' }),
    covers: Terms.shape.covers.unwrap().describe('Which later orders earn, by the terms that were copied.'),
    summary: z
      .string()
      .describe('The copied terms in a sentence.')
      .meta({ example: '15% of each order; also on renewals of the subscription.' }),
    payments: z
      .object({
        made: z.number().int().describe('Orders of more than 0.00 so far.').meta({ example: 3 }),
        of: z.number().int().nullable().describe('How many of them earn; null for all.').meta({ example: 12 }),
      })
      .describe('Payments of the customer, the first included.'),
    state: z
      .enum(STATES)
      .describe(
        '`open`: no payment yet. `running`: later orders may earn. `over`: the terms no longer pay. `ended`: you ended it.',
      )
      .meta({ example: 'running' }),
    orders: z.number().int().describe('Orders of the customer that are known.').meta({ example: 3 }),
    commission: z
      .array(
        z.object({
          currency: currencyField,
          amount: z.number().describe('In major units, without rejected commissions.').meta({ example: 45 }),
        }),
      )
      .describe("Commissions of the customer's orders, by currency."),
    created_at: createdAt,
    updated_at: updatedAt,
    group_id: z
      .string()
      .nullable()
      .describe('Group that the creator is in now; null without one.')
      .meta({ example: null }),
    reason: z
      .string()
      .nullable()
      .describe('Why you added, ended or moved the customer; null if you did not.')
      .meta({ example: null }),
  })
  .meta({ id: 'Customer' });

export const CustomerFilter = z.object({
  ...ListQuery,
  creator_email: Email.describe('Only customers whom this creator brought. Case does not matter.').optional(),
  link_id: z.string().max(100).describe('Only customers of this code or link.').optional(),
  subscription_id: z.string().max(200).describe('Only the customer with this subscription.').optional(),
  origin: origin.optional().describe('Only customers who became known in this way.'),
  customer_email: Email.describe('Only customers with this address.').meta({ example: 'jane@example.com' }).optional(),
  group_id: z.string().max(100).describe('Only customers of creators who are in this group now.').optional(),
  first_order_id: z
    .string()
    .max(100)
    .describe('Only the customer who was won with this order, by its id in Rollcall.')
    .optional(),
  terms_id: z.string().max(100).describe('Only customers with this version of terms.').optional(),
  covers: Terms.shape.covers.unwrap().describe('Only customers whose terms cover this.').optional(),
  state: z.enum(STATES).describe('Only customers in this state.').optional(),
  by_upgrade: booleanParameter()
    .optional()
    .describe(
      '`true`: only customers whom the upgrade from 1.0 recorded, for orders that were won with `pays_renewals`.',
    ),
});
export type CustomerFilter = z.output<typeof CustomerFilter>;

export const CustomerPatch = z
  .object({
    ended: z
      .boolean()
      .optional()
      .describe('`true` ends it now: later orders pay nobody. `false` takes this back.')
      .meta({ example: true }),
    link_id: z
      .string()
      .max(100)
      .optional()
      .describe('Code or link that earns on later orders. The terms stay.')
      .meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' }),
    terms: z
      .literal('present')
      .optional()
      .describe('`present` copies the terms that are in effect for the link now.')
      .meta({ example: 'present' }),
    reason: reason.describe('Why, for your own records.').meta({ example: 'Moved to the new agency' }).optional(),
  })
  .meta({ id: 'CustomerPatch' });
export type CustomerPatch = z.output<typeof CustomerPatch>;

export const CustomerDeleted = z.object({
  id: idField('cus', 'Id of the customer who was erased.'),
  erased: z.literal(true).describe('Always true: nothing recognizes the customer any more.'),
});

export function toCustomer(row: ListedCustomer, now: Date): z.input<typeof Customer> {
  const terms = parseTerms(row.terms);
  const payments = toPayments(row);
  const { endedAt, isOriginRejected, timeZone } = row;
  const running = { terms, endedAt, isOriginRejected, timeZone };
  return {
    ...toWire(row),
    link_value: row.linkValue,
    subscription_ids: row.subscriptionKeys.map((key) => key.slice(key.indexOf(' ') + 1)),
    until: findEnd(running, payments)?.toISOString() ?? null,
    covers: terms.covers,
    summary: summarizeTerms(terms),
    payments: { made: payments.made, of: terms.payments },
    state: findRowState(running, payments, now),
    orders: row.orders,
    commission: row.commissions.map(({ currency, minor }) => ({ currency, amount: fromMinor(minor, currency) })),
  };
}
