import type { Command } from 'commander';
import { cancelJob } from '../../platform/jobs/jobs.ts';
import { brandOption, filled } from './arguments.ts';
import { around } from './around.ts';
import { getBrand } from './brands.ts';
import { type CommandEngines, withEngines } from './open.ts';
import { jsonOption, printList } from './table.ts';

const COLUMNS = ['id', 'kind', 'brand', 'status', 'rows', 'failures', 'due_at', 'created_at', 'error'] as const;

async function list({ db }: CommandEngines, options: { brand?: string; json?: boolean }): Promise<void> {
  const brandId = options.brand === undefined ? undefined : (await getBrand(db, options.brand)).id;
  const rows = await db
    .selectFrom('jobs')
    .innerJoin('brands', 'brands.id', 'jobs.brandId')
    .select(['jobs.id', 'jobs.kind', 'brands.name as brand', 'status', 'rows', 'failures', 'dueAt', 'error'])
    .select('jobs.createdAt')
    .where('status', 'in', ['queued', 'running'])
    .$if(brandId !== undefined, (query) => query.where('jobs.brandId', '=', brandId ?? ''))
    .orderBy('jobs.createdAt')
    .execute();
  const items = rows.map(({ dueAt, createdAt, ...row }) => ({
    ...row,
    due_at: dueAt.toISOString(),
    created_at: createdAt.toISOString(),
  }));
  printList(COLUMNS, items, options.json);
}

async function cancel({ db, clock }: CommandEngines, id: string): Promise<void> {
  const job = await db.selectFrom('jobs').select('brandId').where('id', '=', id).executeTakeFirst();
  if (!job) throw new Error(`No job ${JSON.stringify(id)}; see \`job list\`.`);
  const isCancelled = (await cancelJob(db, job.brandId, id, clock.now())) !== undefined;
  if (!isCancelled) throw new Error(`${id} has ended already.`);
  around().err.write(`${id} is cancelled.\n`);
}

export function brandJobCommands(program: Command): void {
  const jobs = program.command('job').description('jobs that brands started, such as exports, and have not ended');
  jobs
    .command('list')
    .description('all of them, oldest first')
    .addOption(brandOption())
    .addOption(jsonOption())
    .action((options: { brand?: string; json?: boolean }) => withEngines((engines) => list(engines, options)));
  jobs
    .command('cancel')
    .description('cancel a job; it stops within a second, and its files are removed')
    .argument('<id>', 'as `job list` shows it', filled)
    .action((id: string) => withEngines((engines) => cancel(engines, id)));
}
