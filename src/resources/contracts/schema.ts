import { z } from 'zod';
import { type EventsOf, events } from '../../outbox/events.ts';
import { compensationOf } from '../../values/compensation.ts';
import { ListQuery, timestamp, timestampInput } from '../../values/page.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { toWire } from '../../values/wire.ts';
import { Compensation, CompensationCreate } from '../campaigns/schema.ts';
import { Email } from '../creators/schema.ts';
import { DeliverableType, Platform } from '../deliverables/schema.ts';
import { ContractTerms, DueDate } from '../deliverables/terms-schema.ts';
import type { ContractFacts } from './queries.ts';

const STATUSES = ['draft', 'sent', 'signed', 'expired'] as const;
const MAX_ITEMS = 50;
const MAX_UNITS = 200;

const Item = z.object({
  type: z.string().meta({ example: 'reel' }),
  platform: z.string().nullable(),
  quantity: z.number().int().describe('How many of them.').meta({ example: 2 }),
  due_date: z.string().nullable().describe('A day, such as 2027-01-31.'),
});

const ItemInput = z.object({
  type: DeliverableType,
  platform: Platform.nullable().optional(),
  quantity: z.number().int().min(1).max(100).default(1).describe('How many of them.').meta({ example: 2 }),
  due_date: DueDate.nullable().optional(),
});
export type ItemInput = z.output<typeof ItemInput>;

const items = z
  .array(ItemInput)
  .max(MAX_ITEMS)
  .superRefine((list, context) => {
    const units = list.reduce((sum, { quantity }) => sum + quantity, 0);
    if (units <= MAX_UNITS) return;
    context.addIssue({ code: 'custom', message: `must ask for at most ${MAX_UNITS} units in all`, input: units });
  });

/** An agreement with a creator, as lists and events show it. */
export const Contract = z
  .object({
    id: z.string(),
    creator_email: z.string().nullable(),
    creator_name: fromOutside(z.string().nullable()),
    campaign_id: z.string().nullable(),
    title: z.string(),
    status: z.enum(STATUSES),
    compensation: Compensation.extend({ type: z.string().meta({ example: 'fixed' }) }).nullable(),
    deliverables: z.array(Item).describe('What the creator is to deliver.'),
    signed_at: timestamp.nullable().describe('When the creator signed.'),
    expires_at: timestamp.nullable(),
    created_at: timestamp,
    sent_at: timestamp.nullable().describe('When it was sent for signature last.'),
    expired_reason: z
      .enum(['expired', 'voided'])
      .nullable()
      .describe('Whether its time was over, or the brand took it back.'),
    updated_at: timestamp.nullable(),
  })
  .meta({ id: 'Contract' });
export type Contract = z.infer<typeof Contract>;

export const ContractDetail = Contract.extend({
  usage_rights: z.string().nullable().describe('In words, as the creator reads them.'),
  terms: z
    .object({
      channels: z
        .array(z.string())
        .describe('Where; empty: anywhere.')
        .meta({ example: ['ads'] }),
      territory: z.string().nullable().describe('Null: everywhere.'),
      days: z.number().int().nullable().describe('How long; null: without an end.'),
      starts: z.string().describe('From when the days are counted.').meta({ example: 'signed' }),
      starts_on: z.string().nullable().describe('The day, where `starts` is `fixed`.'),
    })
    .nullable()
    .describe('The usage rights in a form that is reckoned with.'),
  signer_name: fromOutside(z.string().nullable().describe('As typed at signing.')),
  content_sha256: z.string().nullable().describe('Of the text that was sent, in hex; see the document.'),
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
    .describe('Where the creator signs: for them alone, and for one signature. Null unless it was sent just now.'),
});

export const ContractDocument = z
  .object({
    contract_id: z.string(),
    status: z.enum(STATUSES),
    sha256: z.string().describe('Of `document`, as UTF-8, in hex.'),
    document: z
      .string()
      .describe('Canonical JSON: keys in order, no spaces. What the creator signs.')
      .meta({ example: '{"brand":"Acme","title":"Summer launch"}' }),
    html: z.string().describe('The same for people, as a whole page.'),
    signed_at: timestamp.nullable().describe('When the creator signed.'),
    signer_name: fromOutside(z.string().nullable().describe('As typed at signing.')),
  })
  .meta({ id: 'ContractDocument' });

const fields = {
  creator_email: Email.describe('Of somebody on the roster, or who applied to a campaign.'),
  campaign_id: z.string().max(100).nullable(),
  title: z.string().trim().min(1).max(200).meta({ example: 'Summer launch: two reels' }),
  compensation: CompensationCreate.nullable(),
  deliverables: items,
  usage_rights: z.string().trim().max(20_000).nullable().describe('In words, as the creator reads them.'),
  terms: ContractTerms.nullable().describe('The usage rights in a form that is reckoned with.'),
  expires_at: timestampInput.nullable().describe('From then on it cannot be signed. Null: it does not expire.'),
};

export const ContractCreate = z
  .object({
    creator_email: fields.creator_email,
    campaign_id: fields.campaign_id.optional(),
    title: fields.title,
    compensation: fields.compensation.optional(),
    deliverables: fields.deliverables
      .default([])
      .describe('What the creator is to deliver; one is made for each unit.'),
    usage_rights: fields.usage_rights.optional(),
    terms: fields.terms.optional(),
    expires_at: fields.expires_at.optional(),
    send_for_signature: z.boolean().default(false).describe('Send it to the creator at once.'),
  })
  .meta({ id: 'ContractCreate' });
export type ContractCreate = z.output<typeof ContractCreate>;

/** Set changes, omit keeps, null clears. */
export const ContractPatch = z
  .object({
    creator_email: fields.creator_email.optional(),
    campaign_id: fields.campaign_id.optional(),
    title: fields.title.optional(),
    compensation: fields.compensation.optional().describe('Replaces the whole of it.'),
    deliverables: fields.deliverables.optional().describe('Replaces the whole list, and the deliverables made of it.'),
    usage_rights: fields.usage_rights.optional(),
    terms: fields.terms.optional(),
    expires_at: fields.expires_at.optional(),
  })
  .meta({ id: 'ContractPatch' });
export type ContractPatch = z.output<typeof ContractPatch>;

export const ContractFilter = z.object({
  creator_email: z.email().max(254).optional().describe('In any case.'),
  campaign_id: z.string().max(100).optional(),
  status: z.enum(STATUSES).optional(),
  ...ListQuery,
});

const wireOf = ({ items: promised, contentHash, ...row }: ContractFacts) => ({
  ...toWire(row),
  compensation: compensationOf(row),
  deliverables: promised.map(toWire),
  content_sha256: contentHash?.toString('hex') ?? null,
});

/** A row as the list item, which is also what events carry. */
export const contractOf = (row: ContractFacts): Contract => Contract.parse(wireOf(row));
export const contractDetailOf = (row: ContractFacts) => ContractDetail.parse(wireOf(row));
export const contractSavedOf = (row: ContractFacts, signatureUrl: string | null) =>
  ContractSaved.parse({ ...toWire(row), signature_url: signatureUrl });

const contractEvents = events({
  'contract.signed': {
    data: Contract,
    when: 'A creator signed a contract.',
    shownTo: ['legacy'],
  },
});
declare module '../../outbox/events.ts' {
  interface Events extends EventsOf<typeof contractEvents> {}
}
