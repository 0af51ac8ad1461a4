import { readFile } from 'node:fs/promises';
import type { IndexDefinition } from '../../../kit/engines/elastic/indices.ts';

const FILE = new URL('../../../../mappings/creators.json', import.meta.url);

/** The distribution of a new index over the nodes of a cluster. */
export interface Layout {
  shards: number;
  replicas: number;
}

export const ONE_NODE: Layout = { shards: 1, replicas: 0 };

/** The directory's settings and mapping, and the text they were read from. Replicas are added once the index is built. */
export async function readDefinition({
  shards,
}: Layout = ONE_NODE): Promise<{ definition: IndexDefinition; text: string }> {
  const text = await readFile(FILE, 'utf8');
  const { settings, mappings }: IndexDefinition = JSON.parse(text);
  const indexSettings = { ...settings, index: { ...settings.index, number_of_shards: shards, number_of_replicas: 0 } };
  return { definition: { settings: indexSettings, mappings }, text };
}
