import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { readDocuments } from '../../engines/elastic/indices.ts';
import type { Elastic } from '../../engines/elastic/open.ts';
import { CREATOR_FIELDS, type Fill } from './fields.ts';
import { mergeVersions } from './merge-versions.ts';
import { IndexProfile, profileOf } from './profile.ts';
import { sampler } from './sampler.ts';

/** Creators whose fields are compared one by one; with more changed ones, the counts by field are estimates. */
const COMPARED = 2_000;

const Pks = z.array(z.number());

/** What distinguishes one version of the directory from another. */
export const Comparison = z.object({
  from: z.object({ index: z.string(), profile: IndexProfile }),
  to: z.object({ index: z.string(), profile: IndexProfile }),
  added: z.number(),
  removed: z.number(),
  unchanged: z.number(),
  changed: z.number(),
  /** By field: how many creators changed in it. */
  changedFields: z.record(z.string(), z.number()),
  /** Whether the counts of changes come from a sample of the creators that differ. */
  isEstimated: z.boolean(),
  samples: z.object({ added: Pks, removed: Pks, changed: Pks }),
});
export type Comparison = z.infer<typeof Comparison>;

const Stored = z.object({ card: z.record(z.string(), z.unknown()), x: z.record(z.string(), z.unknown()) });

/** The fields in which two stored documents differ. */
function changedFieldsOf(before: unknown, after: unknown): string[] {
  const [old, fresh] = [Stored.safeParse(before), Stored.safeParse(after)];
  if (!old.success || !fresh.success) return [];
  const [was, is] = [
    { ...old.data.x, ...old.data.card },
    { ...fresh.data.x, ...fresh.data.card },
  ];
  return CREATOR_FIELDS.filter((field) => !isDeepStrictEqual(was[field] ?? null, is[field] ?? null));
}

async function readSources(elastic: Elastic, index: string, pks: readonly number[]): Promise<Map<string, unknown>> {
  const found = await readDocuments(elastic, index, pks.map(String));
  return new Map(found.map(({ id, source }) => [id, source]));
}

/** In which fields each of these creators changed. */
async function readChanges(elastic: Elastic, from: string, to: string, pks: readonly number[]) {
  const [before, after] = await Promise.all([readSources(elastic, from, pks), readSources(elastic, to, pks)]);
  return pks.map((pk) => ({ pk, fields: changedFieldsOf(before.get(String(pk)), after.get(String(pk))) }));
}

const AT_ONCE = 500;

async function readFields(elastic: Elastic, from: string, to: string, pks: readonly number[]) {
  const fields = new Map<string, number>();
  const changed: number[] = [];
  for (let i = 0; i < pks.length; i += AT_ONCE) {
    for (const one of await readChanges(elastic, from, to, pks.slice(i, i + AT_ONCE))) {
      if (one.fields.length > 0) changed.push(one.pk);
      for (const field of one.fields) fields.set(field, (fields.get(field) ?? 0) + 1);
    }
  }
  return { changed, fields };
}

interface Version {
  index: string;
  /** As the import counted it; without it, a sample tells. */
  fill: Fill | undefined;
}

/** Compares two versions of the directory. Memory does not grow with them. */
export async function compareVersions(
  elastic: Elastic,
  from: Version,
  to: Version,
  sampleSize: number,
): Promise<Comparison> {
  const counts = { added: 0, removed: 0, same: 0, certain: 0, unsure: 0 };
  const [added, removed] = [sampler<number>(sampleSize), sampler<number>(sampleSize)];
  const differing = sampler<number>(COMPARED);
  await mergeVersions(elastic, from.index, to.index, {
    added: (pk) => added.offer(++counts.added, pk),
    removed: (pk) => removed.offer(++counts.removed, pk),
    same: () => void ++counts.same,
    differing: (pk, isCertain) => {
      if (isCertain) counts.certain += 1;
      else counts.unsure += 1;
      differing.offer(counts.certain + counts.unsure, pk);
    },
  });
  const candidates = differing.taken();
  const { changed, fields } = await readFields(elastic, from.index, to.index, candidates);
  const most = counts.certain + counts.unsure;
  const scale = candidates.length === 0 ? 1 : most / candidates.length;
  const total = counts.unsure === 0 ? counts.certain : Math.round(changed.length * scale);
  const inOrder = (pks: readonly number[]) => [...pks].sort((a, b) => a - b);
  const profiled = async ({ index, fill }: Version) => ({ index, profile: await profileOf(elastic, index, fill) });
  const [before, after] = await Promise.all([profiled(from), profiled(to)]);
  return {
    from: before,
    to: after,
    added: counts.added,
    removed: counts.removed,
    unchanged: counts.same + most - total,
    changed: total,
    changedFields: Object.fromEntries([...fields].map(([field, count]) => [field, Math.round(count * scale)])),
    isEstimated: scale > 1,
    samples: {
      added: inOrder(added.taken()),
      removed: inOrder(removed.taken()),
      changed: inOrder(changed.slice(0, sampleSize)),
    },
  };
}
