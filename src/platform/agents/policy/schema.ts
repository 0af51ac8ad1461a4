import { z } from 'zod';
import { currencyField, updatedAt } from '../../../kit/values/fields.ts';
import { fromMinor, fromPpm, toPpm } from '../../../kit/values/money.ts';
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
    .describe('Operation ids of the tools that agents may call. Null allows every tool.')
    .meta({ example: ['search_creators', 'create_campaign'] }),
  highest_rate: rate
    .nullable()
    .describe('Highest commission rate that an agent may set, in percent. Null means no limit.')
    .meta({ example: 20 }),
  payouts_per_day: sum
    .nullable()
    .describe(
      "Most that agents may pay out in one UTC day, in major units of the brand's currency. Null means no limit.",
    )
    .meta({ example: 500 }),
  person_above: sum
    .nullable()
    .describe(
      "Payouts above this amount, in major units of the brand's currency, are created and settled by a person; an agent " +
        'may only plan them. Null means no limit.',
    )
    .meta({ example: 100 }),
  data_out: z
    .boolean()
    .describe(
      'Whether agents may send data out without a person: create webhooks, change the address fields of the brand, send ' +
        'messages with a link. While false, the default, agents may only plan such calls.',
    )
    .meta({ example: false }),
  money_out: z.boolean().describe('Whether agents may pay at all. False by default.').meta({ example: true }),
};

export const AgentPolicy = z
  .object({ ...fields, currency: currencyField, updated_at: updatedAt })
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
