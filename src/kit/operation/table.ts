import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { notFound } from '../values/errors.ts';
import type { Work } from './work.ts';

interface OwnedRow {
  id: string;
  brandId: string;
}

type Row<Columns> = Selectable<Columns> & OwnedRow;

/** A brand's rows, whose changes the audit log shows. */
interface AuditedTable<Columns> {
  insert(work: Work, row: Omit<Insertable<Columns>, 'brandId'> & object): Promise<Row<Columns>>;
  /** Locks the brand's row until the transaction ends. Throws NOT_FOUND. */
  lock(work: Work, id: string): Promise<Row<Columns>>;
  /** Changes a locked row, and returns it as it is now. */
  update(work: Work, old: Row<Columns>, change: Updateable<Columns> & object): Promise<Row<Columns>>;
  delete(work: Work, old: Row<Columns>): Promise<void>;
}

const listColumns = (values: object): [string, unknown][] =>
  Object.entries(values).filter(([, value]) => value !== undefined);

/** Declares the single-row statements of a table, which write their audit entries. `noun` is for NOT_FOUND. */
export function table<Columns>(name: string, noun: string): AuditedTable<Columns> {
  const own = ({ brandId }: Pick<Work, 'brandId'>, id: string) => sql`brand_id = ${brandId} and id = ${id}`;

  function assertFound(row: Row<Columns> | undefined): Row<Columns> {
    if (!row) throw notFound(noun);
    return row;
  }

  return {
    insert: async (work, values) => {
      const columns = listColumns({ ...values, brandId: work.brandId });
      const { rows } = await sql<Row<Columns>>`
        insert into ${sql.table(name)} (${sql.join(columns.map(([column]) => sql.ref(column)))})
        values (${sql.join(columns.map(([, value]) => value))}) returning *`.execute(work.db);
      const row = assertFound(rows[0]);
      work.audit({ resourceId: row.id, old: null, new: row });
      return row;
    },
    lock: async (work, id) => {
      const { rows } = await sql<Row<Columns>>`
        select * from ${sql.table(name)} where ${own(work, id)} for update`.execute(work.db);
      return assertFound(rows[0]);
    },
    update: async (work, old, change) => {
      const assignments = listColumns(change).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
      const { rows } = await sql<Row<Columns>>`
        update ${sql.table(name)} set ${sql.join(assignments)} where ${own(work, old.id)} returning *`.execute(work.db);
      const row = assertFound(rows[0]);
      work.audit({ resourceId: row.id, old, new: row });
      return row;
    },
    delete: async (work, old) => {
      await sql`delete from ${sql.table(name)} where ${own(work, old.id)}`.execute(work.db);
      work.audit({ resourceId: old.id, old, new: null });
    },
  };
}
