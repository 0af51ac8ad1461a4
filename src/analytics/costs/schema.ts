import { z } from 'zod';
import { createdAt, idField, updatedAt } from '../../kit/values/fields.ts';
import { Currency, fromMinor, fromPpm } from '../../kit/values/money.ts';
import { ListQuery } from '../../kit/values/page.ts';
import type { CostRow } from './costs.ts';

const KINDS = ['cogs_percent', 'fixed', 'per_order', 'per_item'] as const;
export type CostKind = (typeof KINDS)[number];

const scope = z
  .enum(['brand', 'campaign', 'product'])
  .describe(
    "What the cost applies to. For its orders, a cost of a campaign replaces the brand's costs of the same kind, except `fixed` ones.",
  )
  .meta({ example: 'brand' });
const kind = z
  .enum(KINDS)
  .describe(
    '`cogs_percent`: goods, in percent of revenue. `per_order`: for each order, such as packing. `fixed`: once, spread ' +
      'evenly over its days, such as an agency. `per_item`: for each item of a product that is sold or sent to a creator; ' +
      'for sold items it replaces `cogs_percent`.',
  )
  .meta({ example: 'cogs_percent' });
const amount = z
  .number()
  .min(0)
  .describe('Percent for `cogs_percent`, otherwise an amount in major units of `currency`.')
  .meta({ example: 35 });
const campaignId = z.string().max(100).nullable().meta({ example: null });
const sku = z.string().trim().min(1).max(100).nullable().meta({ example: null });
const day = z.iso.date().nullable();
const from = day
  .describe('First UTC day of the cost; null if it has no start. `fixed` requires it.')
  .meta({ example: '2026-03-01' });
const to = day
  .describe('Last UTC day of the cost; null if it has no end. A `fixed` cost without it counts on its first day.')
  .meta({ example: null });
const note = z
  .string()
  .trim()
  .max(2_000)
  .nullable()
  .describe('Text about the cost; null for none.')
  .meta({ example: 'Average of 2026' });

const campaignText = 'The campaign that has the cost; null unless `scope` is `campaign`.';
const skuText = 'SKU of the product, as in shipments; null unless `scope` is `product`.';
const currencyText = 'ISO 4217 code of `amount`; null for a percentage.';

export const Cost = z
  .object({
    id: idField('cst', 'Cost id.'),
    scope,
    campaign_id: campaignId.describe(campaignText),
    sku: sku.describe(skuText),
    kind,
    amount,
    currency: z.string().nullable().describe(currencyText).meta({ example: null }),
    ...{ from, to, note, created_at: createdAt, updated_at: updatedAt },
  })
  .meta({ id: 'Cost' });

export const CostCreate = z
  .object({
    scope: scope.default('brand'),
    campaign_id: campaignId.default(null).describe(campaignText),
    sku: sku.default(null).describe(skuText),
    kind,
    amount,
    currency: Currency.nullable()
      .optional()
      .describe("ISO 4217 code of `amount`; the brand's currency by default. Not for a percentage.")
      .meta({ example: null }),
    from: from.default(null),
    to: to.default(null),
    note: note.default(null),
  })
  .meta({ id: 'CostCreate' });
export type CostCreate = z.output<typeof CostCreate>;

export const CostPatch = z
  .object({ amount: amount.optional(), from: from.optional(), to: to.optional(), note: note.optional() })
  .meta({ id: 'CostPatch' });
export type CostPatch = z.output<typeof CostPatch>;

export const CostFilter = z.object({
  ...ListQuery,
  kind: z.enum(KINDS).optional().describe('Only costs of this kind.'),
  campaign_id: z.string().max(100).optional().describe('Only costs of this campaign.'),
});
export type CostFilter = z.output<typeof CostFilter>;

/** What was entered for a row: percent, or major units. */
export const amountOf = ({ ratePpm, amountMinor, currency }: Pick<CostRow, 'ratePpm' | 'amountMinor' | 'currency'>) =>
  currency === null ? fromPpm(ratePpm ?? 0) : fromMinor(amountMinor ?? 0, currency);

export const costOf = (row: CostRow): z.input<typeof Cost> => ({
  ...{ id: row.id, scope: row.scope, campaign_id: row.campaignId, sku: row.sku, kind: row.kind },
  ...{ amount: amountOf(row), currency: row.currency, from: row.fromDay, to: row.toDay, note: row.note },
  ...{ created_at: row.createdAt.toISOString(), updated_at: row.updatedAt?.toISOString() ?? null },
});
