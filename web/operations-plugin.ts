import type { Plugin } from 'vite';
import type { Operation } from '../src/api/operation.ts';
import { operations } from '../src/api/operations.ts';
import { sessionOperations } from '../src/api/session-operations.ts';

const NAME = 'virtual:operations';

/** The least that somebody must be: 0 a viewer, 1 a manager, 2 an owner. */
const rankOf = ({ hints, ownersOnly }: Operation) => (hints.readOnly ? 0 : ownersOnly ? 2 : 1);

/** What a call needs of an operation at run time: its method, path and rank. From the declaration; nothing is written twice. */
export function operationsPlugin(): Plugin {
  const all: readonly Operation[] = [...operations, ...sessionOperations];
  const entries = all.map((one) => [one.id, [one.method, one.path, rankOf(one)]]);
  return {
    name: 'operations',
    resolveId: (id) => (id === NAME ? `\0${NAME}` : undefined),
    load: (id) =>
      id === `\0${NAME}` ? `export const operations = ${JSON.stringify(Object.fromEntries(entries))};` : undefined,
  };
}
