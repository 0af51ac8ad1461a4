import { distance } from 'fastest-levenshtein';
import { validationError } from '../values/errors.ts';
import { isRecord } from '../values/wire.ts';
import type { Bound, Tool } from './tools.ts';

const anything = { type: 'object', additionalProperties: true };
const hints = (readOnlyHint: boolean) => ({
  readOnlyHint,
  destructiveHint: !readOnlyHint,
  idempotentHint: readOnlyHint,
  openWorldHint: false,
});

function tool(name: string, description: string, properties: Tool['inputSchema']['properties']): Tool {
  return {
    name,
    description,
    inputSchema: { type: 'object', properties, required: Object.keys(properties) },
    annotations: hints(name !== 'write'),
  };
}

const operation = { type: 'string', description: 'The name of an operation, as search_operations gives it.' };

/** Four tools for all operations: a host may let an agent read by itself and ask a person before it writes. */
export const SEARCH_TOOLS: readonly Tool[] = [
  tool(
    'search_operations',
    'Finds the operations for a piece of work, best first. Use it first. Free. Example: {"query":"discount codes"}',
    { query: { type: 'string', minLength: 1, maxLength: 200, description: 'A few words.' } },
  ),
  tool(
    'describe_operation',
    'What an operation does, costs and takes, as JSON Schema. Use it before read or write. Free. Example: {"operation":"create_campaign"}',
    { operation },
  ),
  tool(
    'read',
    'Calls an operation that changes nothing. Costs what the operation costs. Example: {"operation":"list_campaigns","arguments":{"limit":5}}',
    { operation, arguments: anything },
  ),
  tool(
    'write',
    'Calls an operation that changes something; arguments may have mode: "plan" and idempotency_key. Free. Example: {"operation":"create_campaign","arguments":{"name":"Summer launch"}}',
    { operation, arguments: anything },
  ),
];

const wordsOf = (text: string) => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
const FOUND = 10;

/** How well an operation answers a query: whole words of its name count most, then of what it says; near words a little. */
function scoreOf(query: readonly string[], { name, description }: Tool): number {
  const names = wordsOf(name);
  const said = new Set(wordsOf(description));
  const stem = (word: string) => word.replace(/s$/, '');
  return query.reduce((score, word) => {
    if (names.some((one) => stem(one) === stem(word))) return score + 5;
    if (said.has(word) || said.has(stem(word))) return score + 2;
    return names.some((one) => word.length > 4 && distance(one, word) <= 2) ? score + 1 : score;
  }, 0);
}

export function searchOperations(query: unknown, tools: readonly Tool[]) {
  if (typeof query !== 'string' || query.trim() === '') {
    throw validationError([{ field: 'query', code: 'required', message: 'is required: a few words.' }]);
  }
  const words = wordsOf(query);
  return tools
    .map((one) => ({ one, score: scoreOf(words, one) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, FOUND)
    .map(({ one: { name, description, annotations } }) => ({ name, description, reads: annotations.readOnlyHint }));
}

/** The operation that `read` or `write` is to call, and its own arguments. */
export function readCall(name: string, args: Record<string, unknown>, find: (name: string) => Bound | undefined) {
  const bound = typeof args.operation === 'string' ? find(args.operation) : undefined;
  if (!bound) {
    const message = 'names no operation; search_operations finds them.';
    throw validationError([{ field: 'operation', code: 'unknown', message }]);
  }
  const { readOnly } = bound.operation.hints;
  if (name !== 'describe_operation' && readOnly !== (name === 'read')) {
    const message = `is called with ${readOnly ? 'read' : 'write'}, not with ${name}.`;
    throw validationError([{ field: 'operation', code: 'invalid', message }]);
  }
  const own = args.arguments ?? {};
  if (!isRecord(own))
    throw validationError([{ field: 'arguments', code: 'invalid_type', message: 'must be an object.' }]);
  return { bound, own };
}
