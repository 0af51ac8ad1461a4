import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { call, keysInTurn, makeBrand, startApp, type TestApp } from '../../harness/app.ts';

/** Parameters that lists share are references, which have neither name nor schema here. */
const Parameter = z.object({
  name: z.string().default(''),
  in: z.string().default('elsewhere'),
  example: z.unknown().optional(),
  schema: z
    .looseObject({
      enum: z.array(z.string()).optional(),
      example: z.unknown().optional(),
      examples: z.array(z.unknown()).optional(),
    })
    .default({}),
});
const Document = z.object({
  paths: z.record(z.string(), z.object({ get: z.object({ parameters: z.array(Parameter).default([]) }).optional() })),
});

/** Parameters that are no filters, and those that decide which page is read. */
const OTHERS = new Set(['sort', 'page', 'limit', 'offset', 'cursor', 'mode', 'preview', 'walk']);

let app: TestApp;
let nextKey: () => string;
beforeAll(async () => {
  app = await startApp();
  nextKey = await keysInTurn(await makeBrand(app.context), 20);
});
afterAll(() => app?.close());

it('every list is sorted in each of its ways beside each of its filters', async () => {
  const { paths } = Document.parse((await call(`${app.url}/openapi.json`, nextKey())).body);
  const broken: string[] = [];
  let tried = 0;
  for (const [path, { get }] of Object.entries(paths)) {
    const sorts = get?.parameters.find(({ name }) => name === 'sort')?.schema.enum ?? [];
    if (path.includes('{') || path.startsWith('/v1/creators')) continue;
    const filters = get?.parameters.filter((one) => one.in === 'query' && !OTHERS.has(one.name)) ?? [];
    for (const sort of sorts) {
      for (const { name, example, schema } of filters) {
        const value = example ?? schema.example ?? schema.examples?.[0] ?? schema.enum?.[0] ?? 'x';
        const query = new URLSearchParams({ sort, [name]: String(value) }).toString();
        const { status } = await call(`${app.url}${path}?${query}`, nextKey());
        tried += 1;
        if (status >= 500) broken.push(`${path}?${query}`);
      }
    }
  }
  expect(broken).toEqual([]);
  expect(tried).toBeGreaterThan(200);
});
