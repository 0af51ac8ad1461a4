import { z } from 'zod';
import { get, patch } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { validationError } from '../../kit/values/errors.ts';
import { currencyField, updatedAt } from '../../kit/values/fields.ts';
import { fromPpm, toMinor, toPpm } from '../../kit/values/money.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { getBrandCurrency } from '../brands/brands.ts';
import { getPolicy, lockPolicy, type PolicyRow, updatePolicy } from './agent-policy.ts';

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

const AgentPolicy = z.object({ ...fields, currency: currencyField, updated_at: updatedAt }).meta({ id: 'AgentPolicy' });

const AgentPolicyPatch = z.object(fields).partial().meta({ id: 'AgentPolicyPatch' });
export type AgentPolicyPatch = z.output<typeof AgentPolicyPatch>;

function toAgentPolicy({ highestRatePpm, payoutsPerDayMinor, personAboveMinor, ...row }: PolicyRow, currency: string) {
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

const tag = 'Agents';

/** Converts an amount to minor units of the brand's currency. Throws VALIDATION_ERROR if it has too many decimals. */
function parseMinor(field: string, amount: number | null | undefined, currency: string): number | null | undefined {
  if (amount === null || amount === undefined) return amount;
  const minor = toMinor(amount, currency);
  if (minor !== undefined) return minor;
  throw validationError([
    { field: `body.${field}`, code: 'invalid', message: `has too many decimals for ${currency}.` },
  ]);
}

const agentPolicyOperations = [
  get({
    id: 'get_agent_policy',
    path: '/v1/agent-policy',
    tag,
    summary: 'Get the agent policy',
    description: 'Applies to every MCP call. A refused call gets 403 POLICY_REFUSED, which names the rule.',
    forAgents: {
      description:
        'Which tools agents may call, and what they may pay, promise and send. A refused call gets POLICY_REFUSED, which names the rule.',
    },
    item: AgentPolicy,
    find: async ({ postgres }, { caller: { brandId } }) =>
      toAgentPolicy(await getPolicy(postgres.db, brandId), await getBrandCurrency(postgres.db, brandId)),
  }),
  patch({
    id: 'update_agent_policy',
    path: '/v1/agent-policy',
    tag,
    summary: 'Change the agent policy',
    description:
      'Only the fields that you send change; null clears one. Applies to calls that start after the response. Agents cannot call this.',
    body: AgentPolicyPatch,
    item: AgentPolicy,
    forAgents: false,
    apply: async ({ db, brandId, now, audit }, { body }) => {
      const currency = await getBrandCurrency(db, brandId);
      const old = await lockPolicy(db, brandId);
      const row = await updatePolicy(db, brandId, {
        ...omitUndefined({
          allowedTools: body.allowed_tools,
          highestRatePpm: typeof body.highest_rate === 'number' ? toPpm(body.highest_rate) : body.highest_rate,
          payoutsPerDayMinor: parseMinor('payouts_per_day', body.payouts_per_day, currency),
          personAboveMinor: parseMinor('person_above', body.person_above, currency),
          moneyOut: body.money_out,
          dataOut: body.data_out,
        }),
        updatedAt: now,
      });
      audit({ resourceId: brandId, old, new: row });
      return toAgentPolicy(row, currency);
    },
  }),
] as const;

export const agentPolicy = noun({
  name: 'agent-policy',
  tag: {
    name: 'Agents',
    about: 'What agents may do at `/mcp`, and the plans that a person applies.',
  },
  operations: agentPolicyOperations,
});
