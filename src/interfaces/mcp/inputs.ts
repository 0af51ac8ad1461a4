import { z } from 'zod';
import { exampleId, idInPath, makeExample, type SchemaNode, toJsonSchema } from '../../kit/operation/json-schema.ts';
import { type ForAgents, isChange, type Operation, takesKey } from '../../kit/operation/operation.ts';
import { PLATFORM_NAMES } from '../../kit/values/fields.ts';
import { isRecord } from '../../kit/values/wire.ts';
import { toToolSchema } from './input-schema.ts';

export type Place = 'params' | 'query' | 'body';

/** The arguments of a tool, and where an operation takes each. */
export interface Inputs {
  places: Map<string, Place>;
  /** Every argument, listed or not. */
  schemas: Record<string, SchemaNode>;
  properties: Record<string, SchemaNode>;
  required: string[];
  example: SchemaNode;
}

/** Explained once in the instructions, for every list and every change. */
const PAGING = ['page', 'limit'];
/** Filters whose names say it. */
const PLAIN = [
  'creator_email',
  'campaign_id',
  'link_id',
  'integration_id',
  'order_id',
  'currency',
  'status',
  ...['from', 'to', 'date_from', 'date_to'],
  ...['country', 'creator', 'campaign', 'account', 'method', 'tag', 'type', 'event', 'key_id', 'operation', 'line_id'],
];
/** Parameters of every list that the instructions explain and the tools omit. */
const UNLISTED = ['created_after', 'created_before', 'updated_after', 'offset'];
const MODE = { mode: { enum: ['apply', 'plan'] } } as const;
const KEY = { idempotency_key: { type: 'string' } } as const;

/** An operation's declaration for agents; empty for one that agents cannot call. */
export const factsFor = ({ forAgents }: Operation): ForAgents => (forAgents === false ? {} : forAgents);

const isOmitted = ({ name }: Given, operation: Operation) => factsFor(operation).omits?.includes(name) === true;
const isRestOnly = ({ name }: Given, operation: Operation) => factsFor(operation).restOnly?.includes(name) === true;

function isUnlisted({ place, name, schema }: Given): boolean {
  if (name === 'time_zone') return true;
  if (place !== 'query') return false;
  return UNLISTED.includes(name) || (name === 'sort' && JSON.stringify(schema.enum) === '["newest","oldest"]');
}

/** The first sentence of a description, without what the instructions say of every argument. */
const firstSentence = (text: string): string =>
  text
    .split(/(?<=\.) /, 1)
    .join('')
    .replace(`: ${PLATFORM_NAMES}`, '')
    .replace(/; (?:(?:null|empty|case is ignored)[^;.]*|[^;.]* when omitted)/g, '')
    .replace(/\.$/, '');

const LITTLE_WORDS = [
  ...['the', 'its', 'only', 'with', 'this', 'those', 'new', 'that', 'for', 'and', 'belongs'],
  ...[
    'address',
    'free',
    'number',
    'text',
    'url',
    'when',
    'ends',
    'your',
    'own',
    'gives',
    'mail',
    'what',
    'row',
    'about',
  ],
];
const splitWords = (text: string): string[] => text.toLowerCase().match(/[a-z]{3,}/g) ?? [];

/** True if the names of a tool and its argument have each word of a description, such as "Campaign id", or its beginning. */
function isInNames(text: string, names: readonly string[]): boolean {
  const nameWords = names.flatMap(splitWords);
  const isKnown = (word: string) => LITTLE_WORDS.includes(word) || nameWords.some((name) => word.startsWith(name));
  return splitWords(text).every(isKnown);
}

/** True if a filter's name says as much as its description, or the instructions say it. */
const isPlain = (name: string, text: string) =>
  PAGING.includes(name) || (PLAIN.includes(name) && text.startsWith('Only '));

/** The instructions say which times a window takes. */
const isOfWindow = (text: string) => /^(?:Start|End) of the (?:period|window): /.test(text);

function described({ description, ...schema }: SchemaNode, name: string, { id, method }: Operation): SchemaNode {
  if (typeof description !== 'string' || isOfWindow(description)) return schema;
  if (method === 'GET' && isPlain(name, description)) return schema;
  const text = firstSentence(description);
  return isInNames(text, [id, name]) ? schema : { ...schema, description: text };
}

/** Omits descriptions of the fields below an argument; its own says what matters. */
function bareBelow(schema: SchemaNode): SchemaNode {
  const { items, properties, anyOf } = schema;
  const below = (inner: unknown): unknown => {
    if (!isRecord(inner)) return inner;
    const { description: _description, default: _default, ...bare } = bareBelow(inner);
    return bare;
  };
  return {
    ...schema,
    ...(items === undefined ? {} : { items: below(items) }),
    ...(Array.isArray(anyOf) ? { anyOf: anyOf.map(below) } : {}),
    ...(isRecord(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, below(inner)])) }
      : {}),
  };
}

/** Omits the default, which an update has none of and a parameter's description says. */
const withoutDefault = ({ default: _default, ...schema }: SchemaNode): SchemaNode => schema;

interface Given {
  place: Place;
  name: string;
  /** As a tool has it. */
  schema: SchemaNode;
  isRequired: boolean;
  /** A value that could be real. */
  example: unknown;
}

/** An id in an example shows only its kind, because ids are drawn: `cmp_…`. */
const shortId = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shortId);
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortId(inner)]));
  return typeof value === 'string' ? value.replace(/^([a-z]{2,4}_)0U\w+$/, '$1…') : value;
};

function listParameters(operation: Operation): Given[] {
  const id = idInPath(operation.path);
  return (['params', 'query'] as const).flatMap((place) => {
    const shape = operation[place];
    if (!(shape instanceof z.ZodObject)) return [];
    return Object.entries(shape.shape).map(([name, inputSchema]) => {
      const own = z.instanceof(z.ZodType).parse(inputSchema);
      const { schema, named } = toJsonSchema(own, 'output', '#/$defs/', false);
      const ofKind = { named, id: exampleId(name) ?? id };
      const isId = place === 'params' && schema.example === undefined;
      const example = isId ? ofKind.id : makeExample(schema, ofKind, name);
      const toolSchema = withoutDefault(toToolSchema(own, 'output'));
      const isRequired = place === 'params' || !own.safeParse(undefined).success;
      return { place, name, schema: described(toolSchema, name, operation), isRequired, example };
    });
  });
}

function listFields(operation: Operation): Given[] {
  if (operation.method === 'GET') return [];
  const body = toToolSchema(operation.body, 'input');
  const whole = toJsonSchema(operation.body, 'input', '#/$defs/', false);
  const examples = makeExample(whole.schema, { named: whole.named, id: idInPath(operation.path) });
  const requiredNames = Array.isArray(body.required) ? body.required : [];
  return Object.entries(isRecord(body.properties) ? body.properties : {}).flatMap(([name, schema]) => {
    if (!isRecord(schema)) return [];
    const toolSchema = bareBelow(operation.method === 'PATCH' ? withoutDefault(schema) : schema);
    const own = described(toolSchema, name, operation);
    const example = isRecord(examples) ? examples[name] : undefined;
    return [{ place: 'body' as const, name, schema: own, isRequired: requiredNames.includes(name), example }];
  });
}

/** The required arguments, and the first of the body or the query where none of these is required. */
function exampleArguments(inputs: readonly Given[], operation: Operation): SchemaNode {
  const { example: declared } = factsFor(operation);
  if (declared) return declared;
  const own = inputs.filter(({ place }) => place !== 'params');
  const optional = own.filter(({ name, example }) => !PAGING.includes(name) && example !== 'text');
  const [first] = own.some(({ isRequired }) => isRequired) ? [] : optional;
  const exampleInputs = inputs.filter((one) => one.isRequired || one === first);
  return Object.fromEntries(exampleInputs.map(({ name, example }) => [name, shortId(example)]));
}

/** The arguments of a tool; a whole one lists all that it takes, a brief one those that most agents need. */
export function listInputs(operation: Operation, isWhole: boolean): Inputs {
  const inputs = [...listParameters(operation), ...listFields(operation)];
  const places = new Map(inputs.map(({ name, place }) => [name, place]));
  if (places.size < inputs.length) throw new Error(`${operation.id} has two inputs of one name.`);
  const whole = inputs.filter((one) => !isRestOnly(one, operation));
  const brief = whole.filter((one) => !isOmitted(one, operation) && !isUnlisted(one));
  const listedInputs = isWhole ? whole : brief;
  return {
    places,
    schemas: Object.fromEntries(inputs.map(({ name, schema }) => [name, schema])),
    properties: {
      ...Object.fromEntries(listedInputs.map(({ name, schema }) => [name, schema])),
      ...(isChange(operation) && MODE),
      ...((takesKey(operation) || operation.isPriced) && KEY),
    },
    required: listedInputs.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    example: exampleArguments(brief, operation),
  };
}
