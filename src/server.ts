import { Command, InvalidArgumentError } from 'commander';
import { buildApp } from './app.ts';
import { readConfig } from './config.ts';
import { ensureDemo } from './demo.ts';
import { announceRunning, findRunning } from './engines/embedded/running.ts';
import { resolveEngines } from './engines/embedded/start.ts';
import { migratePostgres } from './engines/postgres/migrate.ts';
import { listen } from './listen.ts';
import { assertNode } from './node-version.ts';
import { configuredUrls, openContext } from './open-context.ts';
import { ensureSample } from './sample.ts';
import { report, reportStep, welcome } from './welcome.ts';
import { startWorker } from './worker.ts';

const SAMPLE_CREATORS = 20_000;
const LARGE_DIRECTORY = 200_000;
const STOP_AFTER_MS = 20_000;

function wholeNumber(value: string): number {
  if (!/^\d{1,8}$/.test(value)) throw new InvalidArgumentError('must be a whole number.');
  return Number(value);
}

const options = new Command('rollcall')
  .description('The Rollcall API. Engines without a URL in the environment are embedded, with sample data and a demo brand.')
  .option('--creators <number>', `creators of the sample directory (default ${SAMPLE_CREATORS})`, wholeNumber)
  .option('--port <number>', 'port to listen on (default 8080, or the next free one)', wholeNumber)
  .showHelpAfterError()
  .parse()
  .opts<{ creators?: number; port?: number }>();

assertNode();
