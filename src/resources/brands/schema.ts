import { z } from 'zod';
import { PLAN_NAMES, SUBSCRIPTION_STATUSES } from '../../access/keys/plans.ts';
import { Currency, fromPpm, toPpm } from '../../values/money.ts';
import { timestamp } from '../../values/page.ts';
import { WebAddress } from '../../values/web-address.ts';
import { toWire } from '../../values/wire.ts';
import type { BrandRow } from './queries.ts';

const rate = z
  .number()
  .min(0)
  .max(100)
  .refine((percent) => toPpm(percent) !== undefined, 'must have at most 4 decimals');

const BrandSettings = z.object({
  auto_approve_commissions: z.boolean(),
  default_commission_rate: rate.describe('Percent.').meta({ example: 12.5 }),
  currency: Currency,
});

export const Brand = z
  .object({
    id: z.string(),
    name: z.string(),
    logo: z.string().nullable(),
    contact_name: z.string().nullable(),
    contact_email: z.string().nullable(),
    website: z.string().nullable(),
    industry: z.string().nullable(),
    description: z.string().nullable(),
    plan: z.enum(PLAN_NAMES),
    subscription_status: z.enum(SUBSCRIPTION_STATUSES),
    settings: BrandSettings,
    created_at: timestamp,
    updated_at: timestamp.nullable(),
  })
  .meta({ id: 'Brand' });
export type Brand = z.infer<typeof Brand>;

const line = z.string().trim().min(1).max(200).nullable();

/** Set changes, omit keeps, null clears; a name and the settings have no empty state and refuse null. */
export const BrandPatch = z
  .object({
    name: z.string().trim().min(1).max(200).optional(),
    logo: WebAddress.nullable().optional(),
    contact_name: line.optional(),
    contact_email: z.email().max(254).nullable().optional(),
    website: WebAddress.nullable().optional(),
    industry: line.optional(),
    description: z.string().max(10_000).nullable().optional(),
    settings: BrandSettings.partial().optional(),
  })
  .meta({ id: 'BrandPatch' });
export type BrandPatch = z.output<typeof BrandPatch>;

export function brandOf({ autoApproveCommissions, defaultCommissionRatePpm, currency, ...row }: BrandRow) {
  const settings = toWire({ autoApproveCommissions, currency });
  return {
    ...toWire(row),
    settings: { ...settings, default_commission_rate: fromPpm(defaultCommissionRatePpm) },
  };
}
