import type { Plugin } from 'vite';
import { z } from 'zod';
import { operations, sessionOperations } from '../src/interfaces/nouns.ts';
import type { Operation } from '../src/kit/operation/operation.ts';

const NAME = 'virtual:operations';

type Outlined = 'array' | 'object';

/** The least that somebody must be: 0 a viewer, 1 a manager, 2 an owner. */
const rankOf = ({ hints, ownersOnly, forViewers }: Operation) =>
  ownersOnly ? 2 : hints.readOnly || forViewers ? 0 : 1;

/** What every answer of an operation has at its top, such as a list's `data`: enough to tell it from another server's. */
function outlineOf({ response, later }: Operation): Record<string, Outlined> {
  if (later) return { data: 'object' };
  if (!(response instanceof z.ZodObject)) return {};
  const parts = Object.entries(response.shape).flatMap(([name, part]): [string, Outlined][] => {
    if (part instanceof z.ZodArray) return [[name, 'array']];
    return part instanceof z.ZodObject ? [[name, 'object']] : [];
  });
  return Object.fromEntries(parts);
}

/** What a call needs of an operation at run time: its method, path, rank and answer's outline. From the declaration; nothing is written twice. */
export function operationsPlugin(): Plugin {
  const all: readonly Operation[] = [...operations, ...sessionOperations];
  const entries = all.map((one) => [one.id, [one.method, one.path, rankOf(one), outlineOf(one)]]);
  return {
    name: 'operations',
    resolveId: (id) => (id === NAME ? `\0${NAME}` : undefined),
    load: (id) =>
      id === `\0${NAME}` ? `export const operations = ${JSON.stringify(Object.fromEntries(entries))};` : undefined,
  };
}
