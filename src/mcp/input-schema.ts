import type { z } from 'zod';
import { type Json, jsonSchemaOf } from '../api/openapi/schema.ts';
import { isRecord } from '../values/wire.ts';

const REFS = '#/$defs/';

/** A shape as one JSON Schema without references: hosts resolve them badly, and MCP wants an object at the root. */
export function toolSchemaOf(shape: z.ZodType, io: 'input' | 'output'): Json {
  const { schema, named } = jsonSchemaOf(shape, io, REFS, false);
  return compactObject(schema, named, io);
}

/** What an answer's schema need not say: nobody fills it in. */
const OF_INPUTS = new Set(['minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'minItems', 'maxItems']);

function isKept(schema: Json, name: string, io: 'input' | 'output'): boolean {
  if (['id', '$ref', 'example', 'additionalProperties'].includes(name)) return false;
  // A date's pattern has up to 330 characters, in every tool again; the format says the same.
  if (name === 'pattern' && 'format' in schema) return false;
  return io === 'input' || !(OF_INPUTS.has(name) || name === 'pattern' || name === 'format');
}

function compact(value: unknown, named: Json, io: 'input' | 'output'): unknown {
  if (Array.isArray(value)) return value.map((one) => compact(one, named, io));
  return isRecord(value) ? compactObject(value, named, io) : value;
}

function compactObject(schema: Json, named: Json, io: 'input' | 'output'): Json {
  const target = typeof schema.$ref === 'string' ? named[schema.$ref.slice(REFS.length)] : undefined;
  const found = isRecord(target) ? compactObject(target, named, io) : {};
  const own = Object.entries(schema)
    .filter(([name]) => isKept(schema, name, io))
    .map(([name, inner]) => [name, name === 'properties' ? properties(inner, named, io) : compact(inner, named, io)]);
  return { ...found, ...shortened(Object.fromEntries(own)) };
}

function properties(value: unknown, named: Json, io: 'input' | 'output'): Json {
  if (!isRecord(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, compact(inner, named, io)]));
}

/** `anyOf: [X, null]` as `type: [x, null]`, and a union of texts as one text. */
function shortened(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const branches = anyOf.filter(isRecord);
  const [first, ...others] = branches.filter(({ type }) => type !== 'null');
  if (!first || others.some(({ type }) => type !== 'string' || first.type !== 'string')) return schema;
  const isNullable = branches.some(({ type }) => type === 'null');
  if (others.length > 0) return { type: isNullable ? ['string', 'null'] : 'string', format: 'date-time', ...rest };
  if (!isNullable) return { ...first, ...rest };
  if (typeof first.type !== 'string') return schema;
  const values = Array.isArray(first.enum) ? { enum: [...first.enum, null] } : {};
  return { ...first, ...values, type: [first.type, 'null'], ...rest };
}
