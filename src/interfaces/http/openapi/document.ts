import { z } from 'zod';
import { GENERIC_STORE_SHAPES } from '../../../affiliates/stores/formats/generic.shapes.ts';
import { mayBeBare } from '../../../kit/operation/input.ts';
import { idExample, idInPath, makeExample, type SchemaNode, toJsonSchema } from '../../../kit/operation/json-schema.ts';
import {
  FOUND_STATUS,
  isChange,
  LATER_STATUS,
  type Operation,
  PLANNED_STATUS,
  takesKey,
} from '../../../kit/operation/operation.ts';
import { Planned } from '../../../kit/operation/plans.ts';
import type { Variant } from '../../../kit/outbox/events.ts';
import { ERROR_CODES, type ErrorCode, STATUS } from '../../../kit/values/errors.ts';
import { SEPARATOR } from '../../../kit/values/page.ts';
import { tags } from '../../nouns.ts';
import { constrainInputs } from './inputs.ts';
import { INTRODUCTION } from './introduction.ts';
import { Refusal, refusalExample, refusalName } from './refusals.ts';
import { type Announced, describeWebhooks } from './webhooks.ts';

/** One of the two API versions, as its document describes it. */
export interface Interface {
  variant: Variant;
  operations: readonly Operation[];
  events: readonly Announced[];
}

/** Error codes that every operation can return. */
const COMMON: readonly ErrorCode[] = [
  'AUTH_REQUIRED',
  'INVALID_API_KEY',
  'ADDRESS_NOT_ALLOWED',
  'RATE_LIMITED',
  'VALIDATION_ERROR',
  'NOT_ACCEPTABLE',
  'REQUEST_TOO_LONG',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
];
/** Error codes of every operation that takes a body. */
const OF_BODIES: readonly ErrorCode[] = ['INVALID_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

interface Collected {
  schemas: SchemaNode;
  operation: Operation;
  variant: Variant;
}

/** A shape as JSON Schema; shapes with an id are collected. */
function toSchema(shape: z.ZodType, io: 'input' | 'output', { schemas }: Pick<Collected, 'schemas'>): SchemaNode {
  const { schema, named } = toJsonSchema(shape, io, '#/components/schemas/');
  Object.assign(schemas, named);
  if (typeof schema.id !== 'string') return schema;
  const { id, ...definition } = schema;
  schemas[schema.id] = definition;
  return { $ref: `#/components/schemas/${id}` };
}

const pascalCase = (name: string) => name.replace(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase());

/** A body as a named schema with an example, so that generated clients have good type names. */
function toContent(shape: z.ZodType, io: 'input' | 'output', collected: Collected): SchemaNode {
  const { operation, schemas } = collected;
  let schema = toSchema(shape, io, collected);
  if (schema.$ref === undefined) {
    const name = `${pascalCase(operation.id)}${io === 'input' ? 'Request' : 'Answer'}`;
    schemas[name] = schema;
    schema = { $ref: `#/components/schemas/${name}` };
  }
  const example = makeExample(schema, { named: schemas, id: idExample(operation.path) });
  return { 'application/json': { schema, example } };
}

/** A list in the query is one comma-separated parameter, or is repeated where values may have commas. */
function listParameters(shape: z.ZodType, place: 'query' | 'path', collected: Collected): SchemaNode[] {
  if (!(shape instanceof z.ZodObject)) return [];
  return Object.entries(shape.shape).map(([name, field]) => {
    const own = z.instanceof(z.ZodType).parse(field);
    const { description, [SEPARATOR]: separator, ...schema } = toSchema(own, 'output', collected);
    // Declared as it is written in a URL.
    if (schema.type === 'array' && typeof schema.example === 'string') schema.example = schema.example.split(',');
    const required = place === 'path' || !own.safeParse(undefined).success;
    const source = { named: collected.schemas, id: idInPath(collected.operation.path) };
    const example = required ? { example: makeExample(schema, source, name) } : {};
    const style = schema.type === 'array' ? { style: 'form', explode: separator !== undefined } : {};
    return { name, in: place, required, ...(description ? { description } : {}), schema, ...style, ...example };
  });
}

const headerRef = (name: string) => ({ $ref: `#/components/headers/${name}` });
const HEADERS = {
  'X-RateLimit-Limit': { description: 'Calls per window.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Calls left in this window.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: "The window's end, UTC epoch seconds.", schema: { type: 'integer' } },
  'X-Request-Id': { description: 'Identifies this request in errors and logs.', schema: { type: 'string' } },
};
const EVERY_HEADER = Object.fromEntries(Object.keys(HEADERS).map((name) => [name, headerRef(name)]));

/** The older API has no plans: its clients expect one kind of response to a change. A job is made, or it is not. */
const canBePlanned = ({ operation, variant }: Collected) =>
  variant === 'current' && isChange(operation) && !operation.takesFile && operation.status !== PLANNED_STATUS;

const MODE = {
  name: 'mode',
  in: 'query',
  required: false,
  description:
    '`plan` changes nothing: the response is 202 with every row that would change and a `plan_id`, which a person applies ' +
    'within a day with POST /v1/plans/{id}/apply. The Idempotency-Key is ignored.',
  schema: { type: 'string', enum: ['apply', 'plan'], default: 'apply' },
};

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Identifies this call: a repeat within 24 hours gets the first response, with `Idempotency-Replayed: true`, and changes ' +
    'nothing. With another body it is 409 IDEMPOTENCY_KEY_REUSED; the order of fields does not matter. Scoped to the brand; a ' +
    'blank value is ignored.',
  schema: { type: 'string', maxLength: 255, pattern: '^[!-~]*$' },
};

const PAID_ONCE = {
  ...IDEMPOTENCY_KEY,
  description:
    'With a data key, the same call under the same key is paid once within 24 hours: a repeat is answered again, with ' +
    '`Idempotency-Replayed: true` and `X-Credits-Charged: 0`. Another call under it is 409 IDEMPOTENCY_KEY_REUSED. An ' +
    '`X-Request-Id` of your own does the same for 10 minutes, and is never refused; it has 1 to 200 letters, digits and ' +
    '`_.:/=+@-`, and begins with a letter or digit.',
};

function plannedResponse(schemas: SchemaNode): SchemaNode {
  const schema = toSchema(Planned, 'output', { schemas });
  const example = makeExample(schema, { named: schemas, id: 'pln_0Uo3xK2mVdT2aXs7LpRb' });
  const description = 'With `mode=plan`: the changes that would be made. Nothing has changed.';
  return { description, headers: EVERY_HEADER, content: { 'application/json': { schema, example } } };
}

function refusalResponses(schemas: SchemaNode): SchemaNode {
  const schema = toSchema(Refusal, 'output', { schemas });
  const byStatus: Map<number, ErrorCode[]> = Map.groupBy(ERROR_CODES, (code) => STATUS[code]);
  byStatus.set(414, ['REQUEST_TOO_LONG']);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]): [string, SchemaNode] => {
      const content = { 'application/json': { schema, example: refusalExample(status) } };
      return [refusalName(status), { description: codes.join(' or '), headers: EVERY_HEADER, content }];
    }),
  );
}

function listResponses(operation: Operation, collected: Collected): SchemaNode {
  const codes: ErrorCode[] = [...COMMON];
  if (operation.method !== 'GET') codes.push(...OF_BODIES);
  if (takesKey(operation)) codes.push('IDEMPOTENCY_KEY_REUSED');
  codes.push(...operation.errors);
  if (!operation.callers.includes('data')) codes.push('BRAND_KEY_REQUIRED');
  const byStatus: Map<number, ErrorCode[]> = Map.groupBy(new Set(codes), (code) => STATUS[code]);
  byStatus.set(414, ['REQUEST_TOO_LONG']);
  const failures = [...byStatus].map(([status, its]): [string, SchemaNode] => [
    String(status),
    { $ref: `#/components/responses/${refusalName(status)}`, description: its.join(' or ') },
  ]);
  const success = {
    description: 'OK',
    headers: EVERY_HEADER,
    content: toContent(operation.response, 'output', collected),
  };
  const existingAnswer = { ...success, description: 'It was there before, and stays as it is.' };
  const plannedAnswer = { $ref: '#/components/responses/Planned' };
  const later = operation.later && {
    description: 'The job that does the work, because it takes longer than a call.',
    headers: EVERY_HEADER,
    content: toContent(operation.later.response, 'output', collected),
  };
  const { alternative } = operation;
  const alternatives = (alternative ? [alternative] : []).map((other): [string, SchemaNode] => {
    const content = toContent(other.response, 'output', { ...collected, operation: other });
    return [String(other.status), { description: other.summary, headers: EVERY_HEADER, content }];
  });
  return Object.fromEntries([
    [String(operation.status), success],
    ...(operation.mayFind ? [[String(FOUND_STATUS), existingAnswer]] : []),
    ...alternatives,
    ...(later ? [[String(LATER_STATUS), later]] : []),
    ...(canBePlanned(collected) ? [[String(PLANNED_STATUS), plannedAnswer]] : []),
    ...failures,
  ]);
}

const FILE = { type: 'string', format: 'binary', minLength: 1, description: 'The file, with its name.' };

/** The request body of an upload. It has no example, because a form is not JSON. */
function toForm({ operation, schemas }: Collected): SchemaNode {
  const { example: _json, ...schema } = toSchema(operation.body, 'input', { schemas });
  const properties = z.record(z.string(), z.unknown()).parse(schema.properties);
  const requiredFields = ['file', ...z.array(z.string()).parse(schema.required ?? [])];
  return {
    'multipart/form-data': {
      schema: { ...schema, properties: { file: FILE, ...properties }, required: requiredFields },
    },
  };
}

/** The keys that may call an operation, as a sentence. */
function describeCallers({ callers }: Operation): string {
  const keys = [
    ...(callers.includes('brand') ? ['a brand key'] : []),
    ...(callers.includes('data') ? ['a data key'] : []),
  ];
  return `Call it with ${keys.join(' or ')}.`;
}

function describe(collected: Collected): SchemaNode {
  const { operation } = collected;
  const hasBody = operation.method !== 'GET' && (operation.method !== 'DELETE' || !mayBeBare(operation));
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: `${operation.description}\n\n${describeCallers(operation)}`,
    parameters: [
      ...listParameters(operation.params, 'path', collected),
      ...listParameters(operation.query, 'query', collected),
      ...(takesKey(operation) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      ...(operation.isPriced ? [{ $ref: '#/components/parameters/PaidOnce' }] : []),
      ...(canBePlanned(collected) ? [{ $ref: '#/components/parameters/Mode' }] : []),
    ],
    ...(hasBody
      ? {
          requestBody: {
            required: operation.takesFile === true || !mayBeBare(operation),
            content: {
              ...(operation.takesFile ? toForm(collected) : {}),
              ...(operation.takesFile && !operation.mayOmitFile ? {} : toContent(operation.body, 'input', collected)),
            },
          },
        }
      : {}),
    responses: listResponses(operation, collected),
    security: [{ apiKey: [] }],
    'x-callers': operation.callers,
    'x-hints': operation.hints,
  };
}

function listTags(operations: readonly Operation[]): SchemaNode[] {
  const usedTags = new Set(operations.map(({ tag }) => tag));
  return tags.flatMap(({ name, about }) => (usedTags.has(name) ? [{ name, description: about }] : []));
}

/** The title and description of each document. */
const INFO: Readonly<Record<Variant, SchemaNode>> = {
  current: {
    title: 'Rollcall API',
    version: '1',
    description: INTRODUCTION,
  },
  legacy: {
    title: 'Rollcall API, older interface',
    version: '0',
    description:
      'The same service under `/api/v1`, for clients that were written before `/v1`. Both accept the same keys.\n\n' +
      'New programs should use the [current API](/docs/). [The older interface](/manual/legacy) lists the differences, ' +
      'and every response links to its successor.',
  },
};

/** The OpenAPI 3.1 document of an API version's operations and events. */
export function openapiDocument({ variant, operations, events }: Interface): SchemaNode {
  const schemas: SchemaNode = {};
  const responses = { Planned: plannedResponse(schemas), ...refusalResponses(schemas) };
  const paths: Record<string, SchemaNode> = {};
  for (const operation of operations) {
    const path = paths[operation.path] ?? {};
    path[operation.method.toLowerCase()] = describe({ schemas, operation, variant });
    paths[operation.path] = path;
  }
  for (const shape of GENERIC_STORE_SHAPES) toSchema(shape, 'input', { schemas });
  constrainInputs(paths, schemas);
  return {
    openapi: '3.1.0',
    info: INFO[variant],
    servers: [{ url: '/' }],
    tags: listTags(operations),
    paths,
    webhooks: describeWebhooks(variant, events, (shape) => toSchema(shape, 'output', { schemas })),
    components: {
      schemas,
      responses,
      headers: HEADERS,
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY, PaidOnce: PAID_ONCE, Mode: MODE },
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'A brand key or a data key: `svk_…`, 44 characters.' },
      },
    },
  };
}
