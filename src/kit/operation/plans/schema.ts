import { z } from 'zod';
import { createdAt, idField } from '../../values/fields.ts';
import { timestamp } from '../../values/page.ts';

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
  })
  .meta({ id: 'Plan' });

/** The response of a change that is only planned. */
export const Planned = z
  .object({ plan_id: idField('pln', 'Id of the plan, for `POST /v1/plans/{id}/apply`.'), data: Plan })
  .meta({ id: 'Planned' });
