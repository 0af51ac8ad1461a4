import { type Expression, sql } from 'kysely';
import type { Db } from './open.ts';
import { notOfSuspended } from './suspended.ts';

/** A row with work to do. `brandId` is null for work that is no brand's. */
export interface DueRow {
  id: string;
  brandId: string | null;
}

/** A turn of a process at a row. */
export interface Claim extends DueRow {
  /** Names the turn: a row that is claimed again has another. */
  turn: string;
  /** Failed turns in a row before this one. */
  failures: number;
}

interface ClaimRequest {
  work: string;
  /** The rows that are due, the next first. */
  due: Expression<DueRow>;
  now: Date;
  until: Date;
  turn: string;
  /** Free places of the process. */
  places: number;
  /** Places that one brand may have. */
  placesOfBrand: number;
  /** Once so many places are taken, each brand may have one, so that a few brands whose turns hang leave some to others. */
  shared: number;
  /** The rows of the process's running turns. */
  running: readonly DueRow[];
}

/**
 * Claims rows that nobody works on. A brand gets no more places than it may have, and its second place comes after the
 * first of every other brand.
 */
export async function claimRows(db: Db, request: ClaimRequest): Promise<Claim[]> {
  const { work, due, now, until, turn, places, placesOfBrand, shared, running } = request;
  const brandIds = running.map(({ brandId }) => brandId);
  const most = running.length < shared ? placesOfBrand : 1;
  const { rows } = await sql<Claim>`
    with running as (
      select brand_id, count(*) as turns from unnest(${brandIds}::text[]) as brand_id group by brand_id
    ), free as (
      select due.id, due.brand_id, row_number() over () as position from (${due}) as due
      where not exists (select from work_claims as claim
          where claim.work = ${work} and claim.row_id = due.id and claim.until > ${now})
        and due.id <> all(${running.map(({ id }) => id)}::text[])
        and not exists (select from running
          where running.brand_id = due.brand_id and running.turns >= ${most}::int)
        and ${notOfSuspended('due.brand_id')}
      limit ${places}::int
    ), placed as (
      select free.*, coalesce(running.turns, 0) + row_number() over (partition by free.brand_id order by position) as place
      from free left join running using (brand_id)
    ), taken as (
      select placed.*, ${running.length}::int + row_number() over (order by place, position) as taken from placed
    )
    insert into work_claims as claim (work, row_id, brand_id, turn, until)
    select ${work}, id, brand_id, ${turn}, ${until} from taken
    where brand_id is null or place = 1 or (place <= ${placesOfBrand}::int and taken <= ${shared}::int)
    order by place, position
    on conflict (work, row_id) do update set turn = excluded.turn, until = excluded.until where claim.until <= ${now}
    returning row_id as id, brand_id, turn, failures`.execute(db);
  return rows;
}

/** Rows that were claimed, as they are now. One that is missing is no longer due. */
export async function readClaimed<Row extends DueRow>(
  db: Db,
  due: Expression<Row>,
  claims: readonly Claim[],
): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select due.* from (${due}) as due where due.id = any(${claims.map(({ id }) => id)}::text[])`.execute(db);
  return rows;
}

/** A turn at a row, by which its claim is found. */
export interface TurnKey extends Pick<Claim, 'id' | 'turn'> {
  work: string;
}

const whereHeld = (keys: readonly TurnKey[]) => sql`(work, row_id, turn) in (
  select * from unnest(${keys.map(({ work }) => work)}::text[], ${keys.map(({ id }) => id)}::text[],
    ${keys.map(({ turn }) => turn)}::text[]))`;

/** Turns whose row is still theirs: neither taken over nor cancelled. */
export async function listHeld(db: Db, keys: readonly TurnKey[]): Promise<TurnKey[]> {
  const { rows } = await sql<TurnKey>`
    select work, row_id as id, turn from work_claims where ${whereHeld(keys)}`.execute(db);
  return rows;
}

/** Shows that the process lives. Returns the turns whose row is still theirs. */
export async function renewClaims(db: Db, keys: readonly TurnKey[], until: Date): Promise<TurnKey[]> {
  const { rows } = await sql<TurnKey>`
    update work_claims set until = ${until} where ${whereHeld(keys)} returning work, row_id as id, turn`.execute(db);
  return rows;
}

/** Locks the claim until the transaction ends. False if the row is no longer the turn's. */
export async function lockClaim(db: Db, key: TurnKey): Promise<boolean> {
  const { rows } = await sql`select from work_claims where ${whereHeld([key])} for update`.execute(db);
  return rows.length > 0;
}

/** Ends a turn. */
export async function deleteClaim(db: Db, key: TurnKey): Promise<void> {
  await sql`delete from work_claims where ${whereHeld([key])}`.execute(db);
}

/** Ends a turn that failed: nobody works on the row until then. */
export async function restAfterFailure(db: Db, key: TurnKey, until: Date): Promise<void> {
  await sql`update work_claims set turn = null, until = ${until}, failures = failures + 1
    where ${whereHeld([key])}`.execute(db);
}

/** Takes a row from whoever works on it: their turn is aborted within a second. */
export async function endClaim(db: Db, work: string, id: string): Promise<void> {
  await db.deleteFrom('workClaims').where('work', '=', work).where('rowId', '=', id).execute();
}

/** Deletes what is left of rows that were deleted, or that are no longer due. */
export async function deleteOldClaims(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('workClaims').where('until', '<', before).execute();
}
