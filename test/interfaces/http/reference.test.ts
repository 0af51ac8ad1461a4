import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { openapiDocument } from '../../../src/interfaces/http/openapi/document.ts';
import { isRecord } from '../../../src/kit/values/wire.ts';
import { interfaces } from '../../../src/process/interfaces.ts';

/** Every place of the document, with its path. */
function* placesOf(value: unknown, place = ''): Generator<[string, Record<string, unknown>]> {
  if (Array.isArray(value)) for (const [i, one] of value.entries()) yield* placesOf(one, `${place}/${i}`);
  if (!isRecord(value)) return;
  yield [place, value];
  for (const [name, inner] of Object.entries(value)) yield* placesOf(inner, `${place}/${name}`);
}

const placesIn = (document: unknown) => new Map(placesOf(JSON.parse(JSON.stringify(document))));
const { current, older } = interfaces(() => new Date());
const documents = [
  { name: 'current', its: current.operations, places: placesIn(openapiDocument(current)) },
  { name: 'older', its: older.operations, places: placesIn(openapiDocument(older)) },
];

type Places = ReturnType<typeof placesIn>;
const isExample = (place: string) => place.includes('/example');
const bodiesOf = (places: Places) =>
  [...places].filter(([place]) => /^\/(?:paths|components\/responses)\/.*\/content\/application\/json$/.test(place));

test.each(documents)('Every property and every parameter of the $name reference has a description', ({ places }) => {
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
  expect([...silent, ...parameters], 'describe it in its schema').toEqual([]);
});

test.each(documents)(
  'Every request, response and error of the $name reference has a name, and an example that its schema accepts',
  ({ places, its }) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'document', components: places.get('/components') });
    const bodies = bodiesOf(places);
    const wrong = bodies.flatMap(([place, { schema, example }]) => {
      if (!isRecord(schema) || typeof schema.$ref !== 'string') return [`${place} has no name`];
      const validate = ajv.compile({ $ref: `document${schema.$ref}` });
      return validate(example) ? [] : [`${place}: ${ajv.errorsText(validate.errors)}`];
    });
    expect(wrong, 'give the property an example in its schema (.meta)').toEqual([]);
    expect(bodies.length).toBeGreaterThan(its.length);
  },
);

/** Every text of a value, with its path. */
function* textsOf(value: unknown, place: string): Generator<[string, string]> {
  if (typeof value === 'string') yield [place, value];
  if (Array.isArray(value)) for (const [i, one] of value.entries()) yield* textsOf(one, `${place}/${i}`);
  else if (isRecord(value))
    for (const [name, inner] of Object.entries(value)) yield* textsOf(inner, `${place}/${name}`);
}

test.each(documents)('No example of the $name reference is a placeholder', ({ places }) => {
  const fillers = bodiesOf(places).flatMap(([place, { example }]) =>
    // `text` is also a way to read a search.
    [...textsOf(example, place)].flatMap(([where, text]) =>
      /^text\.*$/.test(text) && !where.endsWith('/read_as') ? [where] : [],
    ),
  );
  expect(fillers, 'give the property an example in its schema (.meta)').toEqual([]);
});

const Item = z.object({ data: z.object({ id: z.string() }) });

test.each(documents)(
  'Every operation of the $name reference that takes an id has that id in its example',
  ({ places }) => {
    const read = [...places].filter(([place]) => /^\/paths\/[^{]*\{id\}\/get$/.test(place));
    const ids = read.map(([place]) => [
      place,
      places.get(`${place}/parameters/0`)?.example,
      Item.safeParse(places.get(`${place}/responses/200/content/application/json`)?.example).data?.data.id,
    ]);
    expect(ids.filter(([, sent, answered]) => answered !== undefined && sent !== answered)).toEqual([]);
    expect(ids.length).toBeGreaterThan(0);
  },
);

/** The names of the fields that a document describes, by description. */
const namesByDescription = (places: Places) =>
  [...places].flatMap(([place, value]): [string, string][] => {
    if (isExample(place)) return [];
    if (/\/parameters\/\d+$/.test(place) && typeof value.description === 'string') {
      return [[value.description, String(value.name)]];
    }
    if (!place.endsWith('/properties')) return [];
    return Object.entries(value).flatMap(([name, property]): [string, string][] =>
      isRecord(property) && typeof property.description === 'string' ? [[property.description, name]] : [],
    );
  });

test('Fields of different names never share a description', () => {
  const described = documents.flatMap(({ places }) => namesByDescription(places));
  const names = new Map<string, Set<string>>();
  for (const [description, name] of described) {
    names.set(description, (names.get(description) ?? new Set()).add(name));
  }
  const shared = [...names].flatMap(([description, its]) =>
    its.size > 1 ? [`${[...its].sort().join(', ')}: ${description}`] : [],
  );
  expect(shared, 'say in each schema what this field means').toEqual([]);
});

test.each(documents)('Errors are declared once in the $name reference, and their code is an enum', ({ places }) => {
  const responses = [...places].filter(([place]) => /^\/paths\/.*\/responses\/[45]\d\d$/.test(place));
  expect(responses.every(([, response]) => typeof response.$ref === 'string')).toBe(true);
  expect(places.get('/components/schemas/ErrorCode')?.enum).toContain('VALIDATION_ERROR');
});

test.each(documents)('The $name reference offers no bound of every whole number as a value to try', ({ places }) => {
  const offered = [...places.values()].flatMap(({ minimum, example, default: preset }) => [minimum, example, preset]);
  expect(offered.filter((value) => Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER)).toEqual([]);
});

test.each(documents)(
  'Every input of the $name reference declares what all inputs refuse: NUL and numbers above 2^53',
  ({ places }) => {
    const inputs = [...places].filter(([place]) => /\/parameters\/\d+\/schema$/.test(place));
    const open = inputs.filter(([, { type, pattern, format, maximum, enum: names }]) =>
      type === 'integer' ? maximum === undefined : type === 'string' && !pattern && !format && !names,
    );
    expect(open.map(([place]) => place)).toEqual([]);
    expect(inputs.length).toBeGreaterThan(50);
  },
);

test.each(documents)('Every section of the $name reference has a description', ({ places, its }) => {
  const tags = z.array(z.object({ name: z.string(), description: z.string() })).parse(places.get('')?.tags);
  expect(new Set(tags.map(({ name }) => name))).toEqual(new Set(its.map(({ tag }) => tag)));
});
