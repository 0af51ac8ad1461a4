import type { z } from 'zod';
import { type SchemaNode, toJsonSchema } from '../../kit/operation/json-schema.ts';
import { SEPARATOR } from '../../kit/values/page.ts';
import { UNTRUSTED } from '../../kit/values/untrusted.ts';
import { isRecord } from '../../kit/values/wire.ts';

const REFS = '#/$defs/';

/**
 * A shape as one JSON Schema without references, which many hosts resolve badly, and with an object at the root, as MCP
 * requires.
 */
export function toToolSchema(shape: z.ZodType, io: 'input' | 'output'): SchemaNode {
  const { schema, named } = toJsonSchema(shape, io, REFS, false);
  return compactObject(schema, named, io);
}

/**
 * Keywords omitted from the list of tools, which an agent reads in full in every session. Limits and formats are rarely
 * violated, and the error then says what is valid.
 */
const LEFT_OUT = new Set([
  SEPARATOR,
  ...['id', '$ref', 'example', 'examples', 'additionalProperties', 'propertyNames', 'pattern'],
  ...['minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'minItems', 'maxItems'],
]);

const isKept = (name: string, io: 'input' | 'output'): boolean =>
  !(LEFT_OUT.has(name) || (io === 'output' ? ['format', 'default'] : [UNTRUSTED]).includes(name));

/** True if a default is null or an empty list, which goes without saying. */
const isEmptyDefault = (name: string, value: unknown) =>
  name === 'default' && (value === null || value === false || (Array.isArray(value) && value.length === 0));

function compact(value: unknown, definitions: SchemaNode, io: 'input' | 'output'): unknown {
  if (Array.isArray(value)) return value.map((one) => compact(one, definitions, io));
  return isRecord(value) ? compactObject(value, definitions, io) : value;
}

function compactObject(schema: SchemaNode, definitions: SchemaNode, io: 'input' | 'output'): SchemaNode {
  const target = typeof schema.$ref === 'string' ? definitions[schema.$ref.slice(REFS.length)] : undefined;
  const targetSchema = isRecord(target) ? compactObject(target, definitions, io) : {};
  const own = Object.entries(schema)
    .filter(([name, inner]) => isKept(name, io) && !isEmptyDefault(name, inner))
    .map(([name, inner]) => [
      name,
      name === 'properties' ? properties(inner, definitions, io) : compact(inner, definitions, io),
    ]);
  return withoutRepeats(toUsual({ ...targetSchema, ...shortened(Object.fromEntries(own)) }, io));
}

/** Writes a constant as an enum of one value, and an argument that may be null without it: some hosts take nothing else. */
function toUsual({ const: only, ...schema }: SchemaNode, io: 'input' | 'output'): SchemaNode {
  if (only !== undefined) return { ...schema, enum: [only] };
  if (io === 'output' || !Array.isArray(schema.type)) return schema;
  const types = schema.type.filter((type) => type !== 'null');
  return { ...schema, type: types.length === 1 ? types[0] : types };
}

/** Omits the type of an enum, which its values show. */
function withoutRepeats(schema: SchemaNode): SchemaNode {
  if (!Array.isArray(schema.enum) || schema.type === undefined) return schema;
  const { type: _type, ...rest } = schema;
  return rest;
}

function properties(value: unknown, definitions: SchemaNode, io: 'input' | 'output'): SchemaNode {
  if (!isRecord(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, compact(inner, definitions, io)]));
}

/** Shortens `anyOf: [X, null]` to X, because the instructions explain null, and a union of strings to one string. */
function shortened(schema: SchemaNode): SchemaNode {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const branches = anyOf.filter(isRecord);
  const [first, ...others] = branches.filter(({ type }) => type !== 'null');
  if (!first || others.some(({ type }) => type !== 'string' || first.type !== 'string')) return schema;
  if (others.length > 0) return { type: 'string', ...rest };
  return { ...first, ...rest };
}
