import { readFile } from 'node:fs/promises';
import { DirectoryCreatorDetail } from '../../../src/directory/search/creator.shapes.ts';
import { toDocument } from '../../../src/directory/search/document.ts';
import { keptAlias } from '../../../src/kit/engines/elastic/live-index.ts';
import type { Elastic } from '../../../src/kit/engines/elastic/open.ts';
import { unique } from '../app.ts';

/** Small, so that a busy machine answers each within the API's own timeout. */
const BATCH = 1_000;

/** A creator with every field; a test says what it is about. */
export function creator(pk: number, fields: Partial<DirectoryCreatorDetail> = {}): DirectoryCreatorDetail {
  return DirectoryCreatorDetail.parse({
    pk,
    username: `creator${pk}`,
    full_name: `Creator ${pk}`,
    follower_count: 1_000,
    engagement_rate: 1.5,
    category: 'Fitness',
    biography: 'I train.',
    extracted_email: null,
    niches: 'fitness, wellness',
    city: null,
    state: null,
    country: 'US',
    profile_pic_url: null,
    is_verified: false,
    external_url: null,
    following_count: 10,
    media_count: 20,
    gender: 'female',
    age: 30,
    ...fields,
  });
}

/** Puts creators into an index of their own behind `alias`; an index that was live there stays, as after an import. */
export async function putDirectory(
  elastic: Elastic,
  alias: string,
  creators: readonly DirectoryCreatorDetail[],
): Promise<string> {
  const index = unique(alias);
  const mapping = JSON.parse(await readFile('mappings/creators.json', 'utf8'));
  await elastic.client.indices.create({ index, ...mapping });
  for (let i = 0; i < creators.length; i += BATCH) {
    const lines = creators
      .slice(i, i + BATCH)
      .flatMap((row) => [
        JSON.stringify({ index: { _index: index, _id: String(row.pk) } }),
        JSON.stringify(toDocument(row)),
      ]);
    const answer = await elastic.post('/_bulk?filter_path=errors,items.*.error', `${lines.join('\n')}\n`, {
      contentType: 'application/x-ndjson',
      timeoutMs: 60_000,
    });
    if (!answer.toString().startsWith('{"errors":false')) throw new Error(answer.toString().slice(0, 500));
  }
  await elastic.client.indices.refresh({ index });
  const isLive = await elastic.client.indices.existsAlias({ name: alias });
  await elastic.client.indices.updateAliases({
    actions: [
      ...(isLive ? [{ remove: { index: '*', alias } }] : []),
      { add: { index, alias } },
      { add: { index, alias: keptAlias(alias) } },
    ],
  });
  return index;
}
