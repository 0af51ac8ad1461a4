import { readFile } from 'node:fs/promises';
import type { IndexDefinition } from '../../engines/elastic/indices.ts';

const FILE = new URL('../../../mappings/creators.json', import.meta.url);

/** The directory's settings and mapping, and the text they were read from. */
export async function readDefinition(): Promise<{ definition: IndexDefinition; text: string }> {
  const text = await readFile(FILE, 'utf8');
  return { definition: JSON.parse(text), text };
}
