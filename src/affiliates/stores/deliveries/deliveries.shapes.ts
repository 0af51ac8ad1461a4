import { z } from 'zod';
import { idField } from '../../../kit/values/fields.ts';
import { ListQuery, timestamp } from '../../../kit/values/page.ts';
import { fromOutside } from '../../../kit/values/untrusted.ts';
import { toWire } from '../../../kit/values/wire.ts';
import { integrationId } from '../connections/connections.shapes.ts';
import type { StoreDeliveryRow } from './deliveries.ts';

export const DELIVERY_STATES = ['waiting', 'done', 'ignored', 'failed'] as const;
const state = z
  .enum(DELIVERY_STATES)
  .describe(
    '`waiting`: not recorded yet, or tried again later. `done`: recorded. `ignored`: not about orders. `failed`: it could not be read, or was tried for 24 hours.',
  );

export const Reason = z.object({
  code: z
    .string()
    .describe(
      'What went wrong: `store_unavailable`, `reauth_required` (the store refuses the access), `internal_error`, or what is wrong with the field.',
    )
    .meta({ example: 'invalid_type' }),
  field: z
    .string()
    .nullable()
    .describe('The field of the delivery that is wrong; null when it is not about a field.')
    .meta({ example: 'currency' }),
  message: z
    .string()
    .describe('What is wrong, in a sentence.')
    .meta({ example: 'must be a currency code; got "XXQ".' }),
});
export type Reason = z.output<typeof Reason>;

const Notes = z.array(z.string());

const id = idField('sdl', 'Id of the delivery.');
export const DeliveryParams = z.object({
  id: integrationId.max(100),
  delivery: idField('sdl', 'Delivery to retry.').max(100),
});

export const StoreDelivery = z
  .object({
    id,
    received_at: timestamp.describe('When the store sent it.').meta({ example: '2026-03-02T09:30:00.000Z' }),
    topic: fromOutside(
      z
        .string()
        .nullable()
        .describe("Kind of delivery, in the store's own words; null when it could not be read.")
        .meta({ example: 'orders/paid' }),
    ),
    state,
    attempts: z.number().int().describe('Number of attempts to record it.').meta({ example: 1 }),
    next_attempt_at: timestamp
      .nullable()
      .describe('When the next attempt is due; null unless it is waiting.')
      .meta({ example: null }),
    reason: fromOutside(
      Reason.nullable().describe('Why the last attempt failed; null when it did not.').meta({ example: null }),
    ),
    notes: fromOutside(
      Notes.describe('Parts that were left out because they could not be read. No commission depends on them.').meta({
        example: [],
      }),
    ),
    order_id: fromOutside(
      z
        .string()
        .nullable()
        .describe("The store's id of the order that it is about, where that is known.")
        .meta({ example: '5123456789' }),
    ),
  })
  .meta({ id: 'StoreDelivery' });

export const StoreDeliveryFilter = z.object({
  state: state.optional().describe('Only deliveries in this state. `failed` lists what could not be read.'),
  ...ListQuery,
});
export type StoreDeliveryFilter = z.output<typeof StoreDeliveryFilter>;

export const toStoreDelivery = ({ reason, notes, ...row }: StoreDeliveryRow) => ({
  ...toWire(row),
  reason: reason === null ? null : Reason.parse(reason),
  notes: Notes.parse(notes),
});
