import { z } from 'zod';
import { readDocuments } from '../../../kit/engines/elastic/indices.ts';
import type { Elastic } from '../../../kit/engines/elastic/open.ts';
import { DirectoryCreatorDetail } from '../../search/creator.shapes.ts';
import type { CreatorRow, Facts } from '../../search/document.ts';

const time = z.number().int().optional();

/** The facts that a document holds besides the values of its row. */
export const StoredFacts = z.object({
  data_as_of: time,
  changed_at: time,
  content_hash: z.string().optional(),
  source: z.string().optional(),
});

const Parts = z.object({ card: z.record(z.string(), z.unknown()), x: z.record(z.string(), z.unknown()) });
const Row = DirectoryCreatorDetail.partial().required({ pk: true, username: true });

/** A creator as an index has it. */
export interface StoredCreator {
  row: CreatorRow;
  facts: Facts;
}

export function parseStoredCreator(source: unknown): StoredCreator {
  const { card, x } = Parts.parse(source);
  const { data_as_of, changed_at, content_hash, source: name } = StoredFacts.parse(x);
  return {
    row: Row.parse({ ...x, ...card }),
    facts: { importedAt: data_as_of, changedAt: changed_at, hash: content_hash, source: name },
  };
}

/** The creators of an index by `pk`. */
export async function readStored(elastic: Elastic, index: string, pks: Iterable<number>) {
  const documents = await readDocuments(elastic, index, [...new Set(pks)].map(String));
  return new Map(documents.map(({ id, source }) => [Number(id), parseStoredCreator(source)]));
}
