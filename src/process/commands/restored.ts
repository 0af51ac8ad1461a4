import type { Command } from 'commander';
import { findHeldSince, goLive, HELD, hold } from '../../kit/engines/postgres/home.ts';
import { around } from './around.ts';
import { type CommandEngines, withEngines } from './open.ts';

interface RestoredOptions {
  goLive?: true;
  hold?: true;
}

async function settle({ db, clock }: CommandEngines, options: RestoredOptions): Promise<void> {
  if (options.hold) await hold(db, clock.now());
  if (options.goLive) {
    const wasHeld = await goLive(db);
    around().err.write(wasHeld ? 'Live: what waits is sent now.\n' : 'It was live already.\n');
    return;
  }
  const since = await findHeldSince(db);
  around().err.write(since ? `${HELD}\nSince ${since.toISOString()}.\n` : 'Live: this database is no restored copy.\n');
}

export function restoredCommands(program: Command): void {
  program
    .command('restored')
    .description('say whether this database is a restored copy, which sends nothing until --go-live')
    .option('--go-live', 'let it send emails and webhooks, write exports and call stores')
    .option('--hold', 'stop that, for a copy made by other means than `pg_dump` or the manual')
    .action((options: RestoredOptions) => withEngines((engines) => settle(engines, options)));
}
