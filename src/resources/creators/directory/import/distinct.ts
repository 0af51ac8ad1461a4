const FIRST_SLOTS = 1 << 16;
/** 16 million slots of 8 bytes: 128 MB, and as much again for a moment before the last doubling. */
const MOST_SLOTS = 1 << 24;
const FREE = -1;

export interface DistinctNumbers {
  add(value: number): void;
  /** How many different ones; undefined when they were more than memory is spent on. */
  count(): number | undefined;
}

function slotOf(value: number, slots: number): number {
  const mixed = Math.imul(value ^ Math.imul(Math.floor(value / 2 ** 32), 0x85ebca6b), 0x9e3779b1);
  return ((mixed ^ (mixed >>> 15)) >>> 0) & (slots - 1);
}

/** True when the value was not there. */
function insert(table: Float64Array, value: number): boolean {
  for (let slot = slotOf(value, table.length); ; slot = (slot + 1) & (table.length - 1)) {
    if (table[slot] === value) return false;
    if (table[slot] === FREE) {
      table[slot] = value;
      return true;
    }
  }
}

/** Counts different integers from 0 up, exactly, in a fifth of the memory of a Set: up to 12 million of them. */
export function distinctNumbers(mostSlots = MOST_SLOTS): DistinctNumbers {
  let table: Float64Array | undefined = new Float64Array(Math.min(FIRST_SLOTS, mostSlots)).fill(FREE);
  let used = 0;

  function grow(old: Float64Array): Float64Array | undefined {
    if (old.length >= mostSlots) return undefined;
    const larger = new Float64Array(old.length * 2).fill(FREE);
    for (const value of old) if (value !== FREE) insert(larger, value);
    return larger;
  }

  return {
    add: (value) => {
      if (!table || !insert(table, value)) return;
      used += 1;
      if (used > table.length * 0.75) table = grow(table);
    },
    count: () => (table ? used : undefined),
  };
}
