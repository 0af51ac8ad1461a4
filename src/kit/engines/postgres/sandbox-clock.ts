import type { Db } from './open.ts';

/** Reads the lead of the clock, in milliseconds. */
export async function readClockOffset(db: Db): Promise<number> {
  const row = await db.selectFrom('sandboxClock').select('offsetMs').executeTakeFirst();
  return row?.offsetMs ?? 0;
}

/** Advances the clock by `byMs`. Returns undefined and changes nothing if it would then be more than `mostMs` ahead. */
export async function advanceClock(db: Db, byMs: number, mostMs: number): Promise<number | undefined> {
  if (byMs > mostMs) return undefined;
  const row = await db
    .insertInto('sandboxClock')
    .values({ onlyOne: true, offsetMs: byMs })
    .onConflict((conflict) =>
      conflict
        .column('onlyOne')
        .doUpdateSet((eb) => ({ offsetMs: eb('sandboxClock.offsetMs', '+', byMs) }))
        .where((eb) => eb('sandboxClock.offsetMs', '<=', mostMs - byMs)),
    )
    .returning('offsetMs')
    .executeTakeFirst();
  return row?.offsetMs;
}
