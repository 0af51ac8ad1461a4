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

const DAY = '2026-01-05';
export const letters = [...'abcdefghijkl'];

/** A file of one column beside those that its kind needs, with a line for each of its cells. */
function makeFile(of: Kind, header: string, cells: readonly string[]): string {
  if (of === 'roster') return lines(`Email,${header}`, ...cells.map((cell, i) => `${letters[i]}@c.example,${cell}`));
  const isOrder = of === 'orders' || of === 'reconciliation';
  const rows = cells.map((cell, i) => `${letters[i]}${isOrder ? '' : '@c.example'},${DAY},${i + 1}0.50,USD,${cell}`);
  return lines(isOrder ? `Order,Date,Amount,Currency,${header}` : `Email,Date,Commission,Currency,${header}`, ...rows);
}

/** The questions of a file, and the rest of each of its lines: an amount, a state, or nothing. */
export async function readCells(of: Kind, header: string, cells: readonly string[], mapping: Mapping = {}) {
  const { reading, lines: read } = await readWhole(of, makeFile(of, header, cells), mapping);
  const left = read.map(({ record }) => {
    if (record?.kind === 'order') return record.amount - record.refunded;
    if (record?.kind === 'paid') return record.amount;
    if (record?.kind === 'person') return record.status;
    return record?.kind === 'compared' ? record.is_cancelled : null;
  });
  return { asks: reading.questions.map(({ id }) => id), left };
}
