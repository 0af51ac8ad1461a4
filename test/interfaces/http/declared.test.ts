import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { call, makeBrand, send, startApp, type TestApp } from '../../harness/app.ts';

let app: TestApp;
const Declared = z.object({
  requestBody: z.object({ required: z.boolean() }).optional(),
  parameters: z.array(z.looseObject({ $ref: z.string().optional() })),
  // Or a reference to an answer that several operations give.
  responses: z.record(z.string(), z.looseObject({ description: z.string().optional() })),
});
const Document = z.object({ paths: z.record(z.string(), z.record(z.string(), Declared)) });
let operations: [name: string, method: string, declared: z.infer<typeof Declared>][];

beforeAll(async () => {
  app = await startApp();
  const { paths } = Document.parse((await call(`${app.url}/openapi.json`)).body);
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, declared]): (typeof operations)[number] => [
      `${method} ${path}`,
      method,
      declared,
    ]),
  );
});
afterAll(() => app?.close());

/** What they ask does not fit into a URL. A simulation may start a job, which a repeat must not start again. */
const READING_POSTS = new Set(['post /v1/creators/lookup', 'post /v1/affiliates/terms/preview']);
const KEY = '#/components/parameters/IdempotencyKey';

describe('the OpenAPI document', () => {
  it('declares the Idempotency-Key for what changes, starts or costs something, with the error for a reused key', () => {
    expect(operations.length).toBeGreaterThan(40);
    for (const [name, method, { parameters, responses }] of operations) {
      const isChange = method !== 'get' && !READING_POSTS.has(name);
      expect(
        parameters.some(({ $ref }) => $ref === KEY),
        name,
      ).toBe(isChange);
      const isPriced = parameters.some(({ $ref }) => $ref === '#/components/parameters/PaidOnce');
      expect(responses[409]?.description?.includes('IDEMPOTENCY_KEY_REUSED') ?? false, name).toBe(isChange || isPriced);
    }
  });

  it('describes the Idempotency-Keys that the API accepts', async () => {
    const { body } = await call(`${app.url}/openapi.json`);
    const { schema } = body.components.parameters.IdempotencyKey;
    const key = await (await makeBrand(app.context)).key('brand');
    const isTaken = async (value: string) => {
      const more = { 'idempotency-key': value };
      return (await send(`${app.url}/v1/brand`, key, 'PATCH', {}, more)).status === 200;
    };
    for (const value of ['', '!', '~', 'a'.repeat(255), 'a'.repeat(256), 'a b', 'é']) {
      const isDeclared = value.length <= schema.maxLength && new RegExp(schema.pattern).test(value);
      expect(await isTaken(value), value).toBe(isDeclared);
    }
  });

  it('requires a body exactly where the API refuses a call without one', async () => {
    const required: string[] = [];
    const refused: string[] = [];
    const brand = await makeBrand(app.context);
    for (const [name, method, { requestBody }] of operations) {
      if (!requestBody) continue;
      if (requestBody.required) required.push(name);
      const path = name.replace(/^\w+ /, '').replace(/\{\w+\}/g, 'none');
      // Each with a key of its own: one has 100 calls a minute.
      const answer = await send(`${app.url}${path}`, await brand.key('brand'), method.toUpperCase());
      if (answer.status === 415 || /body/i.test(answer.body.details?.[0]?.field ?? '')) refused.push(name);
      else expect([name, answer.status]).toEqual([name, 404]);
    }
    expect(required.length).toBeGreaterThan(30);
    expect(refused).toEqual(required);
  });
});
