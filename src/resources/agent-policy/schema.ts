import { z } from 'zod';
import { fromMinor, fromPpm, toPpm } from '../../values/money.ts';
import { timestamp } from '../../values/page.ts';
import type { PolicyRow } from './queries.ts';

const rate = z
  .number()
  .min(0)
  .max(100)
  .refine((percent) => toPpm(percent) !== undefined, 'must have at most 4 decimals');
const sum = z.number().min(0).max(1_000_000_000);

const fields = {
  allowed_tools: z
    .array(z.string().min(1).max(100))
    .max(500)
    .nullable()
    .describe('The tools that agents may call, by operation id; null: all.')
    .meta({ example: ['search_creators', 'create_campaign'] }),
  highest_rate: rate
    .nullable()
    .describe('The highest commission rate that agents may set, in percent; null: any.')
    .meta({ example: 20 }),
  payouts_per_day: sum
    .nullable()
    .describe("What may be paid out in one day (UTC) when an agent pays, in the brand's currency; null: any sum.")
    .meta({ example: 500 }),
  person_above: sum
    .nullable()
    .describe(
      "A payout above this needs a person, to make it and to settle it: an agent may plan it; in the brand's currency. " +
        'Null: none does.',
    )
    .meta({ example: 100 }),
  data_out: z
    .boolean()
    .describe(
      'Whether agents may send data out by themselves: webhooks, the addresses of the brand, messages with a link. Off ' +
        'until it is set: they may plan it, and a person applies it.',
    )
    .meta({ example: false }),
  money_out: z.boolean().describe('Whether agents may pay at all. Off until it is set.').meta({ example: true }),
};

export const AgentPolicy = z
  .object({ ...fields, currency: z.string(), updated_at: timestamp.nullable() })
  .meta({ id: 'AgentPolicy' });

export const AgentPolicyPatch = z.object(fields).partial().meta({ id: 'AgentPolicyPatch' });
export type AgentPolicyPatch = z.output<typeof AgentPolicyPatch>;

export function policyOf(
  { highestRatePpm, payoutsPerDayMinor, personAboveMinor, ...row }: PolicyRow,
  currency: string,
) {
  const major = (minor: number | null) => (minor === null ? null : fromMinor(minor, currency));
  return {
    allowed_tools: row.allowedTools,
    highest_rate: highestRatePpm === null ? null : fromPpm(highestRatePpm),
    payouts_per_day: major(payoutsPerDayMinor),
    person_above: major(personAboveMinor),
    money_out: row.moneyOut,
    data_out: row.dataOut,
    currency,
    updated_at: row.updatedAt?.toISOString() ?? null,
  };
}
