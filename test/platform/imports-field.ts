import { expect } from 'vitest';
import type { Kind } from '../../src/platform/imports/reading/kinds.ts';
import type { Mapping } from '../../src/platform/imports/reading/shapes.ts';
import { type Read, readWhole } from './imports-check.ts';

const show = ({ records }: Read) =>
  records.map((record) => {
    if (record.kind === 'order')
      return `${record.order_number ?? record.order_id} ${record.amount - record.refunded} ${record.currency} ${record.placed_at.slice(0, 16)}`;
    if (record.kind === 'paid')
      return `${record.email} ${record.amount} ${record.currency} ${record.paid_at.slice(0, 10)}`;
    if (record.kind === 'person') {
      const codes = record.codes.map(({ code, rate_ppm }) => ` ${code} ${rate_ppm}`).join('');
      return `${record.email} ig=${record.instagram} tt=${record.tiktok}${codes}`;
    }
    return record.kind === 'directory' ? record.username : '';
  });
const asked = ({ reading }: Read) => reading.questions.map(({ id }) => id).toSorted();

export const lines = (...rows: string[]) => `${rows.join('\n')}\n`;

/** A file of the field, what it asks, and what it says once that is answered. */
export interface FieldCase {
  title: string;
  of: Kind;
  content: string | Uint8Array;
  asks: string[];
  mapping: Mapping;
  records: string[];
}

export async function expectRead({ of, content, asks, mapping, records }: FieldCase): Promise<Read> {
  expect(asked(await readWhole(of, content))).toEqual(asks);
  const answered = await readWhole(of, content, mapping);
  expect(show(answered)).toEqual(records);
  return answered;
}
