import type { Caller } from '../../access/keys/queries.ts';
import { DAY_MS } from '../../values/duration.ts';
import { newId } from '../../values/ids.ts';
import type { Context } from '../context.ts';
import type { RawInput } from '../input.ts';
import type { Circumstances } from '../operation.ts';
import { rehearse, type Work } from '../work.ts';
import { plannedChange } from './diff.ts';
import { insertPlan, toPlan } from './queries.ts';
import { Planned } from './schema.ts';

export interface PlanRequest {
  caller: Pick<Caller, 'brandId'> & { keyId: string | null };
  circumstances: Pick<Circumstances, 'byAgent' | 'guard'> & { requestId: string | null };
  operation: string;
  raw: RawInput;
}

/** Runs the change, rolls it back, and stores its effects as a plan that a person can apply. */
export async function makePlan(
  { postgres, clock, secrets }: Context,
  { caller, circumstances, operation, raw }: PlanRequest,
  change: (work: Work) => Promise<Buffer>,
): Promise<Buffer> {
  const { brandId, keyId } = caller;
  const byAgent = circumstances.byAgent ?? false;
  const actor = { brandId, keyId, operation, requestId: circumstances.requestId, byAgent };
  const { at, entries, events } = await rehearse(postgres.db, clock, actor, async (work) => {
    const { guard } = circumstances;
    await (guard ? guard(work, change) : change(work));
  });
  const id = newId('pln', at.getTime());
  const row = await insertPlan(postgres.db, {
    id,
    brandId,
    keyId,
    byAgent,
    operation,
    events,
    request: secrets.seal(JSON.stringify(raw), id),
    changes: JSON.stringify(entries.map(plannedChange)),
    createdAt: at,
    expiresAt: new Date(at.getTime() + DAY_MS),
    appliedAt: null,
    appliedBy: null,
  });
  return Buffer.from(JSON.stringify(Planned.parse({ plan_id: id, data: toPlan(row, at) })));
}
