import { readFile, writeFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { openapiDocument } from '../../src/api/openapi/document.ts';
import { operations } from '../../src/api/operations.ts';

/** What clients were promised: a change of the API shows in the diff of this file. */
const COMMITTED = 'test/check/openapi.json';
const SHOWN = 10;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The innermost places where two JSON values differ. */
function differences(before: unknown, after: unknown, place = ''): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (before === undefined) return [`${place} is new`];
  if (after === undefined) return [`${place} is gone`];
  if (!isRecord(before) || !isRecord(after)) return [`${place} has changed`];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => differences(before[key], after[key], `${place}/${key}`));
}

/** How the document that the operations declare differs from the committed one. */
export async function openapiDrift(): Promise<string[]> {
  const committed: unknown = JSON.parse(await readFile(COMMITTED, 'utf8'));
  const declared: unknown = JSON.parse(JSON.stringify(openapiDocument(operations)));
  const found = differences(committed, declared);
  if (found.length === 0) return [];
  const more = found.length > SHOWN ? [`and ${found.length - SHOWN} more`] : [];
  return [...found.slice(0, SHOWN), ...more, 'If this is meant: npm run check -- --write'];
}

export async function writeOpenapi(): Promise<string> {
  await writeFile(COMMITTED, `${JSON.stringify(openapiDocument(operations), null, 1)}\n`);
  return COMMITTED;
}
