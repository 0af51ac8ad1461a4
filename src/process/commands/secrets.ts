import type { Command } from 'commander';
import { readConfig } from '../../config.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Config } from '../../kit/values/config.ts';
import {
  forgetPreviousSecretFile,
  readPreviousSecret,
  readSecrets,
  replaceSecretFile,
} from '../../kit/values/secrets.ts';
import { findRunning } from '../../local/engines/running.ts';
import { type Resealed, resealAll } from '../reseal.ts';
import { around } from './around.ts';
import { withEngines } from './open.ts';
import { jsonOption, printList } from './table.ts';

const COLUMNS = ['what', 'resealed', 'current', 'lost'] as const;

const isOwnFile = ({ secret, urls }: Config) => !secret && !urls.postgres;

interface SecretsOptions {
  forget?: boolean;
  json?: boolean;
}

/** A running process has the old secret in memory and would continue to seal with it. */
async function assertReady(config: Config): Promise<void> {
  if (isOwnFile(config)) {
    if (await findRunning(config.directory)) throw new Error('Stop the server first: it has the old secret in memory.');
  } else if (!config.previousSecret) {
    throw new Error(
      'Set ROLLCALL_SECRET to the new secret (openssl rand -hex 32) and ROLLCALL_PREVIOUS_SECRET to the old one, start ' +
        'every process with both, then run this again.',
    );
  }
}

/** With embedded engines the secret is a file, which is replaced. Completes an interrupted run first. */
async function reseal(db: Db, config: Config): Promise<Resealed[]> {
  if (isOwnFile(config)) {
    if (readPreviousSecret(config)) await resealAll(db, readSecrets(config));
    replaceSecretFile(config);
  }
  return await resealAll(db, readSecrets(config));
}

async function rotate({ forget, json }: SecretsOptions): Promise<void> {
  await assertReady(readConfig(around().env));
  await withEngines(async ({ db, config }) => {
    const columns = await reseal(db, config);
    printList(COLUMNS, columns, json);
    const lostValues = columns.reduce((sum, column) => sum + column.lost, 0);
    if (lostValues > 0) {
      around().err.write(`${lostValues} values open under neither secret; they were sealed under another one.\n`);
      around().exitCode = 1;
    }
    if (!isOwnFile(config)) {
      around().err.write('Once ROLLCALL_PREVIOUS_SECRET is removed, earlier links and clicks no longer work.\n');
    } else if (forget) {
      forgetPreviousSecretFile(config);
      around().err.write('The old secret is deleted: earlier links and clicks no longer work.\n');
    } else {
      around().err.write('Earlier links and clicks still work; --forget ends them.\n');
    }
  });
}

export function secretCommands(program: Command): void {
  program
    .command('secret')
    .description("the installation's secret")
    .command('rotate')
    .description('seal everything under a new secret: stores, webhooks and kept answers keep working')
    .option('--forget', 'with embedded engines: also end links and clicks that the old secret signed')
    .addOption(jsonOption())
    .action((options: SecretsOptions) => rotate(options));
}
