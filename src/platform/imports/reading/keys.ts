const START = 1 << 12;

/** 53 bits of a text, never 0: two numbers of an FNV kind, mixed. */
export function hashKey(text: string): number {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 2_654_435_761);
    b = Math.imul(b ^ code, 1_597_334_677);
  }
  a = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909);
  b = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909);
  return 4_294_967_296 * (2_097_151 & b) + (a >>> 0) + 1;
}

/**
 * Counts keys, and notes the first other key beside each, in some twenty bytes a key: the keys of a million lines fit
 * where their texts would not. The texts themselves are compared before a count decides anything.
 */
export class KeyTable {
  #keys = new Float64Array(START);
  #besides = new Float64Array(START);
  #counts = new Uint32Array(START);
  #size = 0;

  #slot(key: number): number {
    const mask = this.#keys.length - 1;
    let slot = (key % 4_294_967_296) & mask;
    while (this.#keys[slot] !== 0 && this.#keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const [keys, besides, counts] = [this.#keys, this.#besides, this.#counts];
    this.#keys = new Float64Array(keys.length * 2);
    this.#besides = new Float64Array(keys.length * 2);
    this.#counts = new Uint32Array(keys.length * 2);
    keys.forEach((key, from) => {
      if (key === 0) return;
      const slot = this.#slot(key);
      this.#keys[slot] = key;
      this.#besides[slot] = besides[from] ?? 0;
      this.#counts[slot] = counts[from] ?? 0;
    });
  }

  /** Counts a key; `beside` of 0 says nothing. A key that stands beside several is marked by -1. */
  add(key: number, beside = 0): number {
    if (this.#size * 10 > this.#keys.length * 7) this.#grow();
    const slot = this.#slot(key);
    if (this.#keys[slot] === 0) {
      this.#keys[slot] = key;
      this.#size += 1;
    }
    const knownBeside = this.#besides[slot] ?? 0;
    if (beside !== 0) this.#besides[slot] = knownBeside === 0 || knownBeside === beside ? beside : -1;
    const count = (this.#counts[slot] ?? 0) + 1;
    this.#counts[slot] = count;
    return count;
  }

  count(key: number): number {
    return this.#counts[this.#slot(key)] ?? 0;
  }

  isShared(key: number): boolean {
    return this.#besides[this.#slot(key)] === -1;
  }
}
