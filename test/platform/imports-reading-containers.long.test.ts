import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readTable } from '../../src/platform/imports/reading/read-table.ts';
import { BRAND, makeSource } from './imports-check.ts';

test('An archive that unpacks to more than a file may have is refused as too large', async () => {
  const bomb = new Uint8Array(gzipSync(Buffer.alloc(210 * 1024 * 1024, 'a,b\n')));
  const request = { of: 'commissions', mapping: {}, brand: BRAND, now: new Date('2026-11-27T18:00:00Z') } as const;
  const { reading } = await readTable(makeSource('file', bomb), request);
  expect(reading.refusals).toMatchObject([{ kind: 'too_large' }]);
});
