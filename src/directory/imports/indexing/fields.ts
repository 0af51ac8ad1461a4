import { z } from 'zod';
import { DirectoryCreatorDetail } from '../../search/creator.shapes.ts';
import type { CreatorRow } from '../../search/document.ts';

/** The fields of a row that say something about a creator, in the order of the API. */
export const CREATOR_FIELDS = DirectoryCreatorDetail.keyof().options;
export type CreatorField = (typeof CREATOR_FIELDS)[number];

const isFilled = (value: unknown): boolean => value !== null && value !== undefined && value !== '';

/** The share of rows that have a value, by field: 0 to 1. */
export const Fill = z.record(z.string(), z.number());
export type Fill = z.infer<typeof Fill>;

export interface FillCounter {
  add(row: CreatorRow): void;
  fill(): Fill;
}

export function countFilled(): FillCounter {
  const filledCounts = new Array<number>(CREATOR_FIELDS.length).fill(0);
  let rows = 0;
  return {
    add: (row) => {
      rows += 1;
      CREATOR_FIELDS.forEach((field, i) => {
        if (isFilled(row[field])) filledCounts[i] = (filledCounts[i] ?? 0) + 1;
      });
    },
    fill: () =>
      Object.fromEntries(CREATOR_FIELDS.map((field, i) => [field, rows === 0 ? 0 : (filledCounts[i] ?? 0) / rows])),
  };
}
