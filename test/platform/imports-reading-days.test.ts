import { describe, expect, test } from 'vitest';
import { readWhole } from './imports-check.ts';
import { lines } from './imports-field.ts';

/** The times of payment that a file says, with what it asks and refuses. */
async function readPaid(...cells: string[]) {
  const { reading, records } = await readWhole(
    'commissions',
    lines('Email;Commission;Currency;Paid at', ...cells.map((cell, i) => `a${i}@c.example;10.50;EUR;${cell}`)),
  );
  const times = records.map((record) => (record.kind === 'paid' ? record.paid_at : ''));
  return { asks: reading.questions.map(({ id }) => id), refused: reading.counts.refused, times };
}

const right = (...times: string[]) => ({ asks: [], refused: 0, times });

const LANGUAGES =
  'en de fr es it nl pt pl sv da nb fi cs sk hu ro sl ru uk bg sr be mk el tr az he ar-SY et lv lt th vi eu ca gl ja ko zh hi id ms sw af'.split(
    ' ',
  );

describe('a day as its language writes it', () => {
  test.each(LANGUAGES)('is that day, with its weekday and without: %s', async (language) => {
    const days = ['2026-02-13', '2026-03-14', '2026-05-17', '2026-08-20'];
    for (const dateStyle of ['full', 'long'] as const) {
      const format = new Intl.DateTimeFormat(language, { dateStyle, timeZone: 'UTC' });
      const { refused, times } = await readPaid(...days.map((day) => format.format(new Date(day))));
      expect({ dateStyle, refused, days: times.map((time) => time.slice(0, 10)) }).toEqual({
        dateStyle,
        refused: 0,
        days,
      });
    }
  });

  test('is read on Saturdays and Sundays as well, whose short names are months elsewhere', async () => {
    expect(await readPaid('Fri, 13 Feb 2026 10:00:00 +0100', 'Sat, 14 Feb 2026 10:00:00 +0100')).toEqual(
      right('2026-02-13T09:00:00.000Z', '2026-02-14T09:00:00.000Z'),
    );
    expect(await readPaid('Sun, 15 Mar 2026 10:00:00 GMT')).toEqual(right('2026-03-15T10:00:00.000Z'));
    expect(await readPaid('mar. 10 mar 2026')).toEqual(right('2026-03-10T12:00:00.000Z'));
  });

  test('is read with the name of its zone behind the offset, and with a word behind the year', async () => {
    expect(await readPaid('Fri Feb 13 2026 10:00:00 GMT+0100 (Central European Standard Time)')).toEqual(
      right('2026-02-13T09:00:00.000Z'),
    );
    expect(await readPaid('13.02.2026 г., 10:00', '14.02.2026 г.')).toEqual(
      right('2026-02-13T10:00:00.000Z', '2026-02-14T12:00:00.000Z'),
    );
  });

  test('is none where words stand beside the month that no language writes there', async () => {
    const { reading } = await readWhole(
      'commissions',
      lines('Email,Commission,Currency,Paid at', 'a@c.example,10.50,EUR,March to April 5 2026'),
    );
    expect(reading.status).toBe('refused');
  });
});

describe('a serial of a spreadsheet', () => {
  test('with a time of day is that time, with a point or a comma', async () => {
    expect(await readPaid('46066.5', '46067.25', '46068')).toEqual(
      right('2026-02-13T12:00:00.000Z', '2026-02-14T06:00:00.000Z', '2026-02-15T12:00:00.000Z'),
    );
    expect(await readPaid('46066,5')).toEqual(right('2026-02-13T12:00:00.000Z'));
  });

  test('is none under an amount', async () => {
    const { records } = await readWhole(
      'commissions',
      lines('Email,Commission,Currency,Date', 'a@c.example,46066.50,EUR,2026-02-13'),
    );
    expect(records).toMatchObject([{ amount: 4_606_650 }]);
  });
});
