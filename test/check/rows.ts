import { writeFile } from 'node:fs/promises';
import { CamelCasePlugin, sql } from 'kysely';
import { migratePostgres } from '../../src/kit/engines/postgres/migrate.ts';
import { type Db, openPostgres } from '../../src/kit/engines/postgres/open.ts';
import { removeEngineData, startOwnEngines } from '../harness/kit/own-engines.ts';

const FILE = 'src/kit/engines/postgres/database.ts';
const MAX_WIDTH = 120;

/** The types that the driver reads, as `open.ts` configures its parsers. */
const TYPES: Readonly<Record<string, string>> = {
  text: 'string',
  'text[]': 'string[]',
  boolean: 'boolean',
  smallint: 'number',
  integer: 'number',
  bigint: 'number',
  'double precision': 'number',
  bytea: 'Buffer',
  uuid: 'string',
  date: 'Day',
  'timestamp with time zone': 'Date',
  json: 'unknown',
  jsonb: 'unknown',
  // The driver leaves the numbers of an array as text.
  'bigint[]': 'string[]',
};

interface Column {
  table: string;
  name: string;
  type: string;
  isNullable: boolean;
  hasDefault: boolean;
  isIdentity: boolean;
  /** The definitions of the CHECK constraints on this column alone. */
  checks: string[];
}

/** Without partitions, whose rows are read through their parent, and without Kysely's own tables. */
async function readColumns(db: Db): Promise<Column[]> {
  const { rows } = await sql<Column>`
    select relation.relname as "table", attname as name, format_type(atttypid, null) as type,
      not attnotnull as is_nullable, atthasdef as has_default, attidentity <> '' as is_identity,
      array(select regexp_replace(pg_get_constraintdef(oid), ' NOT VALID$', '') from pg_constraint
        where conrelid = relation.oid and contype = 'c' and conkey = array[attnum] order by conname) as checks
    from pg_class as relation join pg_attribute on attrelid = relation.oid and attnum > 0 and not attisdropped
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v') and not relispartition
      and relname not like 'kysely%'
    order by relname collate "C", attnum`.execute(db);
  return rows;
}

async function readMigratedColumns(): Promise<Column[]> {
  const dataName = `rows-${process.pid}`;
  const engines = await startOwnEngines(dataName, ['postgres']);
  try {
    const postgres = openPostgres(engines.urls.postgres ?? '', { max: 2 });
    await migratePostgres(postgres.db);
    const columns = await readColumns(postgres.db);
    await postgres.close();
    return columns;
  } finally {
    await engines.stop();
    await removeEngineData(dataName);
  }
}

/** The mapping of names that every statement uses. */
class Names extends CamelCasePlugin {
  toProperty(name: string): string {
    return this.camelCase(name);
  }
}
const names = new Names();

const toInterface = (table: string): string => {
  const property = names.toProperty(table);
  return `${property.charAt(0).toUpperCase()}${property.slice(1)}Table`;
};

const CLOSED_LIST = /^CHECK \(\(\w+ (?:= ANY \(|<@ )ARRAY\[('[^\]]*)\]\)?\)\)(?: NOT VALID)?$/;

/** The values that a CHECK allows for the column, as a union. */
function findUnion({ checks }: Column): string[] | undefined {
  for (const check of checks) {
    const list = CLOSED_LIST.exec(check)?.[1];
    if (list !== undefined) return [...list.matchAll(/'([^']*)'::text/g)].map(([, value]) => `'${value}'`);
  }
  return undefined;
}

function toValueTypes(column: Column, shapes: ReadonlySet<string>): string[] {
  const { table, name, type } = column;
  const key = `${names.toProperty(table)}.${names.toProperty(name)}`;
  if (shapes.has(key)) return [`Shape<'${key}'>`];
  const union = findUnion(column);
  if (union) return type.endsWith('[]') ? [`(${union.join(' | ')})[]`] : union;
  const value = TYPES[type];
  if (value === undefined) throw new Error(`${table}.${name} has type ${type}, which test/check/rows.ts does not map.`);
  return [value];
}

function toUnion(column: Column, shapes: ReadonlySet<string>): string[] {
  const { name, type, isNullable, hasDefault, isIdentity } = column;
  const values = toValueTypes(column, shapes);
  const value = values.join(' | ');
  const hasOwnValue = hasDefault && !isNullable;
  const orNull = isNullable ? ['null'] : [];
  if (isIdentity) return [`GeneratedAlways<${value}>`];
  if (type.startsWith('json')) return [`${hasOwnValue ? 'JsonWithDefault' : 'JsonColumn'}<${value}>`, ...orNull];
  if (hasOwnValue) return [`Generated<${value}>`];
  if (name === 'created_at' && !isNullable) return ['CreatedAt'];
  return [...values, ...orNull];
}

function toField(column: Column, shapes: ReadonlySet<string>): string {
  const name = names.toProperty(column.name);
  const union = toUnion(column, shapes);
  const line = `  ${name}: ${union.join(' | ')};`;
  return line.length <= MAX_WIDTH ? line : `  ${name}:\n${union.map((type) => `    | ${type}`).join('\n')};`;
}

/** The file that the migrated database and the declared shapes give. */
function renderDatabase(columns: readonly Column[], shapes: ReadonlySet<string>): string {
  const tables = [...Map.groupBy(columns, ({ table }) => table)];
  const interfaces = tables.map(
    ([table, its]) =>
      `export interface ${toInterface(table)} {\n${its.map((column) => toField(column, shapes)).join('\n')}\n}\n`,
  );
  const list = tables.map(([table]) => `  ${names.toProperty(table)}: ${toInterface(table)};`).join('\n');
  return `// Generated from the migrated database by \`npm run check -- --write\`.
import type { Generated, GeneratedAlways } from 'kysely';
import type { CreatedAt, Day, JsonColumn, JsonWithDefault, Shape } from './columns.ts';

${interfaces.join('\n')}
export interface Database {
${list}
}
`;
}

/** The columns, as `table.column`, whose shape a noun declares in `ColumnShapes`. */
function readShapes(files: ReadonlyMap<string, string>): Set<string> {
  const shapes = new Set<string>();
  for (const [file, text] of files) {
    if (!file.startsWith('src/')) continue;
    for (const [, body = ''] of text.matchAll(/interface ColumnShapes \{([^{]*?)\n *\}/g)) {
      for (const [, key = ''] of body.matchAll(/^ *'(\w+\.\w+)':/gm)) shapes.add(key);
    }
  }
  return shapes;
}

function findUnknownShapes(columns: readonly Column[], shapes: ReadonlySet<string>): string[] {
  const keys = new Set(columns.map(({ table, name }) => `${names.toProperty(table)}.${names.toProperty(name)}`));
  return [...shapes]
    .filter((key) => !keys.has(key))
    .map((key) => `ColumnShapes declares ${key}, which is not a column`);
}

let migrated: Promise<Column[]> | undefined;

async function render(files: ReadonlyMap<string, string>): Promise<{ columns: Column[]; text: string }> {
  migrated ??= readMigratedColumns();
  const columns = await migrated;
  return { columns, text: renderDatabase(columns, readShapes(files)) };
}

/** Reports how the committed row types and the declared shapes differ from the migrated database. */
export async function rowTypesDrift(files: ReadonlyMap<string, string>): Promise<string[]> {
  const { columns, text } = await render(files);
  const isSame = files.get(FILE) === text;
  const drift = isSame ? [] : [`${FILE} differs from the migrated database; to update it: npm run check -- --write`];
  return [...drift, ...findUnknownShapes(columns, readShapes(files))];
}

export async function writeRowTypes(files: ReadonlyMap<string, string>): Promise<void> {
  await writeFile(FILE, (await render(files)).text);
}
