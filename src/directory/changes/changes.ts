import { isDeepStrictEqual } from 'node:util';
import { CREATOR_FIELDS, type CreatorField } from '../imports/indexing/fields.ts';

export const CHANGE_TYPES = ['added', 'updated', 'removed', 'opted_out'] as const;
export type ChangeType = (typeof CHANGE_TYPES)[number];

/** What happened to one creator of the directory. */
export interface Change {
  pk: number;
  type: ChangeType;
  /** The fields that an update changed. */
  fields: readonly string[];
  /** The version of the document with the change; 0 for a change of the whole index. */
  version: number;
}

/** The fields in which two rows of a creator differ. */
export function changedFieldsOf(before: object, after: object): CreatorField[] {
  const [was, is] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return CREATOR_FIELDS.filter((field) => !isDeepStrictEqual(was.get(field) ?? null, is.get(field) ?? null));
}

const LINE = /^(\d+)\t(added|updated|removed|opted_out)\t([\w,]*)\t(\d+)$/;
const TYPES = new Map(CHANGE_TYPES.map((type) => [String(type), type]));

/** Changes as the text that PostgreSQL keeps until ClickHouse has them. */
export const linesOf = (changes: readonly Change[]): string =>
  changes.map(({ pk, type, fields, version }) => `${pk}\t${type}\t${fields.join(',')}\t${version}\n`).join('');

export function changesOf(lines: string): Change[] {
  return lines
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [, pk, word = '', fields = '', version] = LINE.exec(line) ?? [];
      const type = TYPES.get(word);
      if (!type) throw new Error(`Not a change of the directory: ${JSON.stringify(line)}.`);
      return { pk: Number(pk), type, fields: fields.split(',').filter(Boolean), version: Number(version) };
    });
}
