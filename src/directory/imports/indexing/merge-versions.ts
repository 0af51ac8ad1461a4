import type { HashPage } from '../../../kit/engines/elastic/hashes.ts';

/** Receives the differences between two versions, creator by creator, in the order of `pk`. */
export interface Differences {
  added(pk: number): void;
  removed(pk: number): void;
  /** In both, with the same content. */
  same(pk: number): void;
  /** In both, with different content or without a hash. */
  differing(pk: number, isCertain: boolean): void;
}

/** The creators of a version in the order of `pk`. */
export type HashPages = AsyncIterator<Pick<HashPage, 'pks' | 'hashes'>> | Iterator<Pick<HashPage, 'pks' | 'hashes'>>;

function openCursor(pages: HashPages) {
  let page: Pick<HashPage, 'pks' | 'hashes'> | undefined = { pks: [], hashes: [] };
  let at = 0;
  return {
    /** Reads the next page once this one is used up. */
    fill: async () => {
      if (page === undefined || at < page.pks.length) return;
      const next = await pages.next();
      page = next.done ? undefined : next.value;
      at = 0;
    },
    needsPage: () => page !== undefined && at >= page.pks.length,
    /** Infinite after the last creator. */
    pk: () => page?.pks[at] ?? Number.POSITIVE_INFINITY,
    hash: () => page?.hashes[at] ?? null,
    step: () => {
      at += 1;
    },
  };
}

/** Compares two versions, a page of each at a time. */
export async function mergeVersions(from: HashPages, to: HashPages, differences: Differences): Promise<void> {
  const [before, after] = [openCursor(from), openCursor(to)];
  for (;;) {
    await Promise.all([before.fill(), after.fill()]);
    while (!before.needsPage() && !after.needsPage()) {
      const [old, fresh] = [before.pk(), after.pk()];
      if (old === Number.POSITIVE_INFINITY && fresh === old) return;
      if (old < fresh) differences.removed(old);
      else if (fresh < old) differences.added(fresh);
      else if (before.hash() !== null && before.hash() === after.hash()) differences.same(old);
      else differences.differing(old, before.hash() !== null && after.hash() !== null);
      if (old <= fresh) before.step();
      if (fresh <= old) after.step();
    }
  }
}
