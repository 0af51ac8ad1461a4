import { indexBehind } from '../../../kit/engines/elastic/indices.ts';
import { listBreaches, listGuarded } from './bounds.ts';
import { listFailingCanaries } from './canaries.ts';
import { type Compared, type Comparison, compareVersions } from './comparison.ts';
import { Fill } from './fields.ts';
import type { Example, GuardedField } from './identity.ts';
import type { LiveCreators } from './live-creators.ts';
import { type DirectoryImport, findImportByIndex } from './records.ts';
import { parseBounds } from './start-import.ts';
import { createDifferingPks, type DifferingPks } from './swap.ts';
import type { DirectoryEngines } from './writer.ts';

/** Creators of each kind that a report names. */
export const SAMPLES = 20;

export interface Judgement {
  /** Undefined for a first import. */
  comparison: Comparison | undefined;
  /** The creators that differ from the live ones. */
  found: DifferingPks;
  /** Why the import is held; empty if it may go live. */
  reasons: string[];
  /** Values before and after, in the fields that the reasons are about. */
  examples: Example[];
}

/** Compares two indices, each with the fill that its import counted. */
export async function compareIndices(
  { elastic, db }: DirectoryEngines,
  from: string,
  to: string,
  { samples = SAMPLES, live, found }: { samples?: number; live?: LiveCreators | undefined; found?: DifferingPks } = {},
): Promise<Compared> {
  const loadVersion = async (index: string) => ({
    index,
    fill: Fill.nullish().parse((await findImportByIndex(db, index))?.fill) ?? undefined,
    hashes: live?.index === index ? live.pages() : undefined,
  });
  return await compareVersions(elastic, await loadVersion(from), await loadVersion(to), samples, found);
}

/** Compares a verified index with the live one. */
export async function judge(
  engines: DirectoryEngines,
  row: DirectoryImport,
  index: string,
  liveCreators: LiveCreators | undefined,
  guarded: readonly GuardedField[],
): Promise<Judgement> {
  const { elastic, alias } = engines;
  const bounds = parseBounds(row);
  const live = await indexBehind(elastic, alias);
  const differing = createDifferingPks();
  const indexComparison =
    live === undefined
      ? undefined
      : await compareIndices(engines, live, index, { live: liveCreators, found: differing });
  const comparison = indexComparison?.comparison;
  const breaches = [...(comparison ? listBreaches(comparison, bounds) : []), ...listGuarded(guarded)];
  const isForced = bounds.mode === 'force';
  const holdReasons = bounds.mode === 'hold' ? ['It was started with --hold.'] : [];
  const failures = await listFailingCanaries(elastic, index, bounds.canaries);
  const reasons = [...(isForced ? [] : breaches.map(({ reason }) => reason)), ...failures, ...holdReasons];
  const fields = isForced ? [] : [...new Set(breaches.flatMap(({ field }) => field ?? []))];
  const examples = fields.flatMap((field) => {
    const changes = indexComparison?.examples.filter((example) => example.field === field) ?? [];
    return changes.length > 0 ? changes : guarded.flatMap((one) => (one.field === field ? one.examples : []));
  });
  return { comparison, found: differing, reasons, examples };
}
