import { z } from 'zod';
import { GENERIC_STORE_SHAPES } from '../../stores/providers/generic-schema.ts';
import { type ErrorCode, STATUS } from '../../values/errors.ts';
import type { Operation } from '../operation.ts';

type Json = Record<string, unknown>;

/** Codes that every operation can answer. */
const COMMON: readonly ErrorCode[] = [
  'AUTH_REQUIRED',
  'INVALID_API_KEY',
  'RATE_LIMITED',
  'VALIDATION_ERROR',
  'NOT_ACCEPTABLE',
  'REQUEST_TOO_LONG',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
];
/** Codes that every POST, PATCH and DELETE can answer: each is a change, whose answer is kept under the caller's key. */
const OF_CHANGES: readonly ErrorCode[] = [
  'INVALID_JSON',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'IDEMPOTENCY_KEY_REUSED',
];

const ErrorAnswer = z
  .looseObject({
    error: z.string().describe('For people.'),
    code: z.string().describe('For programs: branch on this.'),
    details: z.array(z.object({ field: z.string(), code: z.string(), message: z.string() })).optional(),
    request_id: z.string(),
  })
  .meta({ id: 'Error' });

/** A Date here is text on the wire; an e-mail address is what its pattern says, which is narrower than the format. */
function writeForm({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: Json }): void {
  if (jsonSchema.format === 'email' && jsonSchema.pattern !== undefined) delete jsonSchema.format;
  if (zodSchema._zod.def.type !== 'date') return;
  jsonSchema.type = 'string';
  jsonSchema.format = 'date-time';
}

/** A shape as JSON Schema; shapes with an id are collected in `components`. */
function schemaOf(shape: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const {
    $schema: _schema,
    $defs,
    ...schema
  } = z.toJSONSchema(shape, { io, unrepresentable: 'any', override: writeForm });
  const rewritten: unknown = JSON.parse(
    JSON.stringify({ schema, $defs }).replaceAll('"#/$defs/', '"#/components/schemas/'),
  );
  const { schema: own, $defs: named = {} } = z
    .object({ schema: z.record(z.string(), z.unknown()), $defs: z.record(z.string(), z.unknown()).optional() })
    .parse(rewritten);
  for (const [id, definition] of Object.entries(named)) components[id] = definition;
  if (typeof own.id === 'string') {
    const { id, ...definition } = own;
    components[own.id] = definition;
    return { $ref: `#/components/schemas/${id}` };
  }
  return own;
}

function parametersOf(shape: z.ZodType, place: 'query' | 'path', components: Json): Json[] {
  if (!(shape instanceof z.ZodObject)) return [];
  return Object.entries(shape.shape).map(([name, field]) => {
    const { description, ...schema } = schemaOf(z.instanceof(z.ZodType).parse(field), 'output', components);
    const required = place === 'path' || !z.instanceof(z.ZodType).parse(field).safeParse(undefined).success;
    return { name, in: place, required, ...(description ? { description } : {}), schema };
  });
}

const headerRef = (name: string) => ({ $ref: `#/components/headers/${name}` });
const HEADERS = {
  'X-RateLimit-Limit': { description: 'Calls per window.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Calls left in this window.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: "The window's end, UTC epoch seconds.", schema: { type: 'integer' } },
  'X-Request-Id': { description: 'Names this request in errors and logs.', schema: { type: 'string' } },
};
const EVERY_HEADER = Object.fromEntries(Object.keys(HEADERS).map((name) => [name, headerRef(name)]));

const isChange = ({ method }: Operation) => method !== 'GET';

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Names this call: sent again within 24 hours it gets the first answer, with `Idempotency-Replayed: true`, and changes ' +
    'nothing. With another body it is 409 IDEMPOTENCY_KEY_REUSED. Scoped to the brand; a blank one is none.',
  schema: { type: 'string', maxLength: 255, pattern: '^[!-~]*$' },
};

function responsesOf(operation: Operation, components: Json): Json {
  const codes = [...new Set([...COMMON, ...(isChange(operation) ? OF_CHANGES : []), ...operation.errors])];
  if (!operation.callers.includes('data')) codes.push('BRAND_KEY_REQUIRED');
  const error = schemaOf(ErrorAnswer, 'output', components);
  const byStatus: Map<number, ErrorCode[]> = Map.groupBy(codes, (code) => STATUS[code]);
  byStatus.set(414, ['REQUEST_TOO_LONG']);
  const failures = [...byStatus].map(([status, its]): [string, Json] => [
    String(status),
    { description: its.join(' or '), headers: EVERY_HEADER, content: { 'application/json': { schema: error } } },
  ]);
  const success = {
    description: 'OK',
    headers: EVERY_HEADER,
    content: { 'application/json': { schema: schemaOf(operation.response, 'output', components) } },
  };
  return Object.fromEntries([[String(operation.status), success], ...failures]);
}

function describe(operation: Operation, components: Json): Json {
  const hasBody = operation.method !== 'GET' && operation.method !== 'DELETE';
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: `${operation.description}\n\nKeys: ${operation.callers.join(' or ')}.`,
    parameters: [
      ...parametersOf(operation.params, 'path', components),
      ...parametersOf(operation.query, 'query', components),
      ...(isChange(operation) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ],
    ...(hasBody
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemaOf(operation.body, 'input', components) } },
          },
        }
      : {}),
    responses: responsesOf(operation, components),
    security: [{ apiKey: [] }],
    'x-callers': operation.callers,
    'x-hints': operation.hints,
  };
}

/** The OpenAPI 3.1 document of the operations, and of nothing else. */
export function openapiDocument(operations: readonly Operation[]): Json {
  const components: Json = {};
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = paths[operation.path] ?? {};
    path[operation.method.toLowerCase()] = describe(operation, components);
    paths[operation.path] = path;
  }
  for (const shape of GENERIC_STORE_SHAPES) schemaOf(shape, 'input', components);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Rollcall',
      version: '1',
      description:
        "The API behind a brand's work with content creators. Authorize with an API key, then try a call here.",
    },
    servers: [{ url: '/' }],
    tags: [...new Set(operations.map((operation) => operation.tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: components,
      headers: HEADERS,
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'svk_…, 44 characters' } },
    },
  };
}
