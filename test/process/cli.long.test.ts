import { describe, expect, it } from 'vitest';
import { engineUrls } from '../harness/app.ts';
import { runCommand } from '../harness/process/command.ts';

/** A script without any engine to reach: what it answers before it needs one. */
const alone = (script: string, ...args: string[]) => runCommand(script, args, { ROLLCALL_DIR: '/dev/null/none' });

/** Programs as processes, each with a command and what it cannot do without. */
const PROGRAMS: readonly [script: string, command: string, needs: string][] = [
  ['src/cli.ts', 'brand create', '<name>'],
  ['indexer/main.ts', 'import', '<files...>'],
  ['src/server.ts', '', ''],
  ['src/worker.ts', '', ''],
];
const words = (command: string) => command.split(' ').filter(Boolean);

type Attempt = (args: readonly string[]) => Promise<{ status: number | null; out: string; said: string }>;

async function expectHelpAndRefusals(attempt: Attempt, command: string, needs: string): Promise<void> {
  const help = await attempt([...words(command), '--help']);
  expect([help.status, help.said]).toEqual([0, '']);
  expect(help.out).toContain(needs);
  const unknown = await attempt([...words(command), '--nonsense']);
  expect([unknown.status, unknown.out]).toEqual([2, '']);
  expect(unknown.said).toMatch(/^error: [^\n]+\nAdd --help to see what it takes\.\n$/);
  const bare = needs ? await attempt(words(command)) : unknown;
  expect([bare.status, bare.out]).toEqual([2, '']);
}

describe('a command', () => {
  it.each(PROGRAMS)(
    'shows help with %s %s --help and exits 0; an unknown flag or a missing one exits 2',
    (script, command, needs) => expectHelpAndRefusals((args) => alone(script, ...args), command, needs),
  );

  it.each([
    ['--port', '65536'],
    ['--creators', '0'],
  ])('of the server refuses an impossible value with exit code 2: %s %s', async (...args) => {
    const { status, out, said } = await alone('src/server.ts', ...args);
    expect([status, out]).toEqual([2, '']);
    expect(said).toMatch(/must (be|have|not)/);
  });

  it('that starts a worker without an engine names the missing variable, without a stack trace', async () => {
    const { status, out, said } = await alone('src/worker.ts');
    expect([status, out]).toEqual([1, '']);
    expect(said).toMatch(
      /^Set DATABASE_URL, REDIS_URL, ELASTICSEARCH_URL, CLICKHOUSE_URL; [^\n]+\nRead more in docs\/operating\.md[^\n]+\n$/,
    );
  });

  it.each(['src/worker.ts', 'src/server.ts'])(
    'such as %s beside external engines asks where files and mails go, unless they may stay on its disk',
    async (script) => {
      const { postgres, redis, elasticsearch, clickhouse } = engineUrls();
      const engines = {
        DATABASE_URL: postgres,
        REDIS_URL: redis,
        ELASTICSEARCH_URL: elasticsearch,
        CLICKHOUSE_URL: clickhouse,
      };
      const { status, said } = await runCommand(script, [], { ...engines, ASSETS_URL: 's3://bucket' });
      expect(status).toBe(1);
      expect(said).toContain('SMTP_URL=local to keep them on this machine');
      expect(said).not.toContain('ASSETS_URL');
    },
  );
});
