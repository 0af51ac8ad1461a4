import type { Plugin } from 'vite';
import { operations } from '../src/api/operations.ts';
import { sessionOperations } from '../src/api/session-operations.ts';

const NAME = 'virtual:operations';

/** What a call needs of an operation at run time: its method and path. From the declaration; nothing is written twice. */
export function operationsPlugin(): Plugin {
  const entries = [...operations, ...sessionOperations].map(({ id, method, path }) => [id, [method, path]]);
  return {
    name: 'operations',
    resolveId: (id) => (id === NAME ? `\0${NAME}` : undefined),
    load: (id) =>
      id === `\0${NAME}` ? `export const operations = ${JSON.stringify(Object.fromEntries(entries))};` : undefined,
  };
}
