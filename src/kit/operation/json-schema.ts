import { z } from 'zod';
import { EXAMPLE_ID } from '../values/fields.ts';
import { isRecord } from '../values/wire.ts';

export type SchemaNode = Record<string, unknown>;

const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
const isNoBound = (value: unknown) => typeof value === 'number' && Math.abs(value) >= Number.MAX_SAFE_INTEGER;

/**
 * Dates are text on the wire; an email address follows its pattern, which is narrower than the format; the bounds of
 * every safe integer are omitted, because reference pages would offer them as the value to try.
 */
function writeForm({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: SchemaNode }): void {
  if (jsonSchema.format === 'email' && jsonSchema.pattern !== undefined) delete jsonSchema.format;
  for (const bound of BOUNDS) if (isNoBound(jsonSchema[bound])) delete jsonSchema[bound];
  if (zodSchema._zod.def.type !== 'date') return;
  jsonSchema.type = 'string';
  jsonSchema.format = 'date-time';
}

const Written = z.object({
  schema: z.record(z.string(), z.unknown()),
  $defs: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
});

/** A shape as JSON Schema 2020-12. Shapes with an id that it refers to are separate, under `refs`. */
export function toJsonSchema(
  shape: z.ZodType,
  io: 'input' | 'output',
  refs: string,
  isDescribed = true,
): { schema: SchemaNode; named: SchemaNode } {
  const document = z.toJSONSchema(shape, { io, unrepresentable: 'any', override: writeForm });
  const { $schema: _schema, $defs, ...schema } = document;
  const text = JSON.stringify({ schema, $defs }).replaceAll('"#/$defs/', `"${refs}`);
  const { schema: own, $defs: named = {} } = Written.parse(JSON.parse(text));
  for (const definition of Object.values(named)) {
    delete definition.id;
    if (isDescribed) describeEnvelope(definition);
  }
  if (isDescribed) describeEnvelope(own);
  return { schema: own, named };
}

/** Descriptions of the two fields of every response, for shapes that do not describe them. */
const ENVELOPE: Readonly<Record<string, string>> = {
  data: 'The response.',
  pagination: 'This page, and the number of items on all pages.',
};

function describeEnvelope({ properties }: SchemaNode): void {
  if (!isRecord(properties)) return;
  for (const [name, description] of Object.entries(ENVELOPE)) {
    const property = properties[name];
    if (isRecord(property) && property.description === undefined) property.description = description;
  }
}

const prefixes = new Map<string, string>();

/** Declares id prefixes, by the words of paths and properties that hold such rows. */
export function registerIds(ids: Readonly<Record<string, string>>): void {
  for (const [word, prefix] of Object.entries(ids)) {
    if (prefixes.has(word)) throw new Error(`Two nouns declare the id prefix of ${word}.`);
    prefixes.set(word, prefix);
  }
}

/** An example id of the rows that a word stands for. */
export function exampleId(word: string): string | undefined {
  const prefix = prefixes.get(word);
  return prefix === undefined ? undefined : `${prefix}_${EXAMPLE_ID}`;
}

/** An example id for an operation's answer: of the last noun in its path. */
export function idExample(path: string): string {
  const ids = path.split('/').flatMap((part) => exampleId(part) ?? []);
  return ids.at(-1) ?? 'cmp_0Uo3xK2mVdT2aXs7LpRb';
}

/** An example id for the path itself: of the noun before it. */
export function idInPath(path: string): string {
  return idExample(path.slice(0, path.indexOf('{')));
}

const BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-03-02T09:30:00.000Z',
  date: '2026-03-02',
  email: 'ana@example.com',
  uri: 'https://acme.example',
};

export const listTypes = ({ type }: SchemaNode): unknown[] => (Array.isArray(type) ? type : [type]);

function getType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** True if a value fits a schema where it is used; the test validates every whole example by its schema. */
function fits(schema: SchemaNode, value: unknown): boolean {
  if (Array.isArray(schema.enum)) return schema.enum.includes(value);
  if (schema.const !== undefined) return schema.const === value;
  const branches = getBranches(schema);
  if (branches) return branches.some((branch) => isRecord(branch) && fits(branch, value));
  if (typeof value === 'string' && typeof schema.pattern === 'string') {
    if (!new RegExp(schema.pattern, 'u').test(value)) return false;
  }
  if (typeof value === 'string' && schema.format === 'date-time' && !value.includes('T')) return false;
  if (Array.isArray(value)) {
    const { items } = schema;
    return schema.type === 'array' && value.every((item) => isRecord(items) && fits(items, item));
  }
  const type = getType(value);
  return listTypes(schema).includes(type) || (type === 'integer' && listTypes(schema).includes('number'));
}

const getBranches = ({ anyOf, oneOf }: SchemaNode): unknown[] | undefined =>
  Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;

export interface ExampleSource {
  /** Shapes by the last part of their `$ref`. */
  named: Readonly<Record<string, unknown>>;
  /** An example id of the operation's noun. */
  id: string;
}

/** A realistic value that the schema allows: the property's own example, or else one of its type. */
export function makeExample(schema: unknown, source: ExampleSource, name = ''): unknown {
  if (!isRecord(schema)) return null;
  if (schema.example !== undefined) return schema.example;
  if (Array.isArray(schema.examples)) return schema.examples[0];
  if (typeof schema.$ref === 'string') {
    return makeExample(source.named[schema.$ref.split('/').at(-1) ?? ''], source, name);
  }
  if (name === 'id' && fits(schema, source.id)) return source.id;
  const branches = getBranches(schema);
  if (branches)
    return makeExample(
      branches.find((one) => isRecord(one) && one.type !== 'null'),
      source,
      name,
    );
  if (Array.isArray(schema.allOf))
    return Object.assign({}, ...schema.allOf.map((one) => makeExample(one, source, name)));
  return byType(schema, source, name);
}

function byType(schema: SchemaNode, source: ExampleSource, name: string): unknown {
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const type = listTypes(schema)[0];
  if (type === 'object' || schema.properties !== undefined) return objectExample(schema, source);
  if (type === 'array') return Number(schema.maxItems ?? 1) === 0 ? [] : [makeExample(schema.items, source, name)];
  if (type === 'integer' || type === 'number') return Math.max(Number(schema.minimum ?? 0), 1);
  if (type === 'boolean') return true;
  if (type === 'string') return textExample(schema);
  return type === 'null' ? null : 'text';
}

function textExample({ format, minLength, maxLength }: SchemaNode): string {
  if (typeof format === 'string' && Object.hasOwn(BY_FORMAT, format)) return BY_FORMAT[format] ?? '';
  return 'text'.padEnd(Number(minLength ?? 0), '.').slice(0, Number(maxLength ?? 1_000));
}

function objectExample(schema: SchemaNode, source: ExampleSource): SchemaNode {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const own = { ...source, id: exampleId(name) ?? source.id };
      return [name, makeExample(property, own, name)];
    }),
  );
}
