import type { Insertable, Selectable } from 'kysely';
import { z } from 'zod';
import type { Caller } from '../access/keys/callers.ts';
import type { PlansTable } from '../engines/postgres/database.ts';
import type { Db } from '../engines/postgres/open.ts';
import { DAY_MS } from '../values/duration.ts';
import { validationError } from '../values/errors.ts';
import { createdAt, idField } from '../values/fields.ts';
import { isMadeAt, newId } from '../values/ids.ts';
import { timestamp } from '../values/page.ts';
import { isRecord, snakeCase, toWire } from '../values/wire.ts';
import type { Context } from './context.ts';
import type { RawInput } from './input.ts';
import { findOperation } from './noun.ts';
import type { Circumstances } from './operation.ts';
import { listCurrencies, summarizePlan, toApiChange } from './plan-text.ts';
import { type AuditEntry, rehearse, shownRow, type Work } from './work.ts';

const fields = z.record(z.string(), z.unknown());

export const PlannedChange = z
  .object({
    resource_id: z
      .string()
      .describe('Id of the record that would change.')
      .meta({ example: 'cmp_0Uo3xK2mVdT2aXs7LpRb' }),
    old: fields
      .nullable()
      .describe('Fields that would change, with their current values; null for a record that would be created.')
      .meta({ example: { status: 'draft' } }),
    new: fields
      .nullable()
      .describe('Fields that would change, with their new values; null for a record that would be deleted.')
      .meta({ example: { status: 'active' } }),
    generated: z
      .array(z.string())
      .default([])
      .describe('Fields of `new` whose values are generated again when the plan is applied.')
      .meta({ example: [] }),
  })
  .meta({ id: 'PlannedChange' });
/** A row that a plan would change, with the fields that would change. */
export type PlannedChange = z.input<typeof PlannedChange>;

export const Plan = z
  .object({
    id: idField('pln', 'Plan id.'),
    operation: z.string().describe('Id of the planned operation.').meta({ example: 'update_campaign' }),
    status: z
      .enum(['open', 'applied', 'expired'])
      .describe('Plan status. `open` plans can be applied; they expire after 24 hours.'),
    changes: z
      .array(PlannedChange)
      .describe(
        'Records that would change. Applying the plan makes exactly these changes; only ids of new records and times ' +
          'relative to the change are generated again.',
      ),
    events: z.array(z.string()).describe('Names of the events that would be sent.').meta({ example: [] }),
    by_agent: z.boolean().describe('Whether an agent requested the plan.'),
    key_id: z
      .string()
      .nullable()
      .describe('API key or session that requested the plan.')
      .meta({ example: 'key_0Uo3xK2mVdT2aXs7LpRb' }),
    created_at: createdAt,
    expires_at: timestamp.describe('When the plan expires, 24 hours after it was created.'),
    applied_at: timestamp
      .nullable()
      .describe('When a person applied the plan; null until then.')
      .meta({ example: null }),
    summary: z
      .string()
      .describe('What would change, in a sentence.')
      .meta({ example: 'Change the brand: default_commission_rate 10 → 12.' }),
  })
  .meta({ id: 'Plan' });

/** The response of a change that is only planned. */
export const Planned = z
  .object({
    plan_id: idField('pln', 'Id of the plan, for `POST /v1/plans/{id}/apply`.'),
    summary: Plan.shape.summary,
    data: Plan,
  })
  .meta({ id: 'Planned' });

declare module '../engines/postgres/columns.ts' {
  interface ColumnShapes {
    'plans.changes': PlannedChange[];
  }
}

export type PlanRow = Selectable<PlansTable>;

async function insertPlan(db: Db, plan: Insertable<PlansTable>): Promise<PlanRow> {
  return await db.insertInto('plans').values(plan).returningAll().executeTakeFirstOrThrow();
}

export function toPlan(row: PlanRow, now: Date) {
  const isOver = row.expiresAt <= now;
  const status: 'open' | 'applied' | 'expired' = row.appliedAt ? 'applied' : isOver ? 'expired' : 'open';
  const changes = row.changes.map(toApiChange);
  const summary = summarizePlan(findOperation(row.operation)?.summary ?? row.operation, changes);
  return { ...toWire(row), changes, summary, status };
}

type Fields = Record<string, unknown>;

/** The fields of a change that differ, and those of `context`. Created and removed rows are shown completely. */
export function changedFields(
  old: Fields | null,
  now: Fields | null,
  context: readonly string[] = [],
): { old: Fields | null; new: Fields | null } {
  if (!old || !now) return { old, new: now };
  const changedNames = Object.keys({ ...old, ...now }).filter(
    (name) => context.includes(name) || JSON.stringify(old[name]) !== JSON.stringify(now[name]),
  );
  const pick = (values: Fields) => Object.fromEntries(changedNames.map((name) => [name, values[name] ?? null]));
  return { old: pick(old), new: pick(now) };
}

/** A row for display: sealed fields and other bytes show only "changed". */
const toWireFields = (row: object | null, old: object | null): Fields | null =>
  row && { ...toWire(shownRow(row, old)) };

export function plannedChange({ resourceId, old, new: row, generated = [], context = [] }: AuditEntry): PlannedChange {
  const shownNames = [...context, ...listCurrencies(row)].map(snakeCase);
  const fields = changedFields(toWireFields(old, old), toWireFields(row, old), shownNames);
  const names = generated.map(snakeCase).filter((name) => fields.new !== null && name in fields.new);
  return { resource_id: resourceId, ...fields, generated: names };
}

/** The effects of a change on the brand's rows, and when it began. */
export interface Outcome {
  at: Date;
  changes: readonly PlannedChange[];
  events: readonly string[];
}

/** Maps the ids of rows created by the plan to those created when it is applied. */
function findTwins(planned: Outcome, outcome: Outcome): Map<string, string> {
  const twins = new Map<string, string>();
  for (const [i, { resource_id: shown, old }] of planned.changes.entries()) {
    const now = outcome.changes[i];
    if (old !== null || now === undefined || now.old !== null) continue;
    if (isMadeAt(shown, planned.at) && isMadeAt(now.resource_id, outcome.at)) twins.set(shown, now.resource_id);
  }
  return twins;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const sinceStart = (text: string, { at }: Outcome) =>
  TIME.test(text) ? new Date(text).getTime() - at.getTime() : undefined;

/**
 * True if a change does what its plan showed. Only three things may differ: ids of created rows, times relative to the
 * start of the change, and fields declared as generated.
 */
export function matchesPlan(planned: Outcome, outcome: Outcome): boolean {
  const twins = findTwins(planned, outcome);

  function isSameText(shown: string, now: string): boolean {
    const twin = twins.get(shown);
    if (twin !== undefined) return twin === now;
    if (shown === now) return true;
    const elapsed = sinceStart(shown, planned);
    return elapsed !== undefined && elapsed === sinceStart(now, outcome);
  }

  function isSame(shown: unknown, now: unknown, generated: readonly string[] = []): boolean {
    if (typeof shown === 'string' && typeof now === 'string') return isSameText(shown, now);
    if (Array.isArray(shown) && Array.isArray(now)) {
      return shown.length === now.length && shown.every((one, i) => isSame(one, now[i]));
    }
    if (!isRecord(shown) || !isRecord(now)) return shown === now;
    const names = Object.keys(shown);
    return (
      names.length === Object.keys(now).length &&
      names.every((name) => name in now && (generated.includes(name) || isSame(shown[name], now[name])))
    );
  }

  const isSameChange = (shown: PlannedChange, now: PlannedChange | undefined) =>
    now !== undefined &&
    isSameText(shown.resource_id, now.resource_id) &&
    isSame(shown.generated ?? [], now.generated) &&
    isSame(shown.old, now.old, now.generated) &&
    isSame(shown.new, now.new, now.generated);

  return (
    isSame(planned.events, outcome.events) &&
    planned.changes.length === outcome.changes.length &&
    planned.changes.every((shown, i) => isSameChange(shown, outcome.changes[i]))
  );
}

const MODES = ['apply', 'plan'] as const;

/** Reads `mode=plan` from the query, where logs show it and no body needs an extra field. */
export function takeMode(input: RawInput): { mode: (typeof MODES)[number]; raw: RawInput } {
  const { mode: requested = 'apply', ...query } = input.query;
  const mode = MODES.find((one) => one === requested);
  if (mode) return { mode, raw: { ...input, query } };
  throw validationError([{ field: 'mode', code: 'invalid_value', message: `must be one of ${MODES.join(', ')}.` }]);
}

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
  const data = toPlan(row, at);
  return Buffer.from(JSON.stringify(Planned.parse({ plan_id: id, summary: data.summary, data })));
}
