import { describe, expect, test } from 'vitest';
import { cleanCell } from '../../src/platform/imports/reading/cells.ts';
import { readNumber, readPpm, settleNumber, toMinorUnits } from '../../src/platform/imports/reading/numbers.ts';
import { readEmail, readHandle } from '../../src/platform/imports/reading/people.ts';
import { DATE_ORDERS, readClock, readTime, settleTime } from '../../src/platform/imports/reading/times.ts';
import { randomRuns, testSeed } from '../harness/kit/random-runs.ts';
import { makeRandom, pick, type Random } from './imports-draw.ts';

/** `RANDOM_RUNS=1000000` for the long run. */
const CELLS = randomRuns(6_000, 60_000);
const NOW = new Date('2026-11-27T12:00:00Z');

const SEEDS = [
  ...['1.250,50', "1'250.50", '1\u202f250,50', '€ 12,50', '(5.00)', '5.00-', '٣', '$1,250.50', '1,25,000.50', '100,-'],
  ...['2026-10-05 11:01:13 +0200', '13/02/2026', '7/8/26', 'May 21, 2026', '21. März 2026, 10:30 Uhr', '46300.5'],
  ...[
    '1790000000',
    'Ana <m1@creators.example>',
    'https://www.instagram.com/max.two/',
    '5.84E+12',
    '="00123"',
    '12.5 %',
  ],
];
const PIECES = [...' .,-+()\'"%€$£¥0123456789/:TZ@<>;|\u00a0\u202f\u200f٫٬٣五年APMaprmai\n\t\u0000\ud83d\ude00'];

function mutate(random: Random, text: string): string {
  const characters = [...text];
  const times = 1 + Math.floor(random() * 4);
  for (let i = 0; i < times; i += 1) {
    const at = Math.floor(random() * (characters.length + 1));
    const kind = random();
    if (kind < 0.4) characters.splice(at, 0, pick(random, PIECES));
    else if (kind < 0.7) characters.splice(at, 1);
    else characters.splice(at, 1, pick(random, PIECES));
  }
  return characters.join('');
}

/** The amounts that the digits of a cell can mean: its digits in order, with a mark after any of them, or none. */
function isMadeOfDigits(text: string, digits: string): boolean {
  const said = text
    .normalize('NFKC')
    .replace(/[\u0660-\u0669]/g, (digit) => String((digit.codePointAt(0) ?? 0) - 0x660))
    .replace(/\D/g, '');
  return said.replace(/^0+/, '') === digits.replace(/^0+/, '');
}

describe(`mutated cells (TEST_SEED=${testSeed})`, () => {
  test('no parser throws, and no number has other digits than its cell', () => {
    const random = makeRandom(testSeed);
    for (let i = 0; i < CELLS; i += 1) {
      const text = cleanCell(mutate(random, pick(random, SEEDS)));
      const number = readNumber(text);
      if (number) {
        expect(isMadeOfDigits(text, number.value.digits), text).toBe(true);
        if (number.open) expect(isMadeOfDigits(text, number.open.asDecimal.digits), text).toBe(true);
      }
      readPpm(text, 'percent');
      readEmail(text);
      const handle = readHandle(text);
      if (handle !== undefined) expect(handle).toMatch(/^[a-z0-9_.]{1,30}$/);
      readClock(text);
      const time = readTime(text);
      if (!time) continue;
      for (const order of DATE_ORDERS) {
        const reading = { order, languages: ['en', 'de'], digits: 'serial', timeZone: 'Europe/Berlin' } as const;
        const instant = settleTime(time, reading, { clock: null, zone: null }, NOW);
        if ('atMs' in instant) expect(new Date(instant.atMs).getUTCFullYear(), text).toBeGreaterThanOrEqual(1970);
      }
    }
  });

  test('an amount written in any way is read as exactly itself, or as open', () => {
    const random = makeRandom(testSeed + 1);
    for (let i = 0; i < CELLS; i += 1) {
      const minor = Math.floor(random() * 10 ** (1 + Math.floor(random() * 10)));
      const digits = String(minor).padStart(3, '0');
      const [mark, group] = pick(random, [
        ['.', ','],
        ['.', ''],
        ['.', "'"],
        ['.', ' '],
        [',', '.'],
        [',', ''],
        [',', '\u202f'],
        [',', '\u00a0'],
      ] as const);
      const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, group);
      const sign = pick(random, ['', '€ ', '$', 'EUR ', 'zł ']);
      const text = sign + whole + mark + digits.slice(-2);
      const number = readNumber(text);
      expect(number, text).toBeDefined();
      if (!number) continue;
      for (const each of ['.', ','] as const)
        expect(toMinorUnits(settleNumber(number, each, 'USD'), 'USD', 'major'), text).toEqual({ minor });
    }
  });

  test('a moment written in any order is read as itself under that order', () => {
    const random = makeRandom(testSeed + 2);
    for (let i = 0; i < CELLS / 10; i += 1) {
      const at = new Date(
        Math.floor((Date.UTC(2001, 0, 1) + random() * (NOW.getTime() - Date.UTC(2001, 0, 1))) / 1_000) * 1_000,
      );
      const iso = at.toISOString();
      const [year, month, day, clock] = [iso.slice(0, 4), iso.slice(5, 7), iso.slice(8, 10), iso.slice(11, 19)];
      const order = pick(random, ['dmy', 'mdy'] as const);
      const mark = pick(random, ['/', '.', '-']);
      const date = order === 'dmy' ? [day, month, year] : [month, day, year];
      const text = `${date.join(mark)}${pick(random, [' ', ', ', 'T'])}${clock}${pick(random, ['', ' UTC', ' +0000', ' GMT', 'Z'])}`;
      const cell = readTime(text);
      expect(cell, text).toBeDefined();
      if (!cell) continue;
      const reading = { order, languages: [], digits: null, timeZone: 'UTC' } as const;
      expect(settleTime(cell, reading, { clock: null, zone: null }, NOW), text).toEqual({ atMs: at.getTime() });
    }
  });
});
