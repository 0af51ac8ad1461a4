import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { fromOutside } from '../../kit/values/untrusted.ts';

export const orderNumber = fromOutside(
  z
    .string()
    .nullable()
    .describe(
      'Number by which the shop, its customers and creators know the order; null if unknown. Several orders may have one.',
    )
    .meta({ example: '#1001' }),
);

export const NAMED_BY = ['id', 'number'] as const;

/** An order goes by its id at its store, and by its number without case and a leading `#`. */
export const isNamed = (name: string, by?: (typeof NAMED_BY)[number]): RawBuilder<boolean> =>
  sql<boolean>`(${by === 'number' ? sql`false` : sql`orders.order_id = ${name}`}
    or ${by === 'id' ? sql`false` : sql`lower(ltrim(orders.order_number, '#')) = lower(ltrim(${name}, '#'))`})`;
