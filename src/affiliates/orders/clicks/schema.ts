import { z } from 'zod';
import { timestamp } from '../../../kit/values/page.ts';

export const StoreTracking = z
  .object({
    last_click: z
      .object({
        link_id: z.string().describe('Link that was followed.').meta({ example: 'lnk_0Uo3xK2mVdT2aXs7LpRb' }),
        link_value: z.string().describe('Name of that link, as your team gave it.').meta({ example: 'ana-summer' }),
        at: timestamp.describe('When the link was followed.').meta({ example: '2026-03-02T09:30:00.000Z' }),
      })
      .nullable()
      .describe(
        'Last visit through a tracked link that counts at this store, without bots; null if there was none within 30 days.',
      ),
    last_order: z
      .object({
        order_id: z
          .string()
          .describe('Id of the tracked order, as the store names it.')
          .meta({ example: '5551231233' }),
        ordered_at: timestamp
          .describe('When the tracked order was placed.')
          .meta({ example: '2026-03-02T09:41:00.000Z' }),
      })
      .nullable()
      .describe('Last order of this store that carried a click on one of your links; null if none ever did.'),
    checked_at: timestamp.describe('Time of this answer.').meta({ example: '2026-03-02T09:42:00.000Z' }),
  })
  .meta({ id: 'StoreTracking' });
