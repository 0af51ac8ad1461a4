import { type IndexFacts, indexBehind, listIndices, wereLive } from '../../../kit/engines/elastic/indices.ts';
import { countForgotten } from '../../opt-out/opt-out.ts';
import {
  type DirectoryImport,
  findHeld,
  findImportByIndex,
  isRun,
  listRetired,
  listUnfinished,
  type Writer,
} from './records.ts';
import { isIndexName } from './versions.ts';
import { type DirectoryEngines, findRunningWriter } from './writer.ts';

export interface DirectoryStatus {
  alias: string;
  live: (IndexFacts & { swappedAt: Date | null }) | undefined;
  /** Indices that were live and are kept, latest first. */
  previous: Array<IndexFacts & { retiredAt: Date | null }>;
  /** Imports that are waiting or running, or that stopped and can be resumed. */
  imports: Array<DirectoryImport & { isRunning: boolean }>;
  /** The import that waits for `approve` or `discard`. */
  held: DirectoryImport | undefined;
  writer: Writer | undefined;
  /** Opt-outs in force. */
  forgotten: number;
}

export async function readStatus(engines: DirectoryEngines): Promise<DirectoryStatus> {
  const { elastic, db, alias } = engines;
  const live = await indexBehind(elastic, alias);
  const [all, onceLive, retiredVersions, imports, heldImport, writer, forgotten] = await Promise.all([
    listIndices(elastic, `${alias}-`),
    wereLive(elastic, alias),
    listRetired(db, alias),
    listUnfinished(db, alias),
    findHeld(db, alias),
    findRunningWriter(db, alias),
    countForgotten(db),
  ]);
  const indices = all.filter(({ name }) => isIndexName(alias, name));
  const liveFacts = indices.find(({ name }) => name === live);
  const retiredAt = new Map(retiredVersions.map((row) => [row.indexName, row.retiredAt]));
  return {
    alias,
    live: liveFacts && { ...liveFacts, swappedAt: (await findImportByIndex(db, liveFacts.name))?.swappedAt ?? null },
    previous: indices
      .filter(({ name }) => name !== live && onceLive.has(name))
      .map((facts) => ({ ...facts, retiredAt: retiredAt.get(facts.name) ?? null }))
      .sort((a, b) => Number(b.retiredAt ?? b.createdAt) - Number(a.retiredAt ?? a.createdAt)),
    imports: imports.map((row) => ({ ...row, isRunning: isRun(row, writer) })),
    held: heldImport,
    writer,
    forgotten,
  };
}
