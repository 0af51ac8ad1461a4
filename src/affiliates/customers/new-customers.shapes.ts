import { z } from 'zod';
import { Email } from '../../kit/values/email.ts';
import { idField } from '../../kit/values/fields.ts';
import { timestampInput } from '../../kit/values/page.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { idAtStore } from '../stores/formats/generic.shapes.ts';
import { Customer, reason } from './customers.shapes.ts';

const KEYS = ['customer_email', 'customer_external_id', 'subscription_id'] as const;
const STORES = ['source', 'integration_id'] as const;
const BROUGHT_BY = ['code', 'click_id', 'link_id'] as const;
/** Details of one way to name the creator, without meaning beside the others. */
const OF_LEAD = ['at'] as const;
const BY_HAND = ['since', 'reason'] as const;

const fields = {
  customer_email: Email.describe("The customer's address, of which a masked form and a keyed hash are stored.")
    .meta({ example: 'jane@example.com' })
    .optional(),
  customer_external_id: idAtStore
    .describe("The customer's id at the store, of which a keyed hash is stored.")
    .meta({ example: 'c-501' })
    .optional(),
  subscription_id: idAtStore.describe('Id of the subscription at the store.').meta({ example: 'sub_8999' }).optional(),
  source: idAtStore
    .max(100)
    .describe('Shop of these ids, by the name under which its orders are reported. A new name creates the shop.')
    .meta({ example: 'saas' })
    .optional(),
  integration_id: z
    .string()
    .max(100)
    .describe('Connected store of these ids.')
    .meta({ example: 'int_0Uo3xK2mVdT2aXs7LpRb' })
    .optional(),
  code: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .describe('Discount code that the customer came with. It must have been active.')
    .meta({ example: 'ANA15' })
    .optional(),
  click_id: z
    .string()
    .min(1)
    .max(200)
    .describe('Click that the customer came with, as the short link added it. It must be within its window.')
    .meta({ example: 'clk_0Uo3xK2mVdT2aXs7LpRb' })
    .optional(),
  at: timestampInput
    .describe('When the customer signed up, by which the code or click is judged; now when omitted.')
    .meta({ example: '2026-03-02T09:30:00Z' })
    .optional(),
  link_id: z
    .string()
    .max(100)
    .describe('Code or link whose creator the customer belongs to by your own decision. Needs `reason`.')
    .meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' })
    .optional(),
  since: timestampInput
    .describe('When the customer came, with `link_id`; now when omitted. More than 13 months ago is refused.')
    .meta({ example: '2026-01-01' })
    .optional(),
  reason: reason.describe('Why, with `link_id`.').meta({ example: 'Signed the contract on the phone' }).optional(),
};

type Field = keyof typeof fields;

function checkCustomer(input: Unchecked<Field>, context: z.RefinementCtx): void {
  const select = <F extends Field>(names: readonly F[]) => names.filter((name) => input[name] !== undefined);
  const complain = (field: Field, code: string, message: string) =>
    context.addIssue({ code: 'custom', path: [field], params: { code }, message });
  const [keys, stores, broughtBy] = [select(KEYS), select(STORES), select(BROUGHT_BY)];
  if (keys.length === 0) complain('customer_email', 'required', `give at least one of ${KEYS.join(', ')}`);
  const isOfStore = keys.some((key) => key !== 'customer_email');
  if (isOfStore && stores.length === 0) complain('source', 'required', 'give `source` or `integration_id` with an id');
  if (stores[1]) complain(stores[1], 'conflict', 'cannot stand beside `source`');
  if (broughtBy.length !== 1) {
    const message = `give exactly one of ${BROUGHT_BY.join(', ')}`;
    complain(broughtBy[1] ?? 'code', broughtBy[1] ? 'conflict' : 'required', message);
    return;
  }
  const isByHand = broughtBy[0] === 'link_id';
  if (isByHand && input.reason === undefined) complain('reason', 'required', 'is required with `link_id`');
  for (const field of select(isByHand ? OF_LEAD : BY_HAND)) {
    complain(field, 'conflict', isByHand ? 'cannot stand beside `link_id`' : 'needs `link_id`');
  }
}

export const CustomerCreate = z
  .object(fields)
  .superRefine(checkCustomer, besideOthers)
  .meta({
    id: 'CustomerCreate',
    examples: [{ customer_email: 'jane@example.com', code: 'ANA15' }],
  });
export type CustomerCreate = z.output<typeof CustomerCreate>;

export const CustomerCreated = z.object({
  data: Customer,
  created: z
    .boolean()
    .describe('`false`: a customer with one of these keys belongs to a creator already, and stays as it is.')
    .meta({ example: true }),
});

export const CustomersCreate = z
  .object({
    customers: z.array(CustomerCreate).min(1).max(500).describe('Customers, in the order in which they are added.'),
    import: z
      .boolean()
      .default(false)
      .describe('Whether this is a list from another tool: customers with `link_id` then get the origin `import`.'),
  })
  .meta({ id: 'CustomersCreate' });
export type CustomersCreate = z.output<typeof CustomersCreate>;

const count = z.number().int();

export const CustomersCreated = z
  .object({
    customers: z
      .array(
        z.object({
          outcome: z
            .enum(['created', 'known', 'failed'])
            .describe('`known`: one of the keys belongs to a creator already, who keeps the customer.')
            .meta({ example: 'created' }),
          id: idField('cus', 'Customer id.').nullable().describe('Customer id; null if it failed.'),
          field: z.string().nullable().describe('Field that was refused; null if none was.').meta({ example: null }),
          code: z.string().nullable().describe('Why it was refused; null if it was not.').meta({ example: null }),
          message: z.string().nullable().describe('The same in a sentence.').meta({ example: null }),
        }),
      )
      .describe('One row for each customer of the request, in its order.'),
    created: count.describe('Number of new customers.').meta({ example: 1 }),
    known: count.describe('Number of customers who belonged to a creator already.').meta({ example: 0 }),
    failed: count.describe('Number of customers that were refused.').meta({ example: 0 }),
  })
  .meta({ id: 'CustomersCreated' });
