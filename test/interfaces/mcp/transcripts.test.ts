import { expect, test } from 'vitest';
import { send } from '../../harness/app.ts';
import { connectAgent, type Protocol } from '../../harness/interfaces/agent.ts';
import { contains, readTranscripts, type Task, type Turn, withValues } from '../../harness/interfaces/transcript.ts';
import { type DemoBrand, openDemoBrand } from '../../harness/local/demo-brand.ts';
import { signIn } from '../../harness/platform/session.ts';

/** What an exchange of the transcript gets: the text that a model reads of a tool's result, or the API's answer to a person. */
async function exchange(
  { app }: DemoBrand,
  client: Awaited<ReturnType<typeof connectAgent>>,
  { kind, name, args }: Pick<Turn, 'kind' | 'name' | 'args'>,
  personKey: string,
) {
  if (kind === 'person') {
    const [method = '', path] = name.split(' ');
    const { status, body } = await send(`${app.url}${path}`, personKey, method, JSON.parse(args));
    return { isRefused: status >= 400, answer: body };
  }
  const { content, isError = false } = await client.callTool({ name, arguments: JSON.parse(args) });
  const [first] = content;
  return { isRefused: isError, answer: JSON.parse(first?.type === 'text' ? first.text : '') };
}

async function replay(demo: DemoBrand, task: Task, protocol: Protocol, values: Map<string, string>): Promise<void> {
  const { brand } = demo.desk;
  const client = await connectAgent(demo.app.url, await brand.key(task.key), '/mcp', protocol);
  const personKey = await brand.key('brand');
  for (const { isRefused, has, ...turn } of task.turns) {
    const [name, args] = [withValues(turn.name, values), withValues(turn.args, values)];
    const got = await exchange(demo, client, { ...turn, name, args }, personKey);
    const seen = `${task.name} ${name} ${args}: ${JSON.stringify(got.answer)}`;
    expect(got.isRefused, seen).toBe(isRefused);
    expect(contains(got.answer, has, values), seen).toBe(true);
  }
  await client.close();
}

test.each<Protocol>(['2025-11-25', '2026-07-28'])(
  'Ten tasks, from the first search to a payout that a person applies, go as in their transcripts by the official client at protocol %s',
  async (protocol) => {
    const tasks = await readTranscripts();
    expect(tasks).toHaveLength(10);
    const demo = await openDemoBrand();
    const owner = await signIn(demo.app, demo.desk.brand.id);
    const values = new Map([['$owner', String((await owner.get('/v1/people')).body.data[0].email)]]);
    for (const task of tasks) await replay(demo, task, protocol, values);
    await demo.close();
  },
);
