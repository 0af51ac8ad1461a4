import type { Plugin } from 'vite';
import { z } from 'zod';
import { isTool } from '../src/interfaces/mcp/catalog.ts';
import { operations, sessionOperations } from '../src/interfaces/nouns.ts';
import type { Operation } from '../src/kit/operation/operation.ts';
import { listDeclaredFields } from './declared-fields.ts';

type Outlined = 'array' | 'object';

/** The least that somebody must be: 0 a viewer, 1 a manager, 2 an owner. */
const toRank = ({ hints, ownersOnly, forViewers }: Operation) =>
  ownersOnly ? 2 : hints.readOnly || forViewers ? 0 : 1;

/** What every answer of an operation has at its top, such as a list's `data`: enough to tell it from another server's. */
function outlineAnswer({ response, later }: Operation): Record<string, Outlined> {
  if (later) return { data: 'object' };
  if (!(response instanceof z.ZodObject)) return {};
  const parts = Object.entries(response.shape).flatMap(([name, part]): [string, Outlined][] => {
    if (part instanceof z.ZodArray) return [[name, 'array']];
    return part instanceof z.ZodObject ? [[name, 'object']] : [];
  });
  return Object.fromEntries(parts);
}

/** A closed list of a parameter, a field of the body, or a field of the answer's rows. */
function toLists({ query, body, response }: Operation): Record<string, readonly string[]> {
  const rows = response instanceof z.ZodObject ? response.shape.data : undefined;
  const row = rows instanceof z.ZodArray ? rows.element : rows;
  const shapes = [query, body, row].filter((shape) => shape instanceof z.ZodObject);
  const fields = shapes.toReversed().flatMap((shape) => listDeclaredFields(shape));
  return Object.fromEntries(fields.flatMap(({ name, values }) => (values ? [[name, values]] : [])));
}

const all: readonly Operation[] = [...operations, ...sessionOperations];
const byId = <T>(toEntry: (operation: Operation) => T) => Object.fromEntries(all.map((one) => [one.id, toEntry(one)]));

/**
 * The parts of the declarations that the app needs at run time. `operations`: method, path, rank and the answer's
 * outline, for calls. `forms`: the fields of bodies. `lists`: closed lists. `tools`: the tools of agents, by their part.
 */
const MODULES: Readonly<Record<string, () => object>> = {
  operations: () => byId((one) => [one.method, one.path, toRank(one), outlineAnswer(one)]),
  forms: () => byId((one) => (one.method === 'GET' ? undefined : listDeclaredFields(one.body))),
  lists: () => byId(toLists),
  tools: () =>
    [...Map.groupBy(operations.filter(isTool), ({ tag }) => tag)].map(([tag, its]) => [
      tag,
      its.map(({ id, summary }) => [id, summary]),
    ]),
};

export function operationsPlugin(): Plugin {
  const toName = (id: string) => /^\0?virtual:(\w+)$/.exec(id)?.[1] ?? '';
  return {
    name: 'operations',
    resolveId: (id) => (id.startsWith('virtual:') && MODULES[toName(id)] ? `\0${id}` : undefined),
    load: (id) => {
      const make = id.startsWith('\0') ? MODULES[toName(id)] : undefined;
      return make && `export const ${toName(id)} = ${JSON.stringify(make())};`;
    },
  };
}
