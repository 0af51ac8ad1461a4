import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { DataRequestsTable } from '../../kit/engines/postgres/database.ts';
import { Email } from '../../kit/values/email.ts';
import { validationError } from '../../kit/values/errors.ts';
import { createdAt, idField } from '../../kit/values/fields.ts';
import { timestamp, WaitingListQuery } from '../../kit/values/page.ts';
import { toWire } from '../../kit/values/wire.ts';
import { PersonFilter } from '../../workflow/creators/creators.shapes.ts';

export type DataRequestRow = Omit<Selectable<DataRequestsTable>, 'selector' | 'leftovers' | 'books'>;

const KINDS = ['erasure', 'access'] as const;
const SUBJECTS = ['creator', 'customer'] as const;
const SOURCES = ['api', 'page', 'cli', 'shopify', 'woocommerce'] as const;
const REQUEST_STATES = ['open', 'running', 'done', 'refused'] as const;

const kind = z
  .enum(KINDS)
  .describe('`erasure`: what is kept about a person is erased. `access`: a file says what is kept.')
  .meta({ example: 'erasure' });
const reason = z.string().trim().min(1).max(500);

const Refusal = z.string().trim().min(1).max(1_000);

const Removed = z
  .record(z.string(), z.number().int())
  .describe('Rows that were erased or changed, by table; for an `access`, the rows in the file.')
  .meta({ example: { creators: 1, messages: 4, mails: 3 } });

const Kept = z
  .array(
    z.object({
      what: z.string().describe('What stays.').meta({ example: 'ledger, commissions and payouts' }),
      why: z.string().describe('Why it stays.').meta({ example: 'Books name amounts and dates, under a pseudonym.' }),
      until: z.string().nullable().describe('When it goes; null if it does not.').meta({ example: '30 days' }),
    }),
  )
  .describe('What stays, and why.');

export const DataRequest = z
  .object({
    id: idField('drq', 'Id of the request.'),
    kind,
    subject: z
      .enum(SUBJECTS)
      .describe('Whom it is about: one of your creators, or a buyer.')
      .meta({ example: 'creator' }),
    source: z
      .enum(SOURCES)
      .describe("Where it came from: the API or the app, the creator's own page, a command, or a store.")
      .meta({ example: 'api' }),
    state: z
      .enum(REQUEST_STATES)
      .describe(
        '`open`: it waits for you. `running`: it is being carried out. `done`: it was carried out. `refused`: you refused it.',
      )
      .meta({ example: 'done' }),
    creator_id: z
      .string()
      .nullable()
      .describe('The creator, whose figures stay under this id; null for customers and unknown people.')
      .meta({ example: 'crt_0Uo3xK2mVdT2aXs7LpRb' }),
    reason: reason
      .nullable()
      .describe('Your own words on the request; null if there are none.')
      .meta({ example: 'Asked by mail.' }),
    due_at: timestamp
      .describe('When it is due by law: 30 days after it was made.')
      .meta({ example: '2026-04-01T09:30:00.000Z' }),
    created_at: createdAt,
    finished_at: timestamp
      .nullable()
      .describe('When it was carried out; null until then.')
      .meta({ example: '2026-03-02T09:30:00.000Z' }),
    removed: Removed,
    kept: Kept,
    refusal: Refusal.nullable().describe('Why you refused it; null otherwise.').meta({ example: null }),
    books_until: timestamp
      .nullable()
      .describe('Until when the name, address and contracts are kept sealed for your books; null if nothing is kept.')
      .meta({ example: '2037-01-01T00:00:00.000Z' }),
  })
  .meta({ id: 'DataRequest' });

export const DataRequestFilter = z.object({
  kind: z.enum(KINDS).optional().describe('Only requests of this kind.'),
  state: z.enum(REQUEST_STATES).optional().describe('Only requests in this state.'),
  ...WaitingListQuery,
});
export type DataRequestFilter = z.output<typeof DataRequestFilter>;

export const Forfeit = z
  .boolean()
  .describe(
    '`true` rejects commissions that are still due to the creator; otherwise an erasure with money due is refused.',
  )
  .meta({ example: false });

export const DataRequestCreate = z
  .object({
    kind,
    creator_id: z
      .string()
      .max(100)
      .startsWith('crt_', 'must be the id of a creator, such as crt_0Uo3xK2mVdT2aXs7LpRb; a roster id (rst_…) is none')
      .optional()
      .describe('The creator, by id.')
      .meta({ example: 'crt_0Uo3xK2mVdT2aXs7LpRb' }),
    creator_email: Email.optional().describe('The creator, by email address.').meta({ example: 'ana@example.com' }),
    creator_handle: PersonFilter.handle
      .describe('The creator, by a handle or the address of a profile.')
      .meta({ example: '@anamakes' }),
    customer_email: Email.optional().describe('A buyer, by email address.').meta({ example: 'jane@mail.example' }),
    integration_id: z
      .string()
      .max(100)
      .optional()
      .describe('Only orders of this store.')
      .meta({ example: 'int_0Uo3xK2mVdT2aXs7LpRb' }),
    order_ids: z
      .array(
        z
          .string()
          .trim()
          .min(1)
          .max(100)
          .refine(
            (id) => !id.startsWith('#'),
            'must be an id: /v1/orders?order_id= finds the id of an order by its number',
          ),
      )
      .min(1)
      .max(1_000)
      .optional()
      .describe("A buyer's orders, by our ids or the store's; with `customer_email` only those of that address.")
      .meta({ example: ['5123456789'] }),
    customer_of: z
      .string()
      .regex(/^(ord|cus)_\w{1,96}$/, 'must be the id of an order or of a customer')
      .optional()
      .describe('A buyer, by one of their orders or as a customer of a creator: all orders of the same person.')
      .meta({ example: 'ord_0Uo3xK2mVdT2aXs7LpRb' }),
    reason: reason.optional().describe('Your own words on the request.').meta({ example: 'Asked by mail.' }),
    forfeit: Forfeit.optional(),
  })
  .meta({
    id: 'DataRequestCreate',
    example: { kind: 'erasure', creator_email: 'ana@example.com', reason: 'Asked by mail.' },
  });
export type DataRequestCreate = z.output<typeof DataRequestCreate>;

const CREATOR_SELECTORS = ['creator_id', 'creator_email', 'creator_handle'] as const;

/** Throws unless the body names one person in one way. Returns which of the two it is. */
export function readSubject(body: DataRequestCreate): 'creator' | 'customer' {
  const creators = CREATOR_SELECTORS.filter((name) => body[name] !== undefined);
  const byId = body.customer_of !== undefined;
  const isCustomer = body.customer_email !== undefined || body.order_ids !== undefined;
  const count = creators.length + (isCustomer ? 1 : 0) + (byId ? 1 : 0);
  if (count !== 1) {
    const [field = byId ? 'customer_of' : 'creator_id'] = creators;
    const message = `must stand alone: send one of ${CREATOR_SELECTORS.join(', ')}, customer_of, or customer_email and order_ids.`;
    throw validationError([{ field, code: count === 0 ? 'required' : 'conflicting', message }]);
  }
  if (!isCustomer && body.integration_id !== undefined) {
    throw validationError([
      { field: 'integration_id', code: 'conflicting', message: 'can only be sent with customer_email or order_ids.' },
    ]);
  }
  return isCustomer || byId ? 'customer' : 'creator';
}

const BOOKS = 'Books and figures name amounts and dates, under a pseudonym.';
const KEPT = {
  creator: [
    { what: 'ledger, commissions, payouts, references and figures', why: BOOKS, until: null },
    { what: 'discount codes and short links, switched off', why: 'Shops and orders have them.', until: null },
    {
      what: 'contracts that others were sent, codes, web addresses, and names of groups in the seals',
      why: 'Both sides have the contract; shops have the codes; a seal cannot be written again.',
      until: null,
    },
    {
      what: 'a name that another person has, too, or the title of a campaign, in texts about others',
      why: 'The text may mean them.',
      until: null,
    },
    { what: 'a salted hash of an address that unsubscribed', why: 'It must never be emailed again.', until: null },
    { what: 'backups, your own bucket, receivers of webhooks, stores', why: 'They are out of reach.', until: null },
  ],
  customer: [
    { what: 'amounts, dates and lines of orders', why: BOOKS, until: null },
    {
      what: 'orders of a Gmail address of more than 15 letters in a spelling with more dots than could be tried',
      why: 'Only hashes of addresses are kept. Send the spelling that the shop has to erase them, too.',
      until: null,
    },
    {
      what: 'the order, subscription and customer of the store by id',
      why: 'Refunds and renewals are paid by them.',
      until: null,
    },
    { what: 'backups, your own bucket, receivers of webhooks, stores', why: 'They are out of reach.', until: null },
  ],
} as const;

const listBooks = ({ booksUntil }: Pick<DataRequestRow, 'booksUntil'>) =>
  booksUntil === null
    ? []
    : [
        {
          what: 'name, address, payment address and signed contracts, sealed in this request',
          why: 'You paid this creator, and books say to whom. Only an owner opens it, with a reason.',
          until: booksUntil.toISOString(),
        },
      ];

export const DataRequestRefusal = z
  .object({
    reason: Refusal.describe('Why you refuse. It is emailed to the creator.').meta({
      example: 'A claim is open in court.',
    }),
  })
  .meta({ id: 'DataRequestRefusal' });

export const DataRequestOpening = z
  .object({ reason: reason.describe('Why you open it, for the audit log.').meta({ example: 'Tax audit of 2026.' }) })
  .meta({ id: 'DataRequestOpening' });

export const Books = z
  .object({
    email: z.string().nullable().describe('Email address of the creator.').meta({ example: 'ana@example.com' }),
    name: z.string().nullable().describe('Name of the creator.').meta({ example: 'Ana Ortiz' }),
    legal_name: z.string().nullable().describe('Name by which they were paid.').meta({ example: 'Ana Maria Ortiz' }),
    country: z.string().nullable().describe('Country by which they were paid.').meta({ example: 'ES' }),
    payment_addresses: z
      .array(z.string())
      .describe('Addresses to which they were paid.')
      .meta({ example: ['ana@pay.example'] }),
    contracts: z
      .array(
        z.object({
          id: z.string().describe('Id of the contract.').meta({ example: 'ctr_0Uo3xK2mVdT2aXs7LpRb' }),
          title: z.string().describe('Title of the contract.').meta({ example: 'Summer 2026' }),
          document: z.string().describe('The text that was signed.').meta({ example: '# Summer 2026' }),
          signer_name: z.string().nullable().describe('Who signed.').meta({ example: 'Ana Ortiz' }),
          signed_at: timestamp.nullable().describe('When it was signed.').meta({ example: '2026-05-01T10:00:00.000Z' }),
        }),
      )
      .describe('Contracts that they signed.'),
  })
  .meta({ id: 'DataRequestBooks' });
export type Books = z.output<typeof Books>;

export const toDataRequest = ({ removed, ...row }: DataRequestRow) => ({
  ...toWire(row),
  removed: Removed.parse(removed),
  kept: row.kind === 'erasure' && row.state !== 'done' ? [] : [...listBooks(row), ...KEPT[row.subject]],
});

export const DataRequestFile = z
  .object({
    request: z
      .object({ id: z.string().describe('Id of the request.'), created_at: createdAt })
      .describe('The request that it answers.'),
    tables: z
      .record(z.string(), z.array(z.record(z.string(), z.unknown())))
      .describe('Everything that is kept of the person, by table.')
      .meta({ example: { creators: [{ email: 'ana@example.com', name: 'Ana Ortiz' }] } }),
    files: z
      .array(
        z.object({
          name: z.string().describe('Name of the file.'),
          url: z.string().describe('Address of the file, which works for an hour; read again for a new one.'),
        }),
      )
      .describe('Files of a creator.')
      .meta({ example: [{ name: 'reel.mp4', url: 'https://go.example/files/ast_0VQ2.o.1a2b.c3d4' }] }),
    received_by: z
      .array(z.string())
      .describe('Who else received any of these data: stores, receivers of webhooks, buckets.')
      .meta({ example: ['shop.example', 'hooks.example'] }),
    kept: Kept,
  })
  .meta({ id: 'DataRequestFile' });
