import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../engines/postgres/open.ts';

/** A power of two, as in sql/postgres/0016. */
const PARTS = 64;
/** A dead worker's parts are free after this time. */
const LEASE = '6 seconds';

/** The part that a brand belongs to. */
export const selectPart = (brandId: string) => sql<number>`(hashtext(${sql.ref(brandId)}) & ${PARTS - 1})`;

/**
 * Renews the worker's leases, gives back what exceeds its share, and takes free parts up to its share. Returns the parts
 * that it holds.
 */
async function renew(db: Db, id: string): Promise<number[]> {
  return await db.transaction().execute(async (trx) => {
    await sql`insert into relay_workers (id, alive_until) values (${id}, now() + ${LEASE}::interval)
      on conflict (id) do update set alive_until = excluded.alive_until`.execute(trx);
    const { rows } = await sql<{ part: number; holder: string | null }>`
      with share as (select ceil(${PARTS}::numeric / count(*)) as size from relay_workers where alive_until > now()),
      wanted as (
        select part from relay_parts where holder = ${id} or holder is null or held_until <= now()
        order by (holder = ${id}) desc nulls last, part limit (select size from share) for update skip locked
      )
      update relay_parts set holder = case when part in (select part from wanted) then ${id} end,
        held_until = case when part in (select part from wanted) then now() + ${LEASE}::interval end
      where holder = ${id} or part in (select part from wanted)
      returning part, holder`.execute(trx);
    return rows.flatMap(({ part, holder }) => (holder === id ? [part] : []));
  });
}

/** Gives the worker's parts to the others. */
async function release(db: Db, id: string): Promise<void> {
  await sql`update relay_parts set holder = null, held_until = null where holder = ${id}`.execute(db);
  await sql`delete from relay_workers where id = ${id} or alive_until < now() - interval '1 hour'`.execute(db);
}

const RENEW_EVERY_MS = 2_000;

export interface Parts {
  /** The parts whose brands this worker relays. */
  held(): Promise<readonly number[]>;
  /** Gives them to the other workers. */
  release(): Promise<void>;
}

/** Divides brands among the workers: each relays those of its parts, and a dead worker's are taken over. */
export function openParts(db: Db): Parts {
  const id = randomUUID();
  let parts: Promise<readonly number[]> | undefined;
  let renewedAt = Number.NEGATIVE_INFINITY;
  return {
    held: async () => {
      if (parts === undefined || performance.now() - renewedAt >= RENEW_EVERY_MS) {
        renewedAt = performance.now();
        parts = renew(db, id);
        // The next pass tries again.
        parts.catch(() => {
          parts = undefined;
        });
      }
      return await parts;
    },
    release: () => release(db, id),
  };
}
