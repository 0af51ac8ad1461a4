import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installPython } from '../../../clients/build.ts';
import { makeBrand, send, startApp, type TestApp } from '../../harness/app.ts';
import { connectAgent, errorOf, type Protocol } from '../../harness/interfaces/agent.ts';
import { readTranscripts } from '../../harness/interfaces/transcript.ts';
import { openDemoBrand } from '../../harness/local/demo-brand.ts';
import { signIn } from '../../harness/platform/session.ts';

const run = promisify(execFile);

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

/** A brand whose agents may do everything, so that the tools themselves answer. */
async function makeKey(): Promise<string> {
  const key = await (await makeBrand(app.context, { plan: 'enterprise' })).key('brand');
  await send(`${app.url}/v1/agent-policy`, key, 'PATCH', { money_out: true, data_out: true });
  return key;
}

/** A tool's own example is well formed: it may find nothing, and it never fails on our side. */
function assertAnswered(seen: Record<string, string>): void {
  const wrong = Object.entries(seen).filter(([, answer]) =>
    ['INTERNAL_ERROR', 'BAD_REQUEST', 'RATE_LIMITED'].includes(answer),
  );
  expect(wrong).toEqual([]);
  expect(Object.values(seen).filter((answer) => answer === 'ok').length).toBeGreaterThan(20);
}

/** A key has 100 calls a minute, and there are more tools. */
const PARTS = [0, 60, 120, 180].map((start) => [start, start + 60] as const);

test('The official Python client calls every tool by its own example', async () => {
  const python = await installPython('.rollcall/clients');
  const seen: Record<string, string> = {};
  for (const [start, end] of PARTS) {
    const args = [`${app.url}/mcp`, await makeKey(), String(start), String(end)];
    const { stdout } = await run(python, ['test/interfaces/mcp/every-tool.py', ...args]);
    Object.assign(seen, JSON.parse(stdout));
  }
  assertAnswered(seen);
});

test('The official Python client does the ten tasks as in their transcripts', async () => {
  const python = await installPython('.rollcall/clients');
  const demo = await openDemoBrand();
  const owner = await signIn(demo.app, demo.desk.brand.id);
  const [{ email }] = (await owner.get('/v1/people')).body.data;
  const keys = [await demo.desk.brand.key('brand'), await demo.desk.brand.key('data')];
  const { stdout } = await run(python, ['test/interfaces/mcp/transcripts.py', demo.app.url, ...keys, email]);
  const exchanges = (await readTranscripts()).reduce((sum, { turns }) => sum + turns.length, 0);
  expect(JSON.parse(stdout)).toEqual({ done: exchanges, wrong: [] });
  await demo.close();
});

const exampleOf = (description = ''): Record<string, unknown> => JSON.parse(description.split('Example: ')[1] ?? '{}');

test.each<Protocol>(['2025-11-25', '2026-07-28'])(
  'The official TypeScript client calls every tool by its own example at protocol %s',
  async (protocol) => {
    const seen: Record<string, string> = {};
    for (const part of PARTS) {
      const client = await connectAgent(app.url, await makeKey(), '/mcp', protocol);
      for (const { name, description } of (await client.listTools()).tools.slice(...part)) {
        const result = await client.callTool({ name, arguments: exampleOf(description) });
        seen[name] = result.isError ? errorOf(result).code : 'ok';
      }
      await client.close();
    }
    assertAnswered(seen);
  },
);
