import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { openapiDocument } from '../../src/api/openapi/document.ts';
import { operations } from '../../src/api/operations.ts';
import { isRecord } from '../../src/values/wire.ts';

const document: unknown = JSON.parse(JSON.stringify(openapiDocument(operations)));

/** Every place of the document, with its path. */
function* placesOf(value: unknown, place = ''): Generator<[string, Record<string, unknown>]> {
  if (Array.isArray(value)) for (const [i, one] of value.entries()) yield* placesOf(one, `${place}/${i}`);
  if (!isRecord(value)) return;
  yield [place, value];
  for (const [name, inner] of Object.entries(value)) yield* placesOf(inner, `${place}/${name}`);
}

const places = new Map(placesOf(document));
const isExample = (place: string) => place.includes('/example');
const bodies = [...places].filter(([place]) => /^\/paths\/.*\/content\/application\/json$/.test(place));

test('Every property and every parameter of the reference says what it is', () => {
  const silent = [...places].flatMap(([place, value]) => {
    if (isExample(place) || !place.endsWith('/properties')) return [];
    return Object.entries(value).flatMap(([name, property]) =>
      isRecord(property) && property.description === undefined ? [`${place}/${name}`] : [],
    );
  });
  const parameters = [...places].flatMap(([place, value]) =>
    /\/parameters\/\d+$/.test(place) && !isExample(place) && value.$ref === undefined && value.description === undefined
      ? [`${place} ${value.name}`]
      : [],
  );
  expect([...silent, ...parameters], 'describe it in its schema, or its name in src/api/openapi/words.ts').toEqual([]);
});

test('Every request and every answer has a name, and an example that its own schema allows', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components: places.get('/components') });
  const wrong = bodies.flatMap(([place, { schema, example }]) => {
    if (!isRecord(schema) || typeof schema.$ref !== 'string') return [`${place} has no name`];
    const validate = ajv.compile({ $ref: `document${schema.$ref}` });
    return validate(example) ? [] : [`${place}: ${ajv.errorsText(validate.errors)}`];
  });
  expect(wrong, 'give the property an example in its schema (.meta), or its name in words.ts').toEqual([]);
  expect(bodies.length).toBeGreaterThan(operations.length);
});

test('Errors stand once in the reference, and their code is one of a list', () => {
  const responses = [...places].filter(([place]) => /^\/paths\/.*\/responses\/[45]\d\d$/.test(place));
  expect(responses.every(([, response]) => typeof response.$ref === 'string')).toBe(true);
  expect(places.get('/components/schemas/ErrorCode')?.enum).toContain('VALIDATION_ERROR');
});

test('No bound of the reference is the bound of every whole number', () => {
  expect(JSON.stringify(document)).not.toContain(String(Number.MAX_SAFE_INTEGER));
});

test('Every part of the reference says what it is for', () => {
  const tags = z.array(z.object({ name: z.string(), description: z.string() })).parse(places.get('')?.tags);
  expect(new Set(tags.map(({ name }) => name))).toEqual(new Set(operations.map(({ tag }) => tag)));
});
