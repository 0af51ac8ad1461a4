import { readFile, writeFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { openapiDocument } from '../../src/interfaces/http/openapi/document.ts';
import { legacyManual } from '../../src/interfaces/legacy/manual.ts';
import { interfaces } from '../../src/process/interfaces.ts';

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

/** What clients were promised: a change of the API shows in the diff of these files. */
const { current, older } = interfaces(() => new Date());
const COMMITTED: Readonly<Record<string, () => unknown>> = {
  'test/check/openapi.json': () => openapiDocument(current),
  'test/check/openapi-legacy.json': () => openapiDocument(older),
};
const MANUAL = 'docs/legacy.md';

async function readCommitted(file: string): Promise<unknown> {
  return JSON.parse(await readFile(file, 'utf8').catch(() => '{}'));
}

/** How the documents that the operations declare differ from the committed ones. */
export async function openapiDrift(): Promise<string[]> {
  const found: string[] = [];
  for (const [file, declared] of Object.entries(COMMITTED)) {
    const differing = differences(await readCommitted(file), JSON.parse(JSON.stringify(declared())));
    found.push(...differing.map((difference) => `${file} ${difference}`));
  }
  if ((await readFile(MANUAL, 'utf8').catch(() => '')) !== legacyManual()) found.push(`${MANUAL} has changed`);
  if (found.length === 0) return [];
  const more = found.length > SHOWN ? [`and ${found.length - SHOWN} more`] : [];
  return [...found.slice(0, SHOWN), ...more, 'If this is meant: npm run check -- --write'];
}

export async function writeOpenapi(): Promise<void> {
  for (const [file, declared] of Object.entries(COMMITTED)) {
    await writeFile(file, `${JSON.stringify(declared(), null, 1)}\n`);
  }
  await writeFile(MANUAL, legacyManual());
}
