import { type HashPage, readHashes } from '../../../kit/engines/elastic/hashes.ts';
import { countDocuments } from '../../../kit/engines/elastic/indices.ts';
import type { Elastic } from '../../../kit/engines/elastic/open.ts';

/** Stands for a missing hash, as in Elasticsearch. */
const NO_HASH = 2n ** 63n - 1n;
const PAGE = 10_000;

/** The live creators at the start of an import: 20 bytes each. */
export interface LiveCreators {
  index: string;
  /** The last change of the content, if it is the same as the live creator's; undefined if it differs or is new. */
  findChangedAt(pk: number, hash: string): number | undefined;
  /** Every creator in the order of `pk`. */
  pages(): Generator<Pick<HashPage, 'pks' | 'hashes'>>;
}

/** Gives each time a number: many creators share the time of their import. */
function openTimes() {
  const numbers = new Map<number, number>();
  const times: number[] = [];
  return {
    numberOf: (time: number): number => {
      const knownNumber = numbers.get(time);
      if (knownNumber !== undefined) return knownNumber;
      numbers.set(time, times.length);
      return times.push(time) - 1;
    },
    timeOf: (number: number): number | undefined => times[number],
  };
}

/** Reads the hashes of an index into memory, for a build that looks up each row in them. */
export async function readLiveCreators(elastic: Elastic, index: string): Promise<LiveCreators> {
  const most = await countDocuments(elastic, index);
  const [pks, hashes, changes] = [new Float64Array(most), new BigInt64Array(most), new Uint32Array(most)];
  const { numberOf, timeOf } = openTimes();
  let count = 0;
  for await (const page of readHashes(elastic, index)) {
    for (const [i, pk] of page.pks.entries()) {
      if (count === most) throw new Error(`${index} has more creators than it counted; another process writes to it.`);
      pks[count] = pk;
      hashes[count] = BigInt(page.hashes[i] ?? NO_HASH);
      changes[count] = numberOf(page.changedAts[i] ?? 0);
      count += 1;
    }
  }

  function findPlace(pk: number): number | undefined {
    let [low, high] = [0, count - 1];
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const middlePk = pks[middle] ?? 0;
      if (middlePk === pk) return middle;
      if (middlePk < pk) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  return {
    index,
    findChangedAt: (pk, hash) => {
      const place = findPlace(pk);
      if (place === undefined || hashes[place] !== BigInt(hash)) return undefined;
      return timeOf(changes[place] ?? 0) || undefined;
    },
    pages: function* () {
      for (let start = 0; start < count; start += PAGE) {
        const end = Math.min(start + PAGE, count);
        yield {
          pks: [...pks.subarray(start, end)],
          hashes: [...hashes.subarray(start, end)].map((hash) => (hash === NO_HASH ? null : String(hash))),
        };
      }
    },
  };
}
