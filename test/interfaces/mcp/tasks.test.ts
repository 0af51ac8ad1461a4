import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectAgent } from '../../harness/interfaces/agent.ts';
import { type DemoBrand, openDemoBrand, withIds } from '../../harness/local/demo-brand.ts';

let demo: DemoBrand;
beforeAll(async () => {
  demo = await openDemoBrand();
});
afterAll(() => demo?.close());

interface Task {
  asks: string;
  calls: { tool: string; args: string }[];
  /** Where the last answer says what. */
  says: Record<string, unknown>;
}

/** The rows of the table in the manual. */
async function readTasks(): Promise<Task[]> {
  const [, section = ''] = (await readFile('docs/agents.md', 'utf8')).split('## Twenty tasks\n');
  return [...section.matchAll(/^\| (.+?) \| (`.+?`) \| (`.+) \|$/gm)].map(([, asks = '', calls = '', answer = '']) => ({
    asks,
    calls: [...calls.matchAll(/`(\w+) (\{.*?\})`/g)].map(([, tool = '', args = '']) => ({ tool, args })),
    says: Object.fromEntries(
      [...answer.matchAll(/`([\w.[\]]+)` = `([^`]+)`/g)].map(([, path = '', value = '']) => [path, JSON.parse(value)]),
    ),
  }));
}

function valueAt(answer: unknown, path: string): unknown {
  return path
    .split(/[.[\]]+/)
    .filter(Boolean)
    .reduce((value: unknown, name) => Reflect.get(Object(value), name), answer);
}

test('A host that shows the model only the text of results gets the answer to each of the twenty tasks of the manual', async () => {
  const tasks = await readTasks();
  expect(tasks).toHaveLength(20);
  const client = await connectAgent(demo.app.url, await demo.desk.brand.key('brand'));
  for (const { asks, calls, says } of tasks) {
    let answer: unknown;
    for (const { tool, args } of calls) {
      const { content } = await client.callTool({ name: tool, arguments: withIds(demo, tool, args) });
      const [first] = content;
      answer = JSON.parse(first?.type === 'text' ? first.text : '');
    }
    expect(Object.keys(says).length, asks).toBeGreaterThan(0);
    const found = Object.fromEntries(Object.keys(says).map((path) => [path, valueAt(answer, path)]));
    expect(found, `${asks} ${JSON.stringify(answer)}`).toEqual(says);
  }
  await client.close();
});

/** The calls of the transcript in the manual, each with what its answer contains. */
async function readTranscript() {
  const [, section = ''] = (await readFile('docs/agents.md', 'utf8')).split('## A question about customers\n');
  return [...section.matchAll(/^→ (\w+) (\{.*\})\n((?:← .+\n)+)/gm)].map(([, tool = '', args = '', lines = '']) => ({
    ...{ tool, args: JSON.parse(args) },
    answers: lines
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line.slice(2))),
  }));
}

test('The transcript of the manual, about which creators bring new customers, is what an agent gets', async () => {
  const calls = await readTranscript();
  expect(calls).toHaveLength(3);
  const client = await connectAgent(demo.app.url, await demo.desk.brand.key('brand'));
  for (const { tool, args, answers } of calls) {
    const { content } = await client.callTool({ name: tool, arguments: args });
    const [first] = content;
    const { data } = JSON.parse(first?.type === 'text' ? first.text : '');
    for (const answer of answers) {
      const found = Array.isArray(data) ? data.find(({ label }) => label === answer.label) : data;
      expect(found, tool).toMatchObject(answer);
    }
  }
  await client.close();
});
