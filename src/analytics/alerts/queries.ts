import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { COUNT, countOf } from '../../kit/engines/postgres/count.ts';
import type { AlertsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { updateOwn } from '../../kit/engines/postgres/own.ts';
import { periodicRows } from '../../kit/engines/postgres/periodic.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import type { AlertBy, Metric } from './schema.ts';

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'alerts.metric': Metric;
    'alerts.dimension': AlertBy;
  }
}

export type AlertRow = Selectable<AlertsTable>;

/** What an alert fires for. */
export interface ShownAlert {
  firingSince: Date | null;
  firingKeys: string[];
}

const MAX_KEYS = 100;

const FIRING = sql`from alert_firings as firing where firing.alert_id = alerts.id`;

export const alerts = listing({
  noun: 'alert',
  table: 'alerts',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, _where: ListWindow) => db.selectFrom('alerts'),
  rows: (db) =>
    db
      .selectFrom('alerts')
      .selectAll()
      .select([
        sql<Date | null>`(select min(firing.began_at) ${FIRING})`.as('firingSince'),
        sql<string[]>`array(select firing.key ${FIRING} and firing.key <> '' order by firing.began_at, firing.key
          limit ${sql.lit(MAX_KEYS)})`.as('firingKeys'),
      ]),
});

export const countAlerts = (db: Db, brandId: string): Promise<number> =>
  countOf(db.selectFrom('alerts').select(COUNT).where('brandId', '=', brandId));

export const insertAlert = (db: Db, row: Insertable<AlertsTable>): Promise<AlertRow> =>
  db.insertInto('alerts').values(row).returningAll().executeTakeFirstOrThrow();

/** The alert, locked until the transaction ends. */
export const findAlertToChange = (db: Db, brandId: string, id: string): Promise<AlertRow | undefined> =>
  db
    .selectFrom('alerts')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

export const updateAlert = (db: Db, brandId: string, id: string, change: Updateable<AlertsTable>) =>
  updateOwn(db.updateTable('alerts').set(change).returningAll(), brandId, id);

export async function deleteAlert(db: Db, brandId: string, id: string): Promise<void> {
  await db.deleteFrom('alerts').where('brandId', '=', brandId).where('id', '=', id).execute();
}

/** Forgets what an alert fires for, without a mail. */
export async function deleteFirings(db: Db, brandId: string, alertId: string): Promise<void> {
  await db.deleteFrom('alertFirings').where('brandId', '=', brandId).where('alertId', '=', alertId).execute();
}

export const dueAlerts = periodicRows<'dueAt', AlertRow>({ table: 'alerts', due: 'dueAt' });

export async function listFiringKeys(db: Db, { brandId, id }: Pick<AlertRow, 'brandId' | 'id'>): Promise<string[]> {
  const rows = await db
    .selectFrom('alertFirings')
    .select('key')
    .where('brandId', '=', brandId)
    .where('alertId', '=', id)
    .execute();
  return rows.map(({ key }) => key);
}

/** Those of the keys for which the alert did not fire before. */
export async function beginFiring(
  db: Db,
  { brandId, id }: Pick<AlertRow, 'brandId' | 'id'>,
  keys: readonly string[],
  beganAt: Date,
): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    insert into alert_firings (alert_id, brand_id, key, began_at)
    select ${id}, ${brandId}, key, ${beganAt}::timestamptz from unnest(${[...keys]}::text[]) as began (key)
    on conflict do nothing returning key`.execute(db);
  return rows.map(({ key }) => key);
}

/** Those of the keys for which the alert fired until now. */
export async function endFiring(
  db: Db,
  { brandId, id }: Pick<AlertRow, 'brandId' | 'id'>,
  keys: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    delete from alert_firings where brand_id = ${brandId} and alert_id = ${id} and key = any(${[...keys]}::text[])
    returning key`.execute(db);
  return rows.map(({ key }) => key);
}
