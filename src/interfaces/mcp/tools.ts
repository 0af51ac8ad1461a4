import { z } from 'zod';
import type { RawInput } from '../../kit/operation/input.ts';
import { listTypes, type SchemaNode } from '../../kit/operation/json-schema.ts';
import { isChange, type Operation, type PreparedOperation, takesKey } from '../../kit/operation/operation.ts';
import { type Problem, validationError } from '../../kit/values/errors.ts';
import { findNearestName } from '../../kit/values/nearest-name.ts';
import { untrustedPaths } from '../../kit/values/untrusted.ts';
import { toToolSchema } from './input-schema.ts';
import { factsFor, type Inputs, listInputs } from './inputs.ts';
import { parseTexts } from './text-arguments.ts';

interface Annotations {
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint: boolean;
}

export interface Tool {
  name: string;
  description: string;
  inputSchema: { type: 'object'; properties: Record<string, SchemaNode>; required?: string[] };
  outputSchema?: { type: 'object'; [key: string]: unknown };
  annotations: Annotations;
}

/** An operation as a tool, and how its arguments are read. */
export interface Bound {
  operation: Operation;
  tool: Tool;
  outputSchema: Tool['outputSchema'];
  /** Response fields that people outside the brand write, such as `data[].message`. */
  untrusted: readonly string[];
  /** Validates a tool's arguments by the operation's shapes. Unknown arguments throw VALIDATION_ERROR too. */
  prepare(args: SchemaNode): PreparedOperation;
}

function sentence(text: string): string {
  const trimmedText = text.trim();
  return /[.!?]$/.test(trimmedText) ? trimmedText : `${trimmedText}.`;
}

/** Hints that equal the protocol's defaults are left out: every agent pays for each word of the list. */
function annotate({ readOnly, destructive, idempotent }: Operation['hints']): Annotations {
  // A tool that only reads is neither destructive nor not idempotent.
  if (readOnly) return { readOnlyHint: true, openWorldHint: false };
  return {
    ...(destructive ? {} : { destructiveHint: false }),
    ...(idempotent ? { idempotentHint: true } : {}),
    openWorldHint: false,
  };
}

/** Renames the operations that a text names by method and path, and leaves out what only a header of an answer says. */
function withoutRest(text: string, nameTool: NameTool): string {
  return text
    .replace(/ ?The header `X-[^.]*\.(?: It is absent[^.]*\.)?/g, '')
    .replace(
      /(?:`?(GET|POST|PATCH|PUT|DELETE) )?`?(\/v1\/[\w/{}-]+)`?/g,
      (whole, method: string | undefined, path: string) => nameTool(method, path) ?? whole,
    );
}

function mapDescriptions(
  properties: Record<string, SchemaNode>,
  change: (text: string) => string,
): Record<string, SchemaNode> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const { description } = schema;
      return [name, typeof description === 'string' ? { ...schema, description: change(description) } : schema];
    }),
  );
}

/** The tool of a path, by the method if the text names one. */
export type NameTool = (method: string | undefined, path: string) => string | undefined;

export function bind(operation: Operation, nameTool: NameTool, isWhole = false): Bound {
  const inputs = listInputs(operation, isWhole);
  const { description = operation.description } = factsFor(operation);
  const cost = operation.isPriced && !/credit/i.test(description) ? ' Costs credits with a data key.' : '';
  const example = JSON.stringify(inputs.example);
  const output = toToolSchema(operation.response, 'output');
  return {
    operation,
    outputSchema: { ...output, type: 'object' },
    untrusted: untrustedPaths(output),
    tool: {
      name: operation.id,
      description: `${sentence(operation.summary)} ${sentence(withoutRest(description, nameTool))}${cost} Example: ${example}`,
      inputSchema: {
        type: 'object',
        properties: mapDescriptions(inputs.properties, (text) => withoutRest(text, nameTool)),
        ...(inputs.required.length > 0 ? { required: inputs.required } : {}),
      },
      annotations: annotate(operation.hints),
    },
    prepare: (args) => prepare(operation, inputs, args),
  };
}

function prepare(operation: Operation, inputs: Inputs, args: SchemaNode): PreparedOperation {
  const { raw, problems } = readArguments(operation, inputs, args);
  if (problems.length > 0) throw validationError(problems);
  const preparedOperation = operation.prepare(raw);
  if (preparedOperation.ignored.length === 0) return preparedOperation;
  throw validationError(preparedOperation.ignored.map((name) => unknown(name.replace(/^body\./, ''), [])));
}

/** Unknown arguments are errors, because a misspelt filter would match, and charge for, everything. */
function unknown(field: string, names: readonly string[]): Problem {
  const near = findNearestName(field, names);
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  const knownNames = names.length > 0 ? ` It takes ${names.join(', ')}.` : '';
  return { field, code: 'unknown', message: `is not an argument of this tool.${hint}${knownNames}` };
}

/** True if a field of a body may be null. */
const takesNull = ({ body }: Operation, name: string): boolean =>
  !(body instanceof z.ZodObject) || z.safeParse(body.shape[name] ?? z.unknown(), null).success;

/** Models write null for an argument that they leave out. An update that cannot clear a field says so instead. */
const isLeftOut = (operation: Operation, name: string, value: unknown): boolean =>
  value === null && operation.method !== 'PATCH' && !takesNull(operation, name);

function readArguments(operation: Operation, { places, schemas }: Inputs, args: SchemaNode) {
  const raw: RawInput = { params: {}, query: {}, body: undefined, answer: 'json' };
  const body: SchemaNode = {};
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(args)) {
    const place = places.get(name);
    const isMode = isChange(operation) && name === 'mode';
    if (isMode ? value === null : place === 'body' && isLeftOut(operation, name, value)) continue;
    if (place === 'body') body[name] = parseTexts(value, schemas[name] ?? {}, name, problems);
    else if ((takesKey(operation) || operation.isPriced) && name === 'idempotency_key') continue;
    else if (isMode) raw.query.mode = String(value);
    else if (place === undefined) problems.push(unknown(name, [...places.keys()]));
    else if (value !== null) {
      const schema = schemas[name] ?? {};
      const text = toText(value, schema);
      const list = place === 'query' ? toList(value, schema) : undefined;
      if (list) raw.query[name] = list;
      else if (text === undefined) problems.push(notText(name, value, schema));
      else raw[place][name] = text;
    }
  }
  if ([...places.values()].includes('body')) raw.body = body;
  return { raw, problems };
}

/** A JSON value as URL text; undefined if it has the wrong type for the field. */
function toText(value: unknown, schema: SchemaNode): string | undefined {
  if (typeof value === 'string') return value;
  const types = listTypes(schema);
  if (typeof value === 'number')
    return types.includes('integer') || types.includes('number') ? String(value) : undefined;
  return typeof value === 'boolean' && types.includes('boolean') ? String(value) : undefined;
}

/** The values of a list, which a query may give one at a time, and some hosts as the text of a JSON array. */
function toList(sent: unknown, schema: SchemaNode): string[] | undefined {
  if (!listTypes(schema).includes('array')) return undefined;
  const value = typeof sent === 'string' && /^\s*\[/.test(sent) ? parseTexts(sent, schema, '', []) : sent;
  if (!Array.isArray(value)) return undefined;
  const texts = value.map((one) => toText(one, { type: ['string', 'integer'] }));
  return texts.every((one) => one !== undefined) ? texts : undefined;
}

function notText(field: string, value: unknown, schema: SchemaNode): Problem {
  const givenType = Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
  const wantedTypes = listTypes(schema).filter((type) => type !== undefined && type !== 'null');
  return {
    field,
    code: 'invalid_type',
    message: `must be one ${wantedTypes.join(' or ') || 'text'}; got ${givenType}.`,
  };
}
