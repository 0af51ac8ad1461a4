import { z } from 'zod';
import type { Caller } from '../../access/keys/queries.ts';
import { refuseClassOrPlan } from '../../access/keys/rules.ts';
import type { Context } from '../../operation/context.ts';
import { read } from '../../operation/kit.ts';
import { answersWhere, type ListCall } from '../../operation/list.ts';
import { findOperation } from '../../operation/noun.ts';
import { change, nothing } from '../../operation/operation.ts';
import { doesAsPlanned, type Outcome } from '../../operation/plans/compare.ts';
import { plannedChange } from '../../operation/plans/diff.ts';
import { type PlanRow, planOf } from '../../operation/plans/queries.ts';
import { Plan, PlannedChange } from '../../operation/plans/schema.ts';
import type { AuditEntry, Work } from '../../operation/work.ts';
import { ApiError } from '../../values/errors.ts';
import { ListQuery, listOf } from '../../values/page.ts';
import { getPlan, plans, takePlan } from './queries.ts';

const tag = 'Agents';
const byId = z.object({ id: z.string().max(100) });

const PlanFilter = z.object({ status: z.enum(['open', 'applied', 'expired']).optional(), ...ListQuery });

const listPlansOperation = read({
  id: 'list_plans',
  path: '/v1/plans',
  tag,
  summary: 'Changes that wait for a person',
  description: 'What was asked for with `mode=plan`, newest first. A plan can be applied for a day.',
  query: PlanFilter,
  response: listOf(Plan),
  ...answersWhere(
    plans,
    ({ clock }, { query }: ListCall<z.output<typeof PlanFilter>>) => ({ ...query, now: clock.now() }),
    Plan,
    (row, { clock }) => planOf(row, clock.now()),
  ),
});

const getPlanOperation = read({
  id: 'get_plan',
  path: '/v1/plans/{id}',
  tag,
  summary: 'One plan',
  description: 'What it would change, as old and new values.',
  response: z.object({ data: Plan }),
  errors: ['NOT_FOUND'],
  handler: async ({ postgres, clock }, { caller, params }) => ({
    data: planOf(await getPlan(postgres.db, caller.brandId, params.id), clock.now()),
  }),
});

const Sent = z.object({
  params: z.record(z.string(), z.string()),
  query: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  body: z.unknown().optional(),
});

/** What the plan's own operation is to run: looked up anew, for a day may have passed. */
async function beginPlanned(context: Context, caller: Caller, plan: PlanRow) {
  const planned = findOperation(plan.operation);
  if (!planned) throw new ApiError('CONFLICT', `${plan.operation} is no operation any more; plan it again.`);
  const refusal = refuseClassOrPlan(caller, planned);
  if (refusal) throw refusal;
  const { params, query, body } = Sent.parse(JSON.parse(context.secrets.open(plan.request, plan.id)));
  const begun = await planned
    .prepare({ params, query, body, answer: 'json' })
    .begin?.(context, caller, () => undefined);
  if (!begun) throw new ApiError('CONFLICT', `${plan.operation} cannot be applied from a plan.`);
  return begun;
}

/** Refuses, and so takes back, what is not what the plan showed; the refusal says what it would be now. */
function assertAsPlanned({ createdAt, changes, events }: PlanRow, done: Outcome): void {
  if (doesAsPlanned({ at: createdAt, changes, events }, done)) return;
  const message = 'This plan would now do something else than it showed, so nothing was done; plan it again.';
  throw new ApiError('PLAN_OUTDATED', message, { facts: { changes: done.changes, events: done.events } });
}

function alreadyOver(plan: PlanRow, now: Date): ApiError {
  const { status } = planOf(plan, now);
  return new ApiError('INVALID_STATE_TRANSITION', `This plan is ${status}; only an open one can be applied.`, {
    facts: { current_status: status, allowed: ['open'] },
  });
}

async function applyPlan(
  work: Work,
  { id, keyId }: { id: string; keyId: string },
  begun: (work: Work) => Promise<Buffer>,
): Promise<{ plan: PlanRow; answer: unknown }> {
  const plan = await takePlan(work.db, work.brandId, { id, now: work.now, keyId });
  if (!plan) throw alreadyOver(await getPlan(work.db, work.brandId, id), work.now);
  const entries: AuditEntry[] = [];
  const events: string[] = [];
  const watched: Work = {
    ...work,
    audit: (entry) => {
      entries.push(entry);
      work.audit(entry);
    },
    emit: (event, data) => {
      events.push(event);
      work.emit(event, data);
    },
  };
  const answer: unknown = JSON.parse((await begun(watched)).toString());
  const changes = z.array(PlannedChange).parse(JSON.parse(JSON.stringify(entries.map(plannedChange))));
  assertAsPlanned(plan, { at: work.now, changes, events });
  return { plan, answer };
}

const applyPlanOperation = change({
  id: 'apply_plan',
  method: 'POST',
  path: '/v1/plans/{id}/apply',
  tag,
  summary: 'Apply a plan',
  description:
    'Makes the change that was planned; `answer` is what that operation answers. By people and by REST, never by an ' +
    'agent. 409 PLAN_OUTDATED when it would now do anything else than the plan shows: `changes` and `events` of the ' +
    'refusal say what, and nothing is changed.',
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: nothing,
  response: z
    .object({
      data: Plan,
      answer: z.record(z.string(), z.unknown()).describe('What the planned operation answers.'),
    })
    .meta({ id: 'PlanApplied' }),
  errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION', 'PLAN_OUTDATED', 'CONFLICT'],
  hints: { readOnly: false, idempotent: false, destructive: false },
  forAgents: false,
  sealsAnswer: true,
  lookUp: async (context, { caller, params }) => {
    const plan = await getPlan(context.postgres.db, caller.brandId, params.id);
    const now = context.clock.now();
    if (planOf(plan, now).status !== 'open') throw alreadyOver(plan, now);
    return await beginPlanned(context, caller, plan);
  },
  apply: async (work, { caller, params }, begun) => {
    const { plan, answer } = await applyPlan(work, { id: params.id, keyId: caller.keyId }, begun);
    return { data: planOf(plan, work.now), answer: z.record(z.string(), z.unknown()).parse(answer) };
  },
});

export const planOperations = [listPlansOperation, getPlanOperation, applyPlanOperation] as const;
