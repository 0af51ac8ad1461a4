import { sql } from 'kysely';
import { z } from 'zod';
import type { Caller } from '../../kit/access/keys/callers.ts';
import { refuseClassOrPlan } from '../../kit/access/keys/identify.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { get, read, write } from '../../kit/operation/kit.ts';
import { answersWhere, type ListCall } from '../../kit/operation/list.ts';
import { findOperation, noun } from '../../kit/operation/noun.ts';
import { toApiChange } from '../../kit/operation/plan-text.ts';
import {
  matchesPlan,
  type Outcome,
  Plan,
  PlannedChange,
  type PlanRow,
  plannedChange,
  toPlan,
} from '../../kit/operation/plans.ts';
import type { AuditEntry, Work } from '../../kit/operation/work.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { listSchema, WaitingListQuery } from '../../kit/values/page.ts';

const plans = listing({
  noun: 'plan',
  table: 'plans',
  time: 'createdAt',
  changed: ['createdAt', 'appliedAt'],
  matching: (db, _brandId, { status, now }: z.output<typeof PlanFilter> & { now: Date }) =>
    db
      .selectFrom('plans')
      .$if(status === 'applied', (query) => query.where('appliedAt', 'is not', null))
      .$if(status === 'open', (query) => query.where('appliedAt', 'is', null).where('expiresAt', '>', now))
      .$if(status === 'expired', (query) => query.where('appliedAt', 'is', null).where('expiresAt', '<=', now)),
  rows: (db) => db.selectFrom('plans').selectAll(),
  // Ids are in the order of creation, and break the ties.
  ranks: { waiting: { at: sql`(plans.applied_at is null)::int`, of: ({ appliedAt }) => Number(appliedAt === null) } },
});
const { get: getPlan } = plans;

/** Claims an open plan in this transaction; undefined if it was applied or has expired. */
async function claimPlan(
  db: Db,
  brandId: string,
  { id, now, keyId }: { id: string; now: Date; keyId: string },
): Promise<PlanRow | undefined> {
  return await db
    .updateTable('plans')
    .set({ appliedAt: now, appliedBy: keyId })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('appliedAt', 'is', null)
    .where('expiresAt', '>', now)
    .returningAll()
    .executeTakeFirst();
}

/** Plans are kept for a month. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;

async function deleteOldPlans(db: Db, now: Date): Promise<void> {
  await db
    .deleteFrom('plans')
    .where('expiresAt', '<', new Date(now.getTime() - KEPT_MS))
    .execute();
}

const tag = 'Agents';

const PlanFilter = z.object({
  status: Plan.shape.status.optional().describe('Only plans with this status.'),
  ...WaitingListQuery,
});

const StoredRequest = z.object({
  params: z.record(z.string(), z.string()),
  query: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  body: z.unknown().optional(),
});

/** Prepares the planned operation. Everything it needs is looked up again, because a day may have passed. */
async function prepareOperation(context: Context, caller: Caller, plan: PlanRow) {
  const operation = findOperation(plan.operation);
  if (!operation)
    throw new ApiError('CONFLICT', `The operation ${plan.operation} no longer exists; create a new plan.`);
  const refusal = refuseClassOrPlan(caller, operation);
  if (refusal) throw refusal;
  const { params, query, body } = StoredRequest.parse(JSON.parse(context.secrets.open(plan.request, plan.id)));
  const runOperation = await operation
    .prepare({ params, query, body, answer: 'json' })
    .begin?.(context, caller, () => undefined);
  if (!runOperation) throw new ApiError('CONFLICT', `${plan.operation} cannot be applied from a plan.`);
  return runOperation;
}

/** Throws, and so rolls back, if the outcome differs from the plan; the error carries the new outcome. */
function assertMatchesPlan({ createdAt, changes, events }: PlanRow, outcome: Outcome): void {
  if (matchesPlan({ at: createdAt, changes, events }, outcome)) return;
  const message = 'This plan would now do something different, so nothing was changed; create a new plan.';
  throw new ApiError('PLAN_OUTDATED', message, {
    facts: { changes: outcome.changes.map(toApiChange), events: outcome.events },
  });
}

/** A reading that was planned is another one now, which its plan does not show. */
function throwOutdated(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'READING_OUTDATED') throw error;
  const message =
    'The file is now read differently from what this plan shows, so nothing was changed; create a new plan.';
  throw new ApiError('PLAN_OUTDATED', message, { facts: { changes: [], events: [] } });
}

function createNotOpenError(plan: PlanRow, now: Date): ApiError {
  const { status } = toPlan(plan, now);
  return new ApiError('INVALID_STATE_TRANSITION', `This plan is ${status}; only open plans can be applied.`, {
    facts: { current_status: status, allowed: ['open'] },
  });
}

async function applyPlan(
  work: Work,
  { id, keyId }: { id: string; keyId: string },
  run: (work: Work) => Promise<Buffer>,
): Promise<{ plan: PlanRow; answer: unknown }> {
  const plan = await claimPlan(work.db, work.brandId, { id, now: work.now, keyId });
  if (!plan) throw createNotOpenError(await getPlan(work.db, work.brandId, id), work.now);
  const entries: AuditEntry[] = [];
  const events: string[] = [];
  const recordingWork: Work = {
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
  const answer: unknown = JSON.parse((await run(recordingWork).catch(throwOutdated)).toString());
  const changes = z.array(PlannedChange).parse(JSON.parse(JSON.stringify(entries.map(plannedChange))));
  assertMatchesPlan(plan, { at: work.now, changes, events });
  return { plan, answer };
}

const planOperations = [
  read({
    id: 'list_plans',
    path: '/v1/plans',
    tag,
    summary: 'List plans',
    description: 'Changes requested with `mode=plan`, newest first. A plan can be applied for 24 hours.',
    forAgents: { description: 'Changes planned with mode "plan", newest first. A person can apply one for 24 hours.' },
    query: PlanFilter,
    response: listSchema(Plan),
    ...answersWhere(
      plans,
      ({ clock }, { query }: ListCall<z.output<typeof PlanFilter>>) => ({ ...query, now: clock.now() }),
      Plan,
      (row, { clock }) => toPlan(row, clock.now()),
    ),
  }),
  get({
    id: 'get_plan',
    path: '/v1/plans/{id}',
    tag,
    summary: 'Get a plan',
    description: 'Shows the changes as old and new values.',
    item: Plan,
    find: async ({ postgres, clock }, { caller, params }) =>
      toPlan(await getPlan(postgres.db, caller.brandId, params.id), clock.now()),
  }),
  write({
    id: 'apply_plan',
    method: 'POST',
    path: '/v1/plans/{id}/apply',
    tag,
    summary: 'Apply a plan',
    description:
      'Makes the planned change; `answer` is the response of that operation. Only over REST, never by an agent. If the ' +
      'outcome would differ from the plan, the call gets 409 PLAN_OUTDATED with the new `changes` and `events`, and ' +
      'nothing is changed.',
    response: z
      .object({
        data: Plan,
        answer: z.record(z.string(), z.unknown()).describe('Response of the planned operation.'),
      })
      .meta({ id: 'PlanApplied' }),
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION', 'PLAN_OUTDATED', 'CONFLICT'],
    forAgents: false,
    sealsAnswer: true,
    lookUp: async (context, { caller, params }) => {
      const plan = await getPlan(context.postgres.db, caller.brandId, params.id);
      const now = context.clock.now();
      if (toPlan(plan, now).status !== 'open') throw createNotOpenError(plan, now);
      return await prepareOperation(context, caller, plan);
    },
    apply: async (work, { caller, params }, run) => {
      const { plan, answer } = await applyPlan(work, { id: params.id, keyId: caller.keyId }, run);
      return { data: toPlan(plan, work.now), answer: z.record(z.string(), z.unknown()).parse(answer) };
    },
  }),
] as const;

const forgetPlans: Job = {
  name: 'forget-plans',
  everyMs: 3_600_000,
  asksFor: 'plans that expired long ago',
  run: ({ postgres, clock }) => deleteOldPlans(postgres.db, clock.now()),
};

export const plansNoun = noun({
  name: 'plans',
  ids: { plans: 'pln' },
  operations: planOperations,
  jobs: [forgetPlans],
});
