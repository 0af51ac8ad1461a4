import type { Read } from '../../platform/imports/reading/read-table.ts';
import type { ImportRow } from './imports.ts';

/** The reading of a file that is none of a kind that is read. */
export function refuseReading(row: ImportRow, kind: string, message: string): Read {
  return {
    plan: null,
    reading: {
      status: 'refused',
      reading_id: `${row.id}-${row.revision}`,
      file: { name: row.fileName, size_bytes: row.sizeBytes, sha256: row.sha256.toString('hex') },
      format: null,
      text: {
        encoding: '',
        separator: '',
        header_line: null,
        sheet: null,
        sheets: [],
        totals_lines: [],
        repaired: 0,
        differing: [],
      },
      columns: [],
      readings: {
        dates: null,
        time_zone: 'UTC',
        time_zone_by: 'brand',
        decimal: null,
        unit: 'major',
        goods: null,
        tax: null,
        currency: null,
      },
      statuses: [],
      questions: [],
      counts: { lines: 0, records: 0, read: 0, repeated: 0, left_out: 0, refused: 0 },
      sums: [],
      refusals: [{ kind, lines: 0, first_lines: [], message }],
      warnings: [],
      sample: [],
    },
  };
}
