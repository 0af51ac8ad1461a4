import type { Command } from 'commander';
import { sql } from 'kysely';
import { brandOption, filled } from './arguments.ts';
import { around } from './around.ts';
import { getBrand } from './brands.ts';
import { type CommandEngines, withEngines } from './open.ts';
import { jsonOption, printList } from './table.ts';

const COLUMNS = ['id', 'kind', 'brand', 'next_at', 'error', 'paused_at'] as const;

/** The tables of what brands have run again and again, with a condition for the rows that are still there. */
const TABLES = [
  ['export_schedules', sql`deleted_at is null`],
  ['reports', sql`true`],
  ['alerts', sql`true`],
] as const;

interface Scheduled {
  id: string;
  kind: string;
  brand: string;
  nextAt: Date;
  error: string | null;
  pausedAt: Date | null;
}

async function list({ db }: CommandEngines, options: { brand?: string; json?: boolean }): Promise<void> {
  const brandId = options.brand === undefined ? null : (await getBrand(db, options.brand)).id;
  const { rows } = await sql<Scheduled>`
    select own.*, brands.name as brand from (
      select id, brand_id, 'export' as kind, next_at, error, paused_at from export_schedules where deleted_at is null
      union all select id, brand_id, 'report', due_at, error, paused_at from reports
      union all select id, brand_id, 'alert', due_at, error, paused_at from alerts
    ) as own join brands on brands.id = own.brand_id
    where ${brandId}::text is null or own.brand_id = ${brandId} order by own.next_at, own.id`.execute(db);
  const items = rows.map(({ nextAt, pausedAt, ...row }) => ({
    ...row,
    next_at: nextAt.toISOString(),
    paused_at: pausedAt?.toISOString() ?? null,
  }));
  printList(COLUMNS, items, options.json);
}

async function setPaused({ db, clock }: CommandEngines, id: string, isPaused: boolean): Promise<void> {
  const pausedAt = isPaused ? clock.now() : null;
  for (const [table, isThere] of TABLES) {
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(table)} set paused_at = ${pausedAt}::timestamptz where id = ${id} and ${isThere}`.execute(db);
    if (numAffectedRows > 0n) {
      around().err.write(`${id} ${isPaused ? 'is paused' : 'runs again'}.\n`);
      return;
    }
  }
  throw new Error(`No schedule ${JSON.stringify(id)}; see \`schedule list\`.`);
}

export function scheduleCommands(program: Command): void {
  const schedules = program.command('schedule').description('schedules of brands: exports, reports and alerts');
  schedules
    .command('list')
    .description('all of them, each with its next run and last failure')
    .addOption(brandOption())
    .addOption(jsonOption())
    .action((options: { brand?: string; json?: boolean }) => withEngines((engines) => list(engines, options)));
  for (const [name, isPaused, description] of [
    ['pause', true, 'stop a schedule until it is resumed'],
    ['resume', false, 'let a paused schedule run again'],
  ] as const) {
    schedules
      .command(name)
      .description(description)
      .argument('<id>', 'as `schedule list` shows it', filled)
      .action((id: string) => withEngines((engines) => setPaused(engines, id, isPaused)));
  }
}
