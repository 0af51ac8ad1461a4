import type { Db } from './open.ts';

export interface SandboxClockTable {
  onlyOne: boolean;
  offsetMs: number;
}

/** How far the clock is ahead. */
export async function readClockOffset(db: Db): Promise<number> {
  const row = await db.selectFrom('sandboxClock').select('offsetMs').executeTakeFirst();
  return row?.offsetMs ?? 0;
}

/** Puts the clock ahead by so much more, up to `mostMs`; undefined, and nothing is changed, when that would be passed. */
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
