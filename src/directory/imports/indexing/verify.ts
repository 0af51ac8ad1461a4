import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  countDocuments,
  getMapping,
  getMappingVersion,
  indexBehind,
  readDocuments,
  type StoredDocument,
  sampleDocuments,
} from '../../../kit/engines/elastic/indices.ts';
import type { Elastic } from '../../../kit/engines/elastic/open.ts';
import { DirectoryCreator, DirectoryCreatorDetail } from '../../search/creator.shapes.ts';
import { documentFor, toDocument } from '../../search/document.ts';
import type { BuildResult } from './build.ts';
import { readDefinition } from './index-definition.ts';
import { type DirectoryWrite, findImportByIndex, listWrites } from './records.ts';
import { StoredFacts } from './stored-creators.ts';
import type { DirectoryEngines } from './writer.ts';

const Stored = z.object({ card: z.record(z.string(), z.unknown()), x: z.record(z.string(), z.unknown()) });
const SAMPLE = 200;

/** The path of the first difference between sent and stored, such as `card.city`. */
function findDifference(sentDocument: unknown, storedDocument: unknown): string | undefined {
  const [a, b] = [Stored.safeParse(sentDocument), Stored.safeParse(storedDocument)];
  if (!a.success || !b.success) return 'the whole document';
  for (const part of ['card', 'x'] as const) {
    const fields = new Set([...Object.keys(a.data[part]), ...Object.keys(b.data[part])]);
    for (const field of fields) {
      if (!isDeepStrictEqual(a.data[part][field], b.data[part][field])) return `${part}.${field}`;
    }
  }
  return undefined;
}

export class VerificationFailed extends Error {}

/** Compares rows as they were sent with what is stored. Returns how many were compared. */
async function compareSamples(elastic: Elastic, index: string, { samples, leftOut }: BuildResult): Promise<number> {
  const documents = new Map<string, StoredDocument>();
  const ids = samples.map(({ pk }) => String(pk));
  for (const document of await readDocuments(elastic, index, ids)) documents.set(document.id, document);
  let comparedCount = 0;
  for (const { pk, version, document } of samples) {
    if (leftOut.has(pk)) continue;
    const storedDocument = documents.get(String(pk));
    if (!storedDocument)
      throw new VerificationFailed(`Verification failed: pk ${pk} of row ${version} is not in ${index}.`);
    // A later row with the same pk replaced this one.
    if (storedDocument.version > version) continue;
    const difference = findDifference(JSON.parse(document), storedDocument.source);
    if (difference) throw new VerificationFailed(`Verification failed: pk ${pk} differs in ${difference}.`);
    comparedCount += 1;
  }
  return comparedCount;
}

/** Verifies a new index against the rows read: the number of documents, and a sample field by field. */
export async function verifyBuilt(
  elastic: Elastic,
  index: string,
  buildResult: BuildResult,
): Promise<{ documents: number; compared: number }> {
  const documents = await countDocuments(elastic, index);
  // Creators who opted out may have been accepted by an earlier row.
  if (documents > buildResult.distinct || documents < buildResult.distinct - buildResult.leftOut.size) {
    throw new VerificationFailed(
      `Verification failed: ${index} holds ${documents} documents; ${buildResult.distinct} different pks were accepted.`,
    );
  }
  return { documents, compared: await compareSamples(elastic, index, buildResult) };
}

const CARD = Object.keys(DirectoryCreator.shape);
const Card = z.object({ card: DirectoryCreator.strict(), x: z.record(z.string(), z.unknown()) }).strict();

/** Describes the damage of a stored document on its own: the rest of it must follow from its card. */
function findDocumentDamage({ id, source }: StoredDocument, version: number): string | undefined {
  const parsed = Card.safeParse(source);
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)[0];
  const { card, x } = parsed.data;
  if (Object.keys(card).join() !== CARD.join()) return 'the fields of the card are out of order';
  if (String(card.pk) !== id) return `card.pk is ${card.pk}`;
  const row = DirectoryCreatorDetail.partial().safeParse({ ...x, ...card });
  if (!row.success) return row.error.issues.map(({ path, message }) => `x.${path.join('.')}: ${message}`)[0];
  const facts = StoredFacts.safeParse(x);
  if (!facts.success) return facts.error.issues.map(({ path, message }) => `x.${path.join('.')}: ${message}`)[0];
  const { data_as_of, changed_at, content_hash, source: name } = facts.data;
  const importFacts = { importedAt: data_as_of, changedAt: changed_at, hash: content_hash, source: name };
  const again: unknown = JSON.parse(
    JSON.stringify(documentFor(version, toDocument({ ...row.data, ...card }, importFacts))),
  );
  const difference = findDifference(again, source);
  return difference && `${difference} does not follow from the card`;
}

/** Elasticsearch returns `copy_to` as a list, even for one name. */
function listTargets(mapping: unknown): unknown {
  return JSON.parse(JSON.stringify(mapping ?? {}), (key, value) =>
    key === 'copy_to' && typeof value === 'string' ? [value] : value,
  );
}

/** The expected number of documents: exact except for interrupted writes. */
function expectedDocuments(documents: number, writes: DirectoryWrite[]): { least: number; most: number } {
  const sumRows = (kind: DirectoryWrite['kind']) =>
    writes.reduce((sum, write) => sum + (write.kind === kind && !write.finishedAt ? write.rows : 0), 0);
  return { least: documents - sumRows('delete'), most: documents + sumRows('upsert') };
}

/** Everything wrong with an index; empty if it is sound. */
export async function findDamage(engines: DirectoryEngines, index: string): Promise<string[]> {
  const { elastic, db, alias } = engines;
  const damage: string[] = [];
  const { definition } = await readDefinition();
  const { _meta: { cuts: _, ...meta } = {}, ...mapping } = (await getMapping(elastic, index)) ?? {};
  if (!isDeepStrictEqual(listTargets({ ...mapping, _meta: meta }), listTargets(definition.mappings))) {
    damage.push('The mapping differs from mappings/creators.json.');
  }
  const version = await getMappingVersion(elastic, index);
  const [documents, record, writes] = [
    await countDocuments(elastic, index),
    await findImportByIndex(db, index),
    await listWrites(db, index),
  ];
  if (!record) damage.push('No import in this database built it.');
  if (record && record.documents !== null) {
    const expectedRange = expectedDocuments(record.documents, writes);
    if (documents < expectedRange.least || documents > expectedRange.most) {
      const few = expectedRange.least === expectedRange.most ? '' : `${expectedRange.least} to `;
      damage.push(`It holds ${documents} documents; ${few}${expectedRange.most} are expected.`);
    }
  }
  const live = await indexBehind(elastic, alias).catch((error: unknown) => {
    damage.push(error instanceof Error ? error.message : String(error));
    return undefined;
  });
  if (record?.state === 'live' && live !== index)
    damage.push(`It should be live, but the alias ${alias} is elsewhere.`);
  for (const document of await sampleDocuments(elastic, index, SAMPLE)) {
    const wrong = findDocumentDamage(document, version);
    if (wrong) damage.push(`Document ${document.id}: ${wrong}.`);
  }
  return damage;
}
