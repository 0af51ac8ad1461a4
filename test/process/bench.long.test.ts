import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const Line = z.object({
  ratios: z.array(
    z.object({ name: z.string(), value: z.number().nullable(), floor: z.number().nullable(), pass: z.boolean() }),
  ),
});

function run(args: readonly string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  return { status, stderr, stdout, ratios: Line.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).ratios };
}

/** Two parts that are measured around one that breaks off after its first ratio. */
const BROKEN = `import { openResults } from './bench/report.ts';
const results = openResults();
const ratio = (name) => ({ name, value: 2, floor: 1, bound: 'at least', measured: 'twice', warm: '-' });
await results.part('one', async (add) => add(ratio('one')));
await results.part('broken', async (add) => {
  add(ratio('first_of_broken'));
  throw new Error('Only 3 updates a second went through.');
});
process.stderr.write('between\\n');
await results.part('two', async (add) => add(ratio('two')));
process.exit(results.report() ? 0 : 1);`;

describe('a bench', () => {
  it('prints each ratio as soon as it is known, and a part that cannot be measured as a failed line', () => {
    const { status, stderr, stdout, ratios } = run(['--input-type=module', '-e', BROKEN]);
    const said = stderr.split('\n').map((line) => line.replace(/^ *\d+ s {2}/, ''));
    expect(said.slice(0, 5)).toEqual([
      'one  2  >= 1  ok  twice  -',
      'first_of_broken  2  >= 1  ok  twice  -',
      'broken  -  -  FAILED  Only 3 updates a second went through.  -',
      'between',
      'two  2  >= 1  ok  twice  -',
    ]);
    expect(stdout).toMatch(/^broken +- +- +FAILED +Only 3 updates a second went through\./m);
    expect(ratios.map(({ name, value, pass }) => [name, value, pass])).toEqual([
      ...[['one', 2, true]],
      ...[['first_of_broken', 2, true]],
      ...[['broken', null, false]],
      ...[['two', 2, true]],
    ]);
    expect(status).toBe(1);
  });

  it.each(['tenants', 'webhooks'])('ends with a report and with 1 when its engines do not answer: %s', (bench) => {
    const [postgres, other] = ['postgres://nobody@127.0.0.1:1/none', '127.0.0.1:1'];
    const urls = { DATABASE_URL: postgres, REDIS_URL: `redis://${other}`, CLICKHOUSE_URL: `http://${other}` };
    const { status, ratios } = run(['bench/main.ts', bench, '--quick'], urls);
    expect(ratios).toEqual([{ name: bench, value: null, floor: null, pass: false }]);
    expect(status).toBe(1);
  });
});
