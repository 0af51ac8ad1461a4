const SHARDS = 64;
const FIRST_SLOTS = 1 << 10;
/** 64 times 256 thousand slots of 8 bytes: 128 MB. */
const MOST_SLOTS = 1 << 18;
const FULLEST = 0.85;
const FREE = -1;

export interface DistinctNumbers {
  add(value: number): void;
  /** The number of distinct values; undefined above the memory limit. */
  count(): number | undefined;
}

function mix(value: number): number {
  const mixed = Math.imul(value ^ Math.imul(Math.floor(value / 2 ** 32), 0x85ebca6b), 0x9e3779b1);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** True if the value is new. The last bits of the mixed value choose the shard, the others the slot. */
function insert(table: Float64Array, value: number, mixed: number): boolean {
  const mask = table.length - 1;
  for (let slot = Math.floor(mixed / SHARDS) & mask; ; slot = (slot + 1) & mask) {
    if (table[slot] === value) return false;
    if (table[slot] === FREE) {
      table[slot] = value;
      return true;
    }
  }
}

function grown(table: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(table.length * 2).fill(FREE);
  for (const value of table) if (value !== FREE) insert(larger, value, mix(value));
  return larger;
}

/**
 * Counts different integers from 0 up, exactly, up to some 14 million, in a fifth of the memory of a Set. One shard
 * grows at a time, so that growing needs no second copy of everything.
 */
export function distinctNumbers(mostSlots = MOST_SLOTS): DistinctNumbers {
  let shards = Array.from({ length: SHARDS }, () => ({ table: new Float64Array(FIRST_SLOTS).fill(FREE), used: 0 }));
  let isOverfull = false;
  return {
    add: (value) => {
      const mixed = mix(value);
      const shard = shards[mixed % SHARDS];
      if (!shard || !insert(shard.table, value, mixed)) return;
      shard.used += 1;
      if (shard.used <= shard.table.length * FULLEST) return;
      if (shard.table.length < mostSlots) shard.table = grown(shard.table);
      else {
        isOverfull = true;
        shards = [];
      }
    },
    count: () => (isOverfull ? undefined : shards.reduce((sum, { used }) => sum + used, 0)),
  };
}
