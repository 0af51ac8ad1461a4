import { get, patch } from '../../../kit/operation/kit.ts';
import { validationError } from '../../../kit/values/errors.ts';
import { toMinor, toPpm } from '../../../kit/values/money.ts';
import { omitUndefined } from '../../../kit/values/patch.ts';
import { getBrandCurrency } from '../../brands/queries.ts';
import { getPolicy, lockPolicy, updatePolicy } from './queries.ts';
import { AgentPolicy, AgentPolicyPatch, policyOf } from './schema.ts';

const tag = 'Agents';

/** An amount in minor units of the brand's currency. */
function minorOf(field: string, amount: number | null | undefined, currency: string): number | null | undefined {
  if (amount === null || amount === undefined) return amount;
  const minor = toMinor(amount, currency);
  if (minor !== undefined) return minor;
  throw validationError([
    { field: `body.${field}`, code: 'invalid', message: `has too many decimals for ${currency}.` },
  ]);
}

function ratePpm(rate: number | null | undefined): number | null | undefined {
  return rate === null || rate === undefined ? rate : toPpm(rate);
}

export const agentPolicyOperations = [
  get({
    id: 'get_agent_policy',
    path: '/v1/agent-policy',
    tag,
    summary: 'What agents may do',
    description: 'Applies to every MCP call. A refused call gets 403 POLICY_REFUSED, which names the rule.',
    forAgents: {
      description:
        'Which tools agents may call, and what they may pay, promise and send. A refused call gets POLICY_REFUSED, which names the rule.',
    },
    item: AgentPolicy,
    find: async ({ postgres }, { caller: { brandId } }) =>
      policyOf(await getPolicy(postgres.db, brandId), await getBrandCurrency(postgres.db, brandId)),
  }),
  patch({
    id: 'update_agent_policy',
    path: '/v1/agent-policy',
    tag,
    summary: 'Change what agents may do',
    description:
      'Set changes, omit keeps, null clears. Applies to calls that start after the response. Agents cannot call this.',
    body: AgentPolicyPatch,
    item: AgentPolicy,
    forAgents: false,
    apply: async ({ db, brandId, now, audit }, { body }) => {
      const currency = await getBrandCurrency(db, brandId);
      const old = await lockPolicy(db, brandId);
      const row = await updatePolicy(db, brandId, {
        ...omitUndefined({
          allowedTools: body.allowed_tools,
          highestRatePpm: ratePpm(body.highest_rate),
          payoutsPerDayMinor: minorOf('payouts_per_day', body.payouts_per_day, currency),
          personAboveMinor: minorOf('person_above', body.person_above, currency),
          moneyOut: body.money_out,
          dataOut: body.data_out,
        }),
        updatedAt: now,
      });
      audit({ resourceId: brandId, old, new: row });
      return policyOf(row, currency);
    },
  }),
] as const;
