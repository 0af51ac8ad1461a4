import { z } from 'zod';
import { type EventsOf, events } from '../../kit/outbox/events.ts';
import { toCompensation } from '../../kit/values/compensation.ts';
import { Email } from '../../kit/values/email.ts';
import { campaignId, createdAt, creatorEmail, idField, updatedAt } from '../../kit/values/fields.ts';
import { ListQuery, timestamp, timestampInput } from '../../kit/values/page.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { toWire } from '../../kit/values/wire.ts';
import {
  CompensationCreate,
  CompensationShown,
  campaignFilter,
  campaignIdInput,
  creatorFilter,
  creatorName,
} from '../campaigns/campaigns.shapes.ts';
import { ContractTerms, WorkInput, WorkShown } from '../deliverables/deliverables.shapes.ts';
import type { ContractFacts } from './contracts.ts';

export const EXPIRED_REASONS = ['expired', 'voided'] as const;
const STATUSES = ['draft', 'sent', 'signed', 'expired'] as const;
const MAX_ITEMS = 50;
const MAX_UNITS = 200;

const id = idField('ctr', 'Contract id.');
const status = z
  .enum(STATUSES)
  .describe(
    'Contract status. `sent`: the creator has the link but has not signed; `expired`: it can no longer be signed, see `expired_reason`.',
  );
const title = z.string().describe('Title that the creator sees.').meta({ example: 'Summer launch: two reels' });
const signedAt = timestamp
  .nullable()
  .describe('When the creator signed; null until then.')
  .meta({ example: '2026-03-04T11:00:00.000Z' });
const signerName = fromOutside(
  z
    .string()
    .nullable()
    .describe('Name that the creator typed to sign; null until then.')
    .meta({ example: 'Ana Ortiz' }),
);
const sha256Example = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const usageRightsExample = 'Organic posts on our own channels, for a year';

const Item = z.object({
  type: WorkShown.type,
  platform: WorkShown.platform,
  quantity: z.number().int().describe('Number of units; each is a deliverable.').meta({ example: 2 }),
  due_date: WorkShown.due_date,
});

const ItemInput = z.object({
  type: WorkInput.type,
  platform: WorkInput.platform.optional(),
  quantity: z
    .number()
    .int()
    .min(1)
    .max(100)
    .default(1)
    .describe('Number of units; each becomes a deliverable.')
    .meta({ example: 2 }),
  due_date: WorkInput.due_date.optional(),
});
export type ItemInput = z.output<typeof ItemInput>;

const items = z
  .array(ItemInput)
  .max(MAX_ITEMS)
  .superRefine((list, context) => {
    const units = list.reduce((sum, { quantity }) => sum + quantity, 0);
    if (units <= MAX_UNITS) return;
    context.addIssue({ code: 'custom', message: `must have at most ${MAX_UNITS} units in all`, input: units });
  });

const EMAIL_STATES = ['queued', 'delayed', 'held', 'sent', 'failed', 'suppressed'] as const;

/** An agreement with a creator. Lists and events carry it. */
export const Contract = z
  .object({
    id,
    creator_email: creatorEmail,
    creator_name: creatorName,
    campaign_id: campaignId,
    title,
    status,
    compensation: CompensationShown.nullable().describe('What the creator gets; null if there is no compensation.'),
    deliverables: z.array(Item).describe('Content that the creator promises.'),
    signed_at: signedAt,
    expires_at: timestamp
      .nullable()
      .describe('Time from which the contract can no longer be signed; null when it does not expire.')
      .meta({ example: '2026-04-01T00:00:00.000Z' }),
    created_at: createdAt,
    sent_at: timestamp
      .nullable()
      .describe('When it was last sent for signature; null for a draft.')
      .meta({ example: '2026-03-03T09:30:00.000Z' }),
    expired_reason: z
      .enum(EXPIRED_REASONS)
      .nullable()
      .describe(
        'Why the contract expired. `expired`: it was not signed in time; `voided`: the brand withdrew it; null otherwise.',
      ),
    updated_at: updatedAt,
  })
  .meta({ id: 'Contract' });
export type Contract = z.infer<typeof Contract>;

export const ContractDetail = Contract.extend({
  usage_rights: z
    .string()
    .nullable()
    .describe('Usage rights in words, as the creator reads them; null for none.')
    .meta({ example: usageRightsExample }),
  terms: z
    .object({
      channels: z
        .array(z.string())
        .describe('Channels it may be used on; empty for any.')
        .meta({ example: ['paid_social'] }),
      territory: z
        .string()
        .nullable()
        .describe('Territories in which it may be used; null for everywhere.')
        .meta({ example: 'US' }),
      days: z
        .number()
        .int()
        .nullable()
        .describe('Number of days for which it may be used; null for no end.')
        .meta({ example: 90 }),
      starts: z
        .string()
        .describe('The days count from the signature (`signed`), the first post (`posted`) or `starts_on` (`fixed`).')
        .meta({ example: 'signed' }),
      starts_on: z
        .string()
        .nullable()
        .describe('First day of use, when `starts` is `fixed`; null otherwise.')
        .meta({ example: null }),
    })
    .nullable()
    .describe("Usage rights as data, which determine when an asset's rights end; null when none were set."),
  signer_name: signerName,
  content_sha256: z
    .string()
    .nullable()
    .describe('SHA-256 of the document that was sent, in hex; null for a draft.')
    .meta({ example: sha256Example }),
  email_state: z
    .enum(EMAIL_STATES)
    .nullable()
    .describe(
      'The email with the link to sign. `delayed`: it waits for the hourly limit; `held`: a person must release it; `suppressed`: the address ' +
        'accepts no mail. Null for a draft, after an end, and 30 days after the mail.',
    ),
}).meta({ id: 'ContractDetail' });

export const ContractSaved = Contract.pick({
  id: true,
  title: true,
  status: true,
  creator_email: true,
  created_at: true,
}).extend({
  signature_url: z
    .string()
    .nullable()
    .describe(
      'Page where the creator signs; the link is for this creator and one signature. Null unless this call sent it.',
    )
    .meta({ example: 'https://links.example/sign/…' }),
});

export const ContractDocument = z
  .object({
    contract_id: idField('ctr', 'Contract that this is the text of.'),
    status,
    sha256: z.string().describe('SHA-256 of `document` as UTF-8, in hex.').meta({ example: sha256Example }),
    document: z
      .string()
      .describe('The text that the creator signs, as canonical JSON: keys in order, no spaces.')
      .meta({ example: '{"brand":"Acme","title":"Summer launch"}' }),
    html: z
      .string()
      .describe('The same text as a complete HTML page.')
      .meta({ example: '<!doctype html><title>Summer launch</title>…' }),
    signed_at: signedAt,
    signer_name: signerName,
  })
  .meta({ id: 'ContractDocument' });

const fields = {
  creator_email: Email.describe('A creator on the roster, or an applicant.'),
  campaign_id: campaignIdInput,
  title: title.trim().min(1).max(200),
  compensation: CompensationCreate.nullable().describe(
    'Pay: `fixed` money, `commission` percent of sales, `product` none; null for nothing.',
  ),
  deliverables: items,
  usage_rights: z
    .string()
    .trim()
    .max(20_000)
    .nullable()
    .describe('Usage rights in words, as the creator reads them.')
    .meta({ example: usageRightsExample }),
  terms: ContractTerms.nullable().describe("Usage rights as data, which determine when an asset's rights end."),
  expires_at: timestampInput
    .nullable()
    .describe('Time from which the contract can no longer be signed; null when it does not expire.'),
};

export const ContractCreate = z
  .object({
    creator_email: fields.creator_email,
    campaign_id: fields.campaign_id.optional(),
    title: fields.title,
    compensation: fields.compensation.optional(),
    deliverables: fields.deliverables
      .default([])
      .describe('Content that the creator promises; each unit becomes a deliverable.'),
    usage_rights: fields.usage_rights.optional(),
    terms: fields.terms.optional(),
    expires_at: fields.expires_at.optional(),
    send_for_signature: z.boolean().default(false).describe('Send it to the creator right away.'),
  })
  .meta({ id: 'ContractCreate' });
export type ContractCreate = z.output<typeof ContractCreate>;

/** Set changes, omit keeps, null clears. */
export const ContractPatch = z
  .object({
    creator_email: fields.creator_email.optional(),
    campaign_id: fields.campaign_id.optional(),
    title: fields.title.optional(),
    compensation: fields.compensation.optional().describe('Replaces the whole compensation.'),
    deliverables: fields.deliverables.optional().describe('Replaces the whole list and the deliverables made from it.'),
    usage_rights: fields.usage_rights.optional(),
    terms: fields.terms.optional(),
    expires_at: fields.expires_at.optional(),
  })
  .meta({ id: 'ContractPatch' });
export type ContractPatch = z.output<typeof ContractPatch>;

export const ContractFilter = z.object({
  creator_email: creatorFilter,
  campaign_id: campaignFilter,
  status: status.optional().describe('Only contracts with this status.'),
  ...ListQuery,
  sort: z
    .enum(['newest', 'oldest', 'due'])
    .default('newest')
    .describe('`due`: soonest first, by `expires_at`. Contracts that need no signature come last.'),
});
export type ContractFilter = z.output<typeof ContractFilter>;

export const toContractWire = ({ items: deliverables, contentHash, ...row }: ContractFacts) => ({
  ...toWire(row),
  compensation: toCompensation(row),
  deliverables: deliverables.map(toWire),
  content_sha256: contentHash?.toString('hex') ?? null,
});

/** The list item of a row. Events carry it too. */
export const toContract = (row: ContractFacts): Contract => Contract.parse(toContractWire(row));
export const toContractSaved = (row: ContractFacts, signatureUrl: string | null) =>
  ContractSaved.parse({ ...toWire(row), signature_url: signatureUrl });

const contractEvents = events({
  'contract.signed': {
    data: Contract,
    when: 'A creator signed a contract.',
    shownTo: ['legacy'],
  },
});
declare module '../../kit/outbox/events.ts' {
  interface Events extends EventsOf<typeof contractEvents> {}
}
