import { EXAMPLE_ID } from '../../values/fields.ts';

const prefixes = new Map<string, string>();

/** Declares id prefixes, by the words of paths and properties that hold such rows. */
export function registerIds(ids: Readonly<Record<string, string>>): void {
  for (const [word, prefix] of Object.entries(ids)) {
    if (prefixes.has(word)) throw new Error(`Two nouns declare the id prefix of ${word}.`);
    prefixes.set(word, prefix);
  }
}

/** An example id of the rows that a word stands for. */
export function exampleId(word: string): string | undefined {
  const prefix = prefixes.get(word);
  return prefix === undefined ? undefined : `${prefix}_${EXAMPLE_ID}`;
}
