import { z } from 'zod';
import { creatorEmail, currencyField, idField } from '../../kit/values/fields.ts';
import { throughInput, timestamp, timestampInput, timeZoneInput } from '../../kit/values/page.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { Job } from '../../platform/jobs/jobs.api.ts';
import { TermsInput } from '../../workflow/terms/terms.shapes.ts';
import { Rate } from '../links/links.shapes.ts';
import { couponPolicy, minOrder, model } from '../rules/attribution-rules.ts';
import { Attribution } from './attribution.shapes.ts';
import { orderNumber } from './order-names.ts';
import { Explanation } from './orders.shapes.ts';

export const MOST_CHANGED = 100;

const days = (least: number) => z.number().int().min(least).max(90);

const placeId = z.string().max(100).optional();
const Of = z
  .object({
    link_id: placeId.describe('This code or link.').meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' }),
    group_id: placeId
      .describe('Codes and links of creators in this group that have no terms of their own.')
      .meta({ example: 'grp_0Uo3xK2mVdT2aXs7LpRb' }),
    campaign_id: placeId
      .describe('Codes and links of this campaign that take no terms from nearer places.')
      .meta({ example: 'cmp_0Uo3xK2mVdT2aXs7LpRb' }),
  })
  .describe('Where `rules.terms` would stand: one of these; the brand when omitted.')
  .meta({ example: { group_id: 'grp_0Uo3xK2mVdT2aXs7LpRb' } });
/** Rules that try terms. */
const Tried = z.looseObject({
  terms: z.unknown().refine((terms) => terms !== undefined),
  rate: z.unknown().optional(),
});

export const SimulationRequest = z
  .object({
    from: timestampInput
      .optional()
      .describe('Only orders placed at or after this time; a date means its start. By default 30 days before `to`.')
      .meta({ example: '2026-02-01' }),
    to: throughInput
      .optional()
      .describe('Only orders placed at or before this time; a date includes the whole day. By default now.')
      .meta({ example: '2026-02-28' }),
    time_zone: timeZoneInput,
    rules: z
      .object({
        attribution_days: days(1)
          .nullable()
          .optional()
          .describe('Attribution window of every link; null: the window that each order was decided by.')
          .meta({ example: 7 }),
        hold_days: days(0)
          .nullable()
          .optional()
          .describe('Review period of every commission; null: its own.')
          .meta({ example: 14 }),
        model: model.nullable().optional().describe('Which of several clicks earns an order; null: as it was decided.'),
        coupon_policy: couponPolicy
          .nullable()
          .optional()
          .describe('Whether a code or a click earns an order that came with both; null: as it was decided.'),
        rate: Rate.nullable()
          .optional()
          .describe('Commission rate of every code and link in percent, with at most 4 decimals; null: its own.')
          .meta({ example: 12.5 }),
        min_order: minOrder
          .optional()
          .describe(
            "Smallest order that pays, in major units of the brand's currency; 0 for none, null: as each order was decided.",
          )
          .meta({ example: 25 }),
        terms: TermsInput.optional().describe(
          'Terms to try on the codes and links that `of` would decide by them; not beside `rate`. Who earns an order stays as ' +
            'the other rules say. Caps and budgets begin with the period.',
        ),
      })
      .describe('The rules to try. Those that are omitted stay as each order was decided.')
      .meta({ example: { attribution_days: 7, rate: 12.5 } }),
    of: Of.optional(),
  })
  .superRefine(({ rules, of }: Unchecked<'rules' | 'of'>, context) => {
    const { data: tried } = Tried.safeParse(rules);
    const complain = (path: string[], message: string) =>
      context.addIssue({ code: 'custom', path, params: { code: 'conflict' }, message });
    if (tried && (tried.rate ?? null) !== null)
      complain(['rules', 'rate'], 'cannot stand beside `terms`, which say it');
    if (of !== undefined && !tried) complain(['of'], 'needs `rules.terms`');
    const [, second] = Object.keys(Of.safeParse(of).data ?? {});
    if (second !== undefined) complain(['of', second], 'give only one place');
  }, besideOthers)
  .meta({ id: 'SimulationRequest' });
export type SimulationRequest = z.output<typeof SimulationRequest>;

const count = z.number().int().min(0);
const minor = z.number().int();

const figures = {
  currency: currencyField.describe('Currency of the orders counted here. Nothing is converted.'),
  orders_now: count.describe('Paid orders that a code or link earned.').meta({ example: 120 }),
  orders_simulated: count.describe('Paid orders that a code or link would have earned.').meta({ example: 104 }),
  commission_now_minor: minor
    .describe('What these orders owe creators, in minor units: 0 if rejected, minus what refunds took back.')
    .meta({ example: 154_000 }),
  commission_simulated_minor: minor
    .describe('What they would owe, in minor units. Your reviews count where the same creator would have won.')
    .meta({ example: 131_500 }),
  in_review_now_minor: minor
    .describe('Part of `commission_now_minor` whose review period has not ended yet.')
    .meta({ example: 40_000 }),
  in_review_simulated_minor: minor
    .describe('Part of `commission_simulated_minor` whose review period would not have ended yet.')
    .meta({ example: 12_500 }),
};

const creatorId = idField('crt', 'Creator who earns, or would earn, these orders.');
const name = fromOutside(z.string().nullable().describe('What the creator is called.').meta({ example: 'Ana Ortiz' }));

const SimulatedTotals = z.object(figures).meta({ id: 'SimulatedTotals' });
const SimulatedCreator = z
  .object({ creator_id: creatorId, creator_email: creatorEmail, creator_name: name, ...figures })
  .meta({ id: 'SimulatedCreator' });

const Side = z
  .object({
    link_id: z.string().describe('Code or link that earns it.').meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' }),
    creator_email: creatorEmail,
    rule: Attribution.shape.rule,
    commission_rate: z.number().describe('Percent that its creator earns.').meta({ example: 10 }),
    commission_minor: minor.describe('What the order owes this creator, in minor units.').meta({ example: 1_250 }),
  })
  .nullable();

const ChangedOrder = z
  .object({
    id: Explanation.shape.id,
    order_id: Explanation.shape.order_id,
    integration_id: Explanation.shape.integration_id,
    occurred_at: Explanation.shape.occurred_at,
    currency: currencyField.describe("The order's currency."),
    amount_minor: minor.describe('What the customer paid for goods, in minor units.').meta({ example: 12_500 }),
    now: Side.describe('Who earns the order; null for nobody.'),
    simulated: Side.describe('Who would have earned it; null for nobody.'),
    reason: fromOutside(
      z
        .string()
        .describe('Why the rules change it, in sentences.')
        .meta({ example: 'LINK ana-shop: The order was placed after its attribution window had ended.' }),
    ),
    order_number: orderNumber,
  })
  .meta({ id: 'SimulatedOrder' });

export const Simulation = z.object({
  data: z.object({
    totals: z.array(SimulatedTotals).describe('Sums over all creators, one row per currency.'),
    creators: z
      .array(SimulatedCreator)
      .describe('A row for each creator and currency, those whose commission changes most first.'),
    changed: z
      .array(ChangedOrder)
      .max(MOST_CHANGED)
      .describe('Orders that another creator would earn, or with another commission; at most 100, newest first.'),
  }),
  meta: z
    .object({
      period: z
        .object({
          from: timestamp.describe('Start of the simulated period.').meta({ example: '2026-02-01T00:00:00.000Z' }),
          to: timestamp.describe('End of the simulated period.').meta({ example: '2026-02-28T23:59:59.999Z' }),
        })
        .describe('When the orders were placed.'),
      orders: count.describe('Paid orders of the period, tests aside.').meta({ example: 310 }),
      changed: count
        .describe('Number of these orders that the rules change, including those that are not listed.')
        .meta({ example: 16 }),
      without_candidates: count
        .describe(
          'Number of these orders that came without a code or click. If a click led to one, the shop no longer knew it, so no rule can find it.',
        )
        .meta({ example: 172 }),
      without_lines: count
        .describe('Number of orders that the terms price by lines, and that nobody reported lines of.')
        .meta({ example: 0 }),
      without_categories: count
        .describe('Number of orders that the terms price by category or sale, and whose lines do not say them.')
        .meta({ example: 0 }),
    })
    .describe('What the simulation covers, and what it cannot know.'),
});
export type Simulation = z.input<typeof Simulation>;

/** Response if there are more orders than a call simulates. */
export const SimulationStarted = z.object({ data: Job }).meta({ id: 'SimulationStarted' });

/** Request that a simulation job stores. */
export const SimulationJob = z.object({
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  rules: SimulationRequest.shape.rules,
  of: SimulationRequest.shape.of,
  /** Currency of `min_order`: the brand's at the time of the request. */
  currency: z.string(),
  as_of: z.iso.datetime(),
});
export type SimulationJob = z.output<typeof SimulationJob>;

const { currency: _currency, ...sums } = figures;

/** Progress of a simulation and the sums so far. */
export const SimulationProgress = z.object({
  /** Last simulated order. */
  after: z.object({ occurredAt: z.coerce.date(), id: z.string() }).nullable(),
  sums: z.array(z.object({ creatorId: z.string(), currency: z.string(), ...sums })),
  changed: z.array(ChangedOrder),
  counts: z.object({
    orders: count,
    changed: count,
    without_candidates: count,
    without_lines: count.default(0),
    without_categories: count.default(0),
  }),
  /** Sums by shared limit of tried terms. */
  used: z.array(z.tuple([z.string(), minor])).default([]),
});
export type SimulationProgress = z.output<typeof SimulationProgress>;
