import { type Command, InvalidArgumentError } from 'commander';
import { advanceClock, readClockOffset } from '../../kit/engines/postgres/sandbox-clock.ts';
import { DAY_MS, DURATION_FORM, durationText, readDuration } from '../../kit/values/duration.ts';
import { ignoreFailure } from '../../kit/values/errors.ts';
import { clockAhead } from '../sandbox-clock.ts';
import { around } from './around.ts';
import { type CommandEngines, withEngines } from './open.ts';

/** Certificates, cookies and four-digit years would run out. */
const MOST_MS = 10 * 365 * DAY_MS;

function duration(value: string): number {
  const ms = readDuration(value);
  if (ms === undefined || ms === 0) throw new InvalidArgumentError(`must be a duration ${DURATION_FORM}.`);
  return ms;
}

const ANSWERS_WITHIN_MS = 5_000;

/** Refuses a clock that no process follows, by the environment of this command and by the running server. */
async function assertSandbox({ config, knownServerUrl: url }: CommandEngines): Promise<void> {
  if (!config.isSandbox) {
    throw new Error(
      'Only a sandbox has an adjustable clock. Set ROLLCALL_SANDBOX=1 for the server, the worker and this command.',
    );
  }
  if (url === undefined) return;
  const answer = await fetch(new URL('/healthz', url), { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) }).catch(
    ignoreFailure('a server that is down reads the clock when it starts'),
  );
  if (answer === undefined || answer.headers.has('x-rollcall-clock')) return;
  throw new Error(
    `The server at ${url} is not a sandbox and uses the real time. Start it and its worker with ROLLCALL_SANDBOX=1 first.`,
  );
}

function printOffset(offsetMs: number): void {
  const now = clockAhead(() => offsetMs).now();
  around().out.write(`${now.toISOString()}\n`);
  around().err.write(offsetMs === 0 ? 'The clock shows the real time.\n' : `${durationText(offsetMs)} ahead.\n`);
}

export function clockCommands(program: Command): void {
  const clock = program.command('clock').description("a sandbox's clock, to see what happens after days or weeks");
  clock
    .command('advance')
    .description('advance the clock; every process follows within a second; prints the new time')
    .argument('<duration>', `by how much, ${DURATION_FORM}; it cannot be turned back`, duration)
    .action((ms: number) =>
      withEngines(async (engines) => {
        await assertSandbox(engines);
        const offsetMs = await advanceClock(engines.db, ms, MOST_MS);
        if (offsetMs === undefined) throw new Error('The clock can be advanced by at most ten years.');
        printOffset(offsetMs);
      }),
    );
  clock
    .command('show')
    .description("print the clock's time")
    .action(() =>
      withEngines(async (engines) => {
        await assertSandbox(engines);
        printOffset(await readClockOffset(engines.db));
      }),
    );
}
