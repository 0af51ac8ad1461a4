import { z } from 'zod';
import { readHashes } from '../../../kit/engines/elastic/hashes.ts';
import type { Elastic } from '../../../kit/engines/elastic/open.ts';
import { listChangedFields } from '../../changes/changes.ts';
import type { CreatorRow } from '../../search/document.ts';
import type { Fill } from './fields.ts';
import { countIdentity, EXAMPLES, type Example } from './identity.ts';
import { type HashPages, mergeVersions } from './merge-versions.ts';
import { IndexProfile, readProfile } from './profile.ts';
import { createSampler } from './sampler.ts';
import { readStored } from './stored-creators.ts';
import type { DifferingPks } from './swap.ts';

/** Creators whose fields are compared one by one; with more changed ones, the counts by field are estimates. */
const COMPARED = 2_000;

const Pks = z.array(z.number());

/** The differences between two versions of the directory. */
export const Comparison = z.object({
  from: z.object({ index: z.string(), profile: IndexProfile }),
  to: z.object({ index: z.string(), profile: IndexProfile }),
  added: z.number(),
  removed: z.number(),
  unchanged: z.number(),
  changed: z.number(),
  /** By field: how many creators changed in it. */
  changedFields: z.record(z.string(), z.number()),
  /** By field that tells who a creator is: how many were given another value, or lost theirs. */
  identity: z.record(z.string(), z.number()).default({}),
  /** True if the counts of changes come from a sample of the creators that differ. */
  isEstimated: z.boolean(),
  samples: z.object({ added: Pks, removed: Pks, changed: Pks }),
});
export type Comparison = z.infer<typeof Comparison>;

/** In which fields each of these creators changed. */
async function readChanges(elastic: Elastic, from: string, to: string, pks: readonly number[]) {
  const [before, after] = await Promise.all([readStored(elastic, from, pks), readStored(elastic, to, pks)]);
  return pks.map((pk) => {
    const [was, is] = [before.get(pk)?.row ?? {}, after.get(pk)?.row ?? {}];
    return { pk, was, is, fields: listChangedFields(was, is) };
  });
}

const AT_ONCE = 500;

function toText(row: Partial<CreatorRow>, field: string): string | null {
  const value: unknown = new Map(Object.entries(row)).get(field);
  return value === null || value === undefined ? null : String(value);
}

async function readFields(elastic: Elastic, from: string, to: string, pks: readonly number[]) {
  const fields = new Map<string, number>();
  const identity = countIdentity();
  const changedPks: number[] = [];
  const examples: Example[] = [];
  for (let i = 0; i < pks.length; i += AT_ONCE) {
    for (const one of await readChanges(elastic, from, to, pks.slice(i, i + AT_ONCE))) {
      if (one.fields.length > 0) changedPks.push(one.pk);
      identity.add(one.was, one.is);
      for (const field of one.fields) {
        const count = (fields.get(field) ?? 0) + 1;
        fields.set(field, count);
        if (count <= EXAMPLES)
          examples.push({ field, pk: one.pk, from: toText(one.was, field), to: toText(one.is, field) });
      }
    }
  }
  return { changed: changedPks, fields, identity, examples };
}

interface Version {
  index: string;
  /** As the import counted it; otherwise estimated from a sample. */
  fill: Fill | undefined;
  /** Its creators, if they have been read already. */
  hashes?: HashPages | undefined;
}

export interface Compared {
  comparison: Comparison;
  /** Values before and after, a few of each field. */
  examples: Example[];
}

/** Compares two versions of the directory, and adds to `found` the creators that differ. */
export async function compareVersions(
  elastic: Elastic,
  from: Version,
  to: Version,
  sampleSize: number,
  differences?: DifferingPks,
): Promise<Compared> {
  const counts = { added: 0, removed: 0, same: 0, certain: 0, unsure: 0 };
  const [addedSample, removedSample] = [createSampler<number>(sampleSize), createSampler<number>(sampleSize)];
  const differing = createSampler<number>(COMPARED);
  const loadHashes = ({ index, hashes }: Version) => hashes ?? readHashes(elastic, index);
  await mergeVersions(loadHashes(from), loadHashes(to), {
    added: (pk) => {
      differences?.added.add(pk);
      addedSample.offer(++counts.added, pk);
    },
    removed: (pk) => {
      differences?.removed.add(pk);
      removedSample.offer(++counts.removed, pk);
    },
    same: () => void ++counts.same,
    differing: (pk, isCertain) => {
      differences?.differing.add(pk);
      if (isCertain) counts.certain += 1;
      else counts.unsure += 1;
      differing.offer(counts.certain + counts.unsure, pk);
    },
  });
  const candidates = differing.taken();
  const { changed, fields, identity, examples } = await readFields(elastic, from.index, to.index, candidates);
  const most = counts.certain + counts.unsure;
  const scale = candidates.length === 0 ? 1 : most / candidates.length;
  const total = counts.unsure === 0 ? counts.certain : Math.round(changed.length * scale);
  const inOrder = (pks: readonly number[]) => [...pks].sort((a, b) => a - b);
  const profileVersion = async ({ index, fill }: Version) => ({
    index,
    profile: await readProfile(elastic, index, fill),
  });
  const [before, after] = await Promise.all([profileVersion(from), profileVersion(to)]);
  const comparison = {
    from: before,
    to: after,
    added: counts.added,
    removed: counts.removed,
    unchanged: counts.same + most - total,
    changed: total,
    changedFields: Object.fromEntries([...fields].map(([field, count]) => [field, Math.round(count * scale)])),
    identity: identity.counts(scale),
    isEstimated: scale > 1,
    samples: {
      added: inOrder(addedSample.taken()),
      removed: inOrder(removedSample.taken()),
      changed: inOrder(changed.slice(0, sampleSize)),
    },
  };
  return { comparison, examples };
}
