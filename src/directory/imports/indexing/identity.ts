import type { CreatorRow } from '../../search/document.ts';
import { distinctNumbers } from './distinct-numbers.ts';
import { CREATOR_FIELDS, type Fill } from './fields.ts';

/** The fields that tell who a creator is. They change for few at a time. */
export const IDENTITY = ['username', 'full_name', 'extracted_email'] as const;
export type IdentityField = (typeof IDENTITY)[number];

/** A value of a creator in two versions. It is shown to operators and never stored: those of a version may opt out. */
export interface Example {
  field: string;
  pk: number;
  from: string | null;
  to: string | null;
}

/** Examples of each field that are shown. */
export const EXAMPLES = 5;

const toIdentity = (value: unknown) => (typeof value === 'string' ? value.trim().toLowerCase() : '');

interface Moves {
  replaced: number;
  lost: number;
  gained: number;
}

/**
 * Counts the creators whose identity changed. A value that comes to another creator is lost by one and gained by the other;
 * values that are only gained are no change of identity.
 */
export function countIdentity() {
  const moves = new Map<IdentityField, Moves>(IDENTITY.map((field) => [field, { replaced: 0, lost: 0, gained: 0 }]));
  return {
    add: (before: Partial<CreatorRow>, after: Partial<CreatorRow>): void => {
      for (const [field, counts] of moves) {
        const [was, is] = [toIdentity(before[field]), toIdentity(after[field])];
        if (was === is) continue;
        if (is === '') counts.lost += 1;
        else if (was === '') counts.gained += 1;
        else counts.replaced += 1;
      }
    },
    counts: (scale: number): Record<string, number> =>
      Object.fromEntries(
        [...moves].map(([field, { replaced, lost, gained }]) => [
          field,
          Math.round((replaced + lost + Math.min(lost, gained)) * scale),
        ]),
      ),
  };
}

/** Under this name, next to how fields are filled: the share of emails that no other creator has. */
export const OWN_EMAILS = 'distinct_emails';

const FACTOR = 0x01000193;

/** 52 bits of a text. */
function hashText(text: string, seed: number): number {
  let [first, second] = [seed, 0x9747b28c];
  for (let i = 0; i < text.length; i += 1) {
    const character = text.charCodeAt(i);
    first = Math.imul(first ^ character, FACTOR);
    second = Math.imul(second ^ (second >>> 15) ^ character, 0x5bd1e995);
  }
  return ((first >>> 0) & 0xfffff) * 2 ** 32 + (second >>> 0);
}

/** Counts emails that fall together. A row that repeats a creator counts once. */
export function countEmails() {
  const [emails, owners] = [distinctNumbers(), distinctNumbers()];
  return {
    add: ({ pk, extracted_email }: CreatorRow): void => {
      const email = toIdentity(extracted_email);
      if (email === '') return;
      emails.add(hashText(email, 0x811c9dc5));
      owners.add(hashText(`${pk} ${email}`, 0x811c9dc5));
    },
    fill: (): Fill => {
      const ownerCount = owners.count();
      return ownerCount === 0 ? {} : { [OWN_EMAILS]: emails.count() / ownerCount };
    },
    close: (): void => {
      emails.close();
      owners.close();
    },
  };
}

/** Characters by which a spreadsheet or a program keeps a value from being a number or a formula. */
const GUARDS = new Set('\'"=^`@´‘’“”\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\t');
const FEWEST_GUARDED = 5;
const GUARDED_SHARE = 0.95;

/** A field in which the values begin with the same guard. */
export interface GuardedField {
  field: string;
  character: string;
  share: number;
  examples: Example[];
}

interface Guards {
  filled: number;
  characters: Map<string, number>;
  examples: Example[];
}

/** Counts the values of texts that begin with a guard. */
export function countGuards() {
  const fields = new Map<string, Guards>();
  const take = (field: string, pk: number, value: string): void => {
    const guards: Guards = fields.get(field) ?? { filled: 0, characters: new Map(), examples: [] };
    fields.set(field, guards);
    guards.filled += 1;
    const character = value.charAt(0);
    if (!GUARDS.has(character)) return;
    guards.characters.set(character, (guards.characters.get(character) ?? 0) + 1);
    if (guards.examples.length < EXAMPLES) guards.examples.push({ field, pk, from: null, to: value });
  };
  return {
    add: (row: CreatorRow): void => {
      for (const field of CREATOR_FIELDS) {
        const value = row[field];
        if (typeof value === 'string' && value !== '') take(field, row.pk, value);
      }
    },
    guarded: (): GuardedField[] =>
      [...fields].flatMap(([field, { filled, characters, examples }]) => {
        const [character = '', count = 0] = [...characters].toSorted(([, a], [, b]) => b - a)[0] ?? [];
        const share = count / filled;
        return filled >= FEWEST_GUARDED && share >= GUARDED_SHARE ? [{ field, character, share, examples }] : [];
      }),
  };
}
