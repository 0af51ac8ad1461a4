import { awaitBulks, readDocuments } from '../../kit/engines/elastic/indices.ts';
import type { Elastic } from '../../kit/engines/elastic/open.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { type Change, type ChangeBatch, dropChanges, listStaged, parseChanges, replaceStaged } from './changes.ts';

/** The changes of a write's staged batch that were made before the writer died. */
async function listAppliedChanges(elastic: Elastic, { version: index, lines }: ChangeBatch): Promise<Change[]> {
  const changes = parseChanges(lines ?? '');
  const documents = await readDocuments(elastic, index, [...new Set(changes.map(({ pk }) => String(pk)))]);
  const versions = new Map(documents.map(({ id, version }) => [Number(id), version]));
  return changes.filter(({ pk, type, version }) => {
    const storedVersion = versions.get(pk);
    return storedVersion === undefined ? type === 'removed' : storedVersion >= version;
  });
}

/** Settles changes whose writer died after it staged them. Runs as the only writer of the directory. */
export async function recoverChanges(
  { elastic, db, alias }: { elastic: Elastic; db: Db; alias: string },
  live: string | undefined,
): Promise<void> {
  const stagedBatches = await listStaged(db, alias);
  if (stagedBatches.some(({ kind, version }) => (kind === 'import' || kind === 'rollback') && version !== live)) {
    // The alias never moved.
    await dropChanges(db, alias);
    return;
  }
  for (const batch of stagedBatches) {
    if (batch.kind === 'import' || batch.kind === 'rollback') continue;
    await awaitBulks(elastic, batch.version);
    await replaceStaged(db, batch.id, await listAppliedChanges(elastic, batch));
  }
}
