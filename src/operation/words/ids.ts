const prefixes = new Map<string, string>();

/** Says how the ids of rows begin, by the words of paths and properties that hold such rows. */
export function registerIds(ids: Readonly<Record<string, string>>): void {
  for (const [word, prefix] of Object.entries(ids)) {
    if (prefixes.has(word)) throw new Error(`Two nouns say how ids of ${word} begin.`);
    prefixes.set(word, prefix);
  }
}

/** An id of the rows that a word stands for. */
export function idOf(word: string): string | undefined {
  const prefix = prefixes.get(word);
  return prefix === undefined ? undefined : `${prefix}_0Uo3xK2mVdT2aXs7LpRb`;
}
