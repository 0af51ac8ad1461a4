import { z } from 'zod';
import { EXAMPLE_ORIGIN } from './introduction.ts';

interface Sample {
  lang: string;
  label: string;
  source: string;
}

const Operation = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()),
  parameters: z.array(z.record(z.string(), z.unknown())),
  requestBody: z
    .object({
      content: z.record(
        z.string(),
        z.object({ schema: z.record(z.string(), z.unknown()), example: z.unknown().optional() }),
      ),
    })
    .optional(),
});

const IDENTIFIER = /^[a-z_]\w*$/i;
const WIDTH = 72;

/** A value as TypeScript: short objects and lists on one line, others broken as a formatter would. */
function toTypeScript(value: unknown, indent = ''): string {
  if (typeof value === 'string')
    return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((one) => toTypeScript(one, inner))
    : Object.entries(value).map(([name, one]) => {
        const key = IDENTIFIER.test(name) ? name : `'${name}'`;
        return `${key}: ${toTypeScript(one, inner)}`;
      });
  const [open, close, space] = Array.isArray(value) ? ['[', ']', ''] : ['{', '}', ' '];
  if (parts.length === 0) return `${open}${close}`;
  const line = `${open}${space}${parts.join(', ')}${space}${close}`;
  if (!line.includes('\n') && line.length + indent.length <= WIDTH) return line;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}

const PYTHON_WORDS: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [true, 'True'],
  [false, 'False'],
  [null, 'None'],
]);

/** A value as Python, broken like the TypeScript. */
function toPython(value: unknown, indent = ''): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return PYTHON_WORDS.get(value) ?? String(value);
  const inner = `${indent}    `;
  const parts = Array.isArray(value)
    ? value.map((one) => toPython(one, inner))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${toPython(one, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const line = `${open}${parts.join(', ')}${close}`;
  if (!line.includes('\n') && line.length + indent.length <= WIDTH) return line;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}

interface Arguments {
  id: string;
  tag: string;
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
  /** The name of the body's schema, if it is one object. */
  model: string | undefined;
}

const camelCase = (id: string): string => id.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
/** A name as the generator of the Python client writes it: marks such as apostrophes are left out. */
const snakeCase = (name: string): string =>
  name
    .replaceAll(/[^\w\s-]+/g, '')
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/[\s-]+/g, '_')
    .toLowerCase();

function typescriptSample({ id, path, query, body }: Arguments): string {
  const call = camelCase(id);
  const given: [string, unknown][] = [
    ['path', path],
    ['query', query],
    ['body', body],
  ];
  const options = given.filter(([, value]) => Object.keys(Object(value)).length > 0);
  const lines = options.map(([name, value]) => `  ${name}: ${toTypeScript(value, '  ')},\n`).join('');
  const argument = options.length === 0 ? '{ client }' : `{\n  client,\n${lines}}`;
  return `import { answerOf, openRollcall } from '@rollcall/client';
import { ${call} } from '@rollcall/client/operations';

const client = openRollcall({
  baseUrl: '${EXAMPLE_ORIGIN}',
  key: process.env.ROLLCALL_KEY ?? '',
});

const answer = await answerOf(${call}(${argument}));
`;
}

function pythonSample({ id, tag, path, query, body, model }: Arguments): string {
  const values = Object.values(path).map((value) => toPython(value));
  const named = Object.entries(query).map(([name, value]) => `${snakeCase(name)}=${toPython(value, '    ')}`);
  const models = body === undefined ? '' : `from rollcall.generated.models import ${model}\n`;
  const bodies = body === undefined ? [] : [`body=${model}.from_dict(${toPython(body, '    ')})`];
  const given = [...values, 'client=client', ...named, ...bodies];
  const line = `answer_of(${id}.sync(${given.join(', ')}))`;
  const call =
    line.includes('\n') || line.length > WIDTH
      ? `answer_of(${id}.sync(\n${given.map((one) => `    ${one},\n`).join('')}))`
      : line;
  return `import os

from rollcall import answer_of, open_rollcall
from rollcall.generated.api.${snakeCase(tag)} import ${id}
${models}
client = open_rollcall(os.environ["ROLLCALL_KEY"], "${EXAMPLE_ORIGIN}")

answer = ${call}
`;
}

/** The parameters of a place that a first call gives: those that are required, and the filters that find creators together. */
function listArguments(operation: z.infer<typeof Operation>, place: 'path' | 'query'): Record<string, unknown> {
  const isSearch = operation.tags.includes('Directory');
  return Object.fromEntries(
    operation.parameters.flatMap((parameter) => {
      const example = parameter.example ?? Object(parameter.schema).example;
      const isGiven = parameter.required === true || isSearch;
      return parameter.in === place && isGiven && example !== undefined ? [[String(parameter.name), example]] : [];
    }),
  );
}

/** Code that calls an operation with each client; none for an upload, whose file only a program has. */
export function listSamples(declared: unknown): Sample[] {
  const operation = Operation.parse(declared);
  const contents = operation.requestBody?.content ?? {};
  if ('multipart/form-data' in contents) return [];
  const json = contents['application/json'];
  const given = {
    id: operation.operationId,
    tag: operation.tags[0] ?? '',
    path: listArguments(operation, 'path'),
    query: listArguments(operation, 'query'),
    body: json?.example,
    model: json && String(json.schema.$ref).split('/').at(-1),
  };
  return [
    { lang: 'typescript', label: 'TypeScript', source: typescriptSample(given) },
    { lang: 'python', label: 'Python', source: pythonSample(given) },
  ];
}
