import { type Command, InvalidArgumentError } from 'commander';
import { advanceClock, readClockOffset } from '../../engines/postgres/sandbox-clock.ts';
import { DAY_MS, DURATION_FORM, durationText, readDuration } from '../../values/duration.ts';
import { clockAhead } from '../sandbox-clock.ts';
import { type CommandEngines, withEngines } from './open.ts';

/** Certificates, cookies and years of four digits end some day. */
const MOST_MS = 10 * 365 * DAY_MS;

function duration(value: string): number {
  const ms = readDuration(value);
  if (ms === undefined || ms === 0) throw new InvalidArgumentError(`must be a duration ${DURATION_FORM}.`);
  return ms;
}

function assertSandbox({ config }: CommandEngines): void {
  if (config.isSandbox) return;
  throw new Error(
    'Only a sandbox has a clock of its own. Set ROLLCALL_SANDBOX=1 for the server, the worker and this command.',
  );
}

function printOffset(offsetMs: number): void {
  const now = clockAhead(() => offsetMs).now();
  process.stdout.write(`${now.toISOString()}\n`);
  process.stderr.write(offsetMs === 0 ? 'The clock shows the real time.\n' : `${durationText(offsetMs)} ahead.\n`);
}

export function clockCommands(program: Command): void {
  const clock = program.command('clock').description("a sandbox's clock, for what happens in days or weeks");
  clock
    .command('advance')
    .description('put the clock ahead; every process follows within a second; prints the time that it shows')
    .argument('<duration>', `by how much, ${DURATION_FORM}; it never goes back`, duration)
    .action((ms: number) =>
      withEngines(async (engines) => {
        assertSandbox(engines);
        const offsetMs = await advanceClock(engines.db, ms, MOST_MS);
        if (offsetMs === undefined) throw new Error('The clock goes at most ten years ahead.');
        printOffset(offsetMs);
      }),
    );
  clock
    .command('show')
    .description('print the time that the clock shows')
    .action(() =>
      withEngines(async (engines) => {
        assertSandbox(engines);
        printOffset(await readClockOffset(engines.db));
      }),
    );
}
