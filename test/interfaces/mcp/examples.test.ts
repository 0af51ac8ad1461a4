import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectAgent } from '../../harness/interfaces/agent.ts';
import { type DemoBrand, openDemoBrand, withIds } from '../../harness/local/demo-brand.ts';

/** A key has 100 calls a minute, and there are more tools. */
const AT_ONCE = 60;

let demo: DemoBrand;
beforeAll(async () => {
  demo = await openDemoBrand();
});
afterAll(() => demo?.close());

test('The printed example of every tool succeeds on the demo brand', async () => {
  const { app, desk } = demo;
  await desk.send('PATCH', '/v1/agent-policy', { money_out: true, data_out: true });
  const list = await connectAgent(app.url, await desk.brand.key('brand'));
  const { tools } = await list.listTools();
  await list.close();
  const order = tools.toSorted(
    (a, b) =>
      Number(b.annotations?.readOnlyHint ?? false) - Number(a.annotations?.readOnlyHint ?? false) ||
      Number(a.annotations?.destructiveHint ?? true) - Number(b.annotations?.destructiveHint ?? true),
  );
  const refused: Record<string, unknown> = {};
  for (let start = 0; start < order.length; start += AT_ONCE) {
    const client = await connectAgent(app.url, await desk.brand.key('brand'));
    for (const { name, description = '' } of order.slice(start, start + AT_ONCE)) {
      const args = withIds(demo, name, description.split('Example: ')[1] ?? '');
      const { isError, content } = await client.callTool({ name, arguments: args });
      if (isError) refused[name] = [args, content];
    }
    await client.close();
  }
  expect(refused).toEqual({});
});
