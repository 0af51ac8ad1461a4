import { distance } from 'fastest-levenshtein';
import { z } from 'zod';
import type { RawInput } from '../operation/input.ts';
import type { Operation, Prepared } from '../operation/operation.ts';
import { exampleOf, idExample } from '../operation/words/examples.ts';
import type { Json } from '../operation/words/schema.ts';
import { type Problem, validationError } from '../values/errors.ts';
import { untrustedPaths } from '../values/untrusted.ts';
import { isRecord } from '../values/wire.ts';
import { toolSchemaOf } from './input-schema.ts';

export interface Tool {
  name: string;
  description: string;
  inputSchema: { type: 'object'; properties: Record<string, Json>; required?: string[] };
  outputSchema?: { type: 'object'; [key: string]: unknown };
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
}

/** An operation as a tool, and how its arguments are read. */
export interface Bound {
  operation: Operation;
  tool: Tool;
  outputSchema: Tool['outputSchema'];
  /** Response fields that people outside the brand write, such as `data[].message`. */
  untrusted: readonly string[];
  /** Validates a tool's arguments by the operation's shapes. Unknown arguments throw VALIDATION_ERROR too. */
  prepare(args: Json): Prepared;
}

type Place = 'params' | 'query' | 'body';

/** Explained once in the instructions, for every list and every change. */
const PAGING = ['page', 'limit'];
/** Arguments that mean the same in every tool; their names say it. */
const PLAIN = ['id', 'creator_email', 'campaign_id', 'currency', 'from', 'to'];
/** Parameters of every list that the instructions explain and the tools omit. */
const UNLISTED = ['created_after', 'created_before', 'offset'];
const OF_EVERY_CHANGE = {
  mode: { enum: ['apply', 'plan'] },
  idempotency_key: { type: 'string' },
} as const;

const isChange = ({ method }: Operation) => method !== 'GET';

const isUnlisted = (name: string, schema: Json) =>
  UNLISTED.includes(name) || (name === 'sort' && JSON.stringify(schema.enum) === '["newest","oldest"]');

/** Omits descriptions from update fields; the create tool has them. */
function unsaid({ description: _description, default: _default, ...schema }: Json): Json {
  return schema;
}

/** Omits descriptions of nested fields. */
function namesBelow(schema: Json): Json {
  const { items, properties } = schema;
  const below = (inner: unknown): unknown => (isRecord(inner) ? unsaid(namesBelow(inner)) : inner);
  return {
    ...schema,
    ...(items === undefined ? {} : { items: below(items) }),
    ...(isRecord(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, below(inner)])) }
      : {}),
  };
}

/** The first sentence of an argument's description, and none where its name or its enum says as much. */
function briefly(name: string, { description, ...schema }: Json): Json {
  if (typeof description !== 'string' || PLAIN.includes(name) || schema.enum !== undefined) return schema;
  return { ...schema, description: description.split(/(?<=[.;]) /, 1)[0]?.replace(/;$/, '.') };
}

interface Inputs {
  places: Map<string, Place>;
  properties: Record<string, Json>;
  required: string[];
}

function inputsOf(operation: Operation): Inputs {
  const inputs: Inputs = { places: new Map(), properties: {}, required: [] };
  const add = (place: Place, name: string, schema: Json, isRequired: boolean) => {
    if (inputs.places.has(name)) throw new Error(`${operation.id} has two inputs named ${name}.`);
    inputs.places.set(name, place);
    if (place === 'query' && isUnlisted(name, schema)) return;
    inputs.properties[name] = briefly(name, schema);
    if (isRequired) inputs.required.push(name);
  };
  for (const place of ['params', 'query'] as const) {
    const shape = operation[place];
    if (!(shape instanceof z.ZodObject)) continue;
    for (const [name, field] of Object.entries(shape.shape)) {
      const own = z.instanceof(z.ZodType).parse(field);
      const { description, ...schema } = toolSchemaOf(own, 'output');
      const { default: _default, ...bare } = schema;
      const said = PAGING.includes(name) ? bare : description === undefined ? schema : { ...schema, description };
      add(place, name, said, place === 'params' || !own.safeParse(undefined).success);
    }
  }
  if (!isChange(operation)) return inputs;
  const body = toolSchemaOf(operation.body, 'input');
  const fields = isRecord(body.properties) ? body.properties : {};
  const required = Array.isArray(body.required) ? body.required : [];
  for (const [name, schema] of Object.entries(fields)) {
    if (isRecord(schema))
      add(
        'body',
        name,
        operation.method === 'PATCH' ? unsaid(namesBelow(schema)) : namesBelow(schema),
        required.includes(name),
      );
  }
  Object.assign(inputs.properties, OF_EVERY_CHANGE);
  return inputs;
}

/** Example arguments: the required ones, or one optional argument if none is required. */
function exampleArguments({ properties, required }: Inputs, operation: Operation): Json {
  const optional = Object.keys(properties).find((name) => !PAGING.includes(name) && !(name in OF_EVERY_CHANGE));
  const names = required.length > 0 ? required : operation.method === 'GET' && optional ? [optional] : [];
  const source = { named: {}, id: idExample(operation.path) };
  return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name], source, name)]));
}

function sentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

export function bind(operation: Operation): Bound {
  const inputs = inputsOf(operation);
  const { readOnly, destructive, idempotent } = operation.hints;
  const cost = operation.isPriced && !/credit/i.test(operation.description) ? ' Costs credits with a data key.' : '';
  const example = JSON.stringify(exampleArguments(inputs, operation));
  const output = toolSchemaOf(operation.response, 'output');
  return {
    operation,
    outputSchema: { ...output, type: 'object' },
    untrusted: untrustedPaths(output),
    tool: {
      name: operation.id,
      description: `${sentence(operation.summary)} ${sentence(operation.description)}${cost} Example: ${example}`,
      inputSchema: {
        type: 'object',
        properties: inputs.properties,
        ...(inputs.required.length > 0 ? { required: inputs.required } : {}),
      },
      annotations: {
        readOnlyHint: readOnly,
        destructiveHint: destructive,
        idempotentHint: idempotent,
        openWorldHint: false,
      },
    },
    prepare: (args) => prepare(operation, inputs, args),
  };
}

function prepare(operation: Operation, inputs: Inputs, args: Json): Prepared {
  const { raw, problems } = readArguments(operation, inputs, args);
  if (problems.length > 0) throw validationError(problems);
  const prepared = operation.prepare(raw);
  if (prepared.ignored.length === 0) return prepared;
  throw validationError(prepared.ignored.map((name) => unknown(name.replace(/^body\./, ''), [])));
}

/** Unknown arguments are errors, because a misspelt filter would match, and charge for, everything. */
function unknown(field: string, names: readonly string[]): Problem {
  const near = names.find((name) => distance(name, field) <= 2 || name.includes(field) || field.includes(name));
  const meant = near === undefined ? '' : ` Did you mean ${near}?`;
  const known = names.length > 0 ? ` It takes ${names.join(', ')}.` : '';
  return { field, code: 'unknown', message: `is not an argument of this tool.${meant}${known}` };
}

function readArguments(operation: Operation, { places, properties }: Inputs, args: Json) {
  const raw: RawInput = { params: {}, query: {}, body: undefined, answer: 'json' };
  const body: Json = {};
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(args)) {
    const place = places.get(name);
    if (place === 'body') body[name] = value;
    else if (isChange(operation) && name === 'idempotency_key') continue;
    else if (isChange(operation) && name === 'mode') raw.query.mode = String(value);
    else if (place === undefined) problems.push(unknown(name, [...places.keys()]));
    else if (value !== null) {
      const schema = properties[name] ?? (name === 'offset' ? { type: 'integer' } : {});
      const text = textOf(value, schema);
      if (text === undefined) problems.push(notText(name, value, schema));
      else raw[place][name] = text;
    }
  }
  if ([...places.values()].includes('body')) raw.body = body;
  return { raw, problems };
}

const typesOf = ({ type }: Json): unknown[] => (Array.isArray(type) ? type : [type]);

/** A JSON value as URL text; undefined if it has the wrong type for the field. */
function textOf(value: unknown, schema: Json): string | undefined {
  if (typeof value === 'string') return value;
  const types = typesOf(schema);
  if (typeof value === 'number')
    return types.includes('integer') || types.includes('number') ? String(value) : undefined;
  if (typeof value === 'boolean') return types.includes('boolean') ? String(value) : undefined;
  if (!Array.isArray(value) || !types.includes('array')) return undefined;
  return value.every((one) => typeof one === 'string' && !one.includes(',')) ? value.join(',') : undefined;
}

function notText(field: string, value: unknown, schema: Json): Problem {
  const given = Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
  const wanted = typesOf(schema).filter((type) => type !== undefined && type !== 'null');
  return { field, code: 'invalid_type', message: `must be one ${wanted.join(' or ') || 'text'}; got ${given}.` };
}
