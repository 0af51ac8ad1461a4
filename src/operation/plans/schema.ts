import { z } from 'zod';
import { timestamp } from '../../values/page.ts';

const fields = z.record(z.string(), z.unknown());

export const PlannedChange = z
  .object({
    resource_id: z.string(),
    old: fields
      .nullable()
      .describe('The fields that would change, as they are; null for what would be made.')
      .meta({ example: { status: 'draft' } }),
    new: fields
      .nullable()
      .describe('The same fields as they would become; null for what would be removed.')
      .meta({ example: { status: 'active' } }),
    generated: z
      .array(z.string())
      .default([])
      .describe('Of `new`, the fields whose values are generated again when the plan is applied.')
      .meta({ example: [] }),
  })
  .meta({ id: 'PlannedChange' });

export const Plan = z
  .object({
    id: z.string().meta({ example: 'pln_0Uo3xK2mVdT2aXs7LpRb' }),
    operation: z.string().describe('The change, by its operation id.').meta({ example: 'update_campaign' }),
    status: z.enum(['open', 'applied', 'expired']),
    changes: z
      .array(PlannedChange)
      .describe(
        'Every row that would change. Applied, the plan does this and nothing else, but for ids of what is made and ' +
          'times that count from the change, which are made anew.',
      ),
    events: z.array(z.string()).describe('The events that would be sent.').meta({ example: [] }),
    by_agent: z.boolean().describe('Whether an agent planned it.'),
    key_id: z.string().nullable(),
    created_at: timestamp,
    expires_at: timestamp.describe('It can be applied until then: a day.'),
    applied_at: timestamp.nullable().describe('When a person applied it.').meta({ example: null }),
  })
  .meta({ id: 'Plan' });

/** What a change answers that is only planned. */
export const Planned = z
  .object({ plan_id: z.string().meta({ example: 'pln_0Uo3xK2mVdT2aXs7LpRb' }), data: Plan })
  .meta({ id: 'Planned' });
