const FIRST_SIZE = 1_024;

/** A list of `pk`s, 8 bytes each. */
export interface PkList extends Iterable<number> {
  add(pk: number): void;
}

export function pkList(): PkList {
  let pks = new Float64Array(FIRST_SIZE);
  let count = 0;
  return {
    add: (pk) => {
      if (count === pks.length) {
        const larger = new Float64Array(pks.length * 2);
        larger.set(pks);
        pks = larger;
      }
      pks[count] = pk;
      count += 1;
    },
    [Symbol.iterator]: () => pks.subarray(0, count).values(),
  };
}
