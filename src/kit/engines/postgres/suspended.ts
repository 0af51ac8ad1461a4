import { sql } from 'kysely';

/** A condition that leaves out rows of brands that the operator suspended. `column` has the brand's id. */
export const notOfSuspended = (column: string) => sql<boolean>`not exists (
  select from brands as suspended where suspended.id = ${sql.ref(column)} and suspended.suspended_at is not null)`;
