import { z } from 'zod';
import { PLAN_NAMES, SUBSCRIPTION_STATUSES } from '../../kit/access/keys/limits.ts';
import { get, patch } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { Email } from '../../kit/values/email.ts';
import { createdAt, idField, updatedAt } from '../../kit/values/fields.ts';
import { Currency, fromPpm, toPpm } from '../../kit/values/money.ts';
import { TimeZone } from '../../kit/values/time-zone.ts';
import { PictureAddress, WebAddress } from '../../kit/values/web-address.ts';
import { toWire } from '../../kit/values/wire.ts';
import { type BrandRow, getBrand, patchBrand } from './brands.ts';

const rate = z
  .number()
  .min(0)
  .max(100)
  .refine((percent) => toPpm(percent) !== undefined, 'must have at most 4 decimals');

const BrandSettings = z.object({
  auto_approve_commissions: z
    .boolean()
    .describe('Whether commissions are approved automatically when their review period ends.'),
  default_commission_rate: rate
    .describe('Commission rate in percent for links that set no rate.')
    .meta({ example: 12.5 }),
  require_payment_profile: z
    .boolean()
    .describe(
      'Whether wallet payments go to payment profiles only. If not, a creator without one is paid at the email address.',
    )
    .meta({ example: false }),
  bookkeeping_years: z
    .int()
    .min(0)
    .max(30)
    .describe(
      'Years for which your books keep the name, address and contracts of a creator whom you paid and then erased, counted from the end of the year of the last payment. 0 keeps nothing.',
    )
    .meta({ example: 10 }),
  currency: Currency.describe("Brand's currency, an ISO 4217 code. Limits and totals use it."),
  time_zone: TimeZone.describe(
    'IANA time zone of the days of figures, of dates without a time, of deadlines and of times in the app.',
  ),
});

const ABOUT = {
  name: 'Brand name, shown to creators on pages and in mails.',
  logo: 'URL of the logo, or a small picture as a `data:` URL. Shown on pages for creators.',
  contactName: 'Contact person at the brand.',
  contactEmail: 'Email address of the contact person.',
  website: 'Website of the brand. Links to its host are allowed in emails to creators.',
  industry: 'Industry of the brand, in free text.',
  description: 'Free text about the brand.',
};

const Brand = z
  .object({
    id: idField('brd', 'Brand id.'),
    name: z.string().describe(ABOUT.name).meta({ example: 'Acme' }),
    logo: z.string().nullable().describe(ABOUT.logo).meta({ example: 'https://acme.example/logo.png' }),
    contact_name: z.string().nullable().describe(ABOUT.contactName).meta({ example: 'Robin Bauer' }),
    contact_email: z.string().nullable().describe(ABOUT.contactEmail).meta({ example: 'team@acme.example' }),
    website: z.string().nullable().describe(ABOUT.website).meta({ example: 'https://acme.example' }),
    industry: z.string().nullable().describe(ABOUT.industry).meta({ example: 'Food' }),
    description: z.string().nullable().describe(ABOUT.description).meta({ example: 'Summer clothes from Oakland.' }),
    plan: z.enum(PLAN_NAMES).describe('Plan of the brand subscription. It sets the roster limit and directory access.'),
    subscription_status: z
      .enum(SUBSCRIPTION_STATUSES)
      .describe('Billing status. `active` and `trialing` subscriptions can use the directory if the plan includes it.'),
    settings: BrandSettings.describe('Defaults for commissions, money and times.'),
    has_sample: z
      .boolean()
      .describe('Whether the brand has the sample data of a first `npm start`. `DELETE /v1/brand/sample` removes it.')
      .meta({ example: false }),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'Brand' });
export type Brand = z.infer<typeof Brand>;

const line = z.string().trim().min(1).max(200).nullable();

/** Set changes, omit keeps, null clears; `name` and `settings` refuse null. */
export const BrandPatch = z
  .object({
    name: z.string().trim().min(1).max(200).optional().describe(ABOUT.name).meta({ example: 'Acme' }),
    logo: PictureAddress.nullable().optional().describe(ABOUT.logo).meta({ example: 'https://acme.example/logo.png' }),
    contact_name: line.optional().describe(ABOUT.contactName).meta({ example: 'Robin Bauer' }),
    contact_email: Email.nullable().optional().describe(ABOUT.contactEmail).meta({ example: 'team@acme.example' }),
    website: WebAddress.nullable().optional().describe(ABOUT.website).meta({ example: 'https://acme.example' }),
    industry: line.optional().describe(ABOUT.industry).meta({ example: 'Food' }),
    description: z
      .string()
      .max(10_000)
      .nullable()
      .optional()
      .describe(ABOUT.description)
      .meta({ example: 'Summer clothes from Oakland.' }),
    settings: BrandSettings.partial().optional().describe('Settings to change; others stay as they are.'),
  })
  .meta({ id: 'BrandPatch' });
export type BrandPatch = z.output<typeof BrandPatch>;

export const hasSample = ({ sample }: Pick<BrandRow, 'sample'>) => sample === 'filling' || sample === 'filled';

export function toBrand(brand: BrandRow) {
  const { autoApproveCommissions, defaultCommissionRatePpm, currency, timeZone, sample, ...rest } = brand;
  const { requirePaymentProfile, bookkeepingYears, ...row } = rest;
  const settings = toWire({
    autoApproveCommissions,
    requirePaymentProfile: requirePaymentProfile === true,
    bookkeepingYears,
    currency,
    timeZone,
  });
  return {
    ...toWire(row),
    has_sample: hasSample({ sample }),
    settings: { ...settings, default_commission_rate: fromPpm(defaultCommissionRatePpm) },
  };
}

const tag = 'Brand';

const brandOperations = [
  get({
    id: 'get_brand',
    path: '/v1/brand',
    tag,
    summary: 'Get the brand of this key',
    description: 'Includes the plan and the settings.',
    item: Brand,
    find: async ({ postgres }, { caller }) => toBrand(await getBrand(postgres.db, caller.brandId)),
  }),
  patch({
    id: 'update_brand',
    path: '/v1/brand',
    tag,
    summary: 'Change the brand',
    description:
      'Only the fields that you send change, and null clears one; the same inside `settings`. A new rate or currency applies to later orders.',
    forAgents: {
      description: 'Also inside `settings`, what is omitted stays. A new rate or currency applies to later orders.',
      example: { industry: 'Skin care' },
    },
    body: BrandPatch,
    item: Brand,
    errors: ['CONFLICT'],
    hints: { dataOut: ['contact_email', 'website'] },
    weighs: { rate: 'defaultCommissionRatePpm', counted: 'currency' },
    apply: async (work, { body }) => toBrand(await patchBrand(work, body)),
  }),
] as const;

export const brands = noun({
  name: 'brands',
  tag: {
    name: 'Brand',
    about: "Your brand's own facts and settings.",
  },
  ids: { brand: 'brd' },
  operations: brandOperations,
});
