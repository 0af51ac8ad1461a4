import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/kit/values/duration.ts';
import {
  dayIn,
  daysAfter,
  isSameZone,
  listHours,
  listOffsets,
  offsetAt,
  timeIn,
  timeZoneName,
  toLocalText,
} from '../../../src/kit/values/time-zone.ts';

const Days = z.record(z.string(), z.object({ first: z.number(), minutes: z.array(z.tuple([z.number(), z.number()])) }));
/** Written by test/fixtures/zones/days.py. */
const ZONES = Days.parse(JSON.parse(readFileSync(new URL('../../fixtures/zones/days.json', import.meta.url), 'utf8')));

test.each(['PST', 'BST', 'IST', 'cst', 'SystemV/PST8PDT', '+05:30', 'UTC+2', 'Berlin'])('%s names no zone', (name) => {
  expect(timeZoneName(name)).toBeUndefined();
});

test.each(['EST', 'CET', 'utc', 'EST5EDT', 'Etc/GMT-14', 'Asia/Kolkata', 'Europe/Kyiv', 'GB'])(
  '%s names a zone',
  (name) => {
    expect(timeZoneName(name)).toBeDefined();
  },
);

describe('the calendar', () => {
  test.each(Object.entries(ZONES))('has the days of %s that Python has', (zone, { first, minutes }) => {
    const lengths = minutes.flatMap(([length, count]) => Array<number>(count).fill(length));
    expect(lengths).toHaveLength(400);
    let [day, start] = ['2026-01-01', first];
    for (const length of lengths) {
      const end = start + length * MINUTE_MS;
      const next = daysAfter(day, 1);
      expect([day, timeIn(zone, day).getTime(), dayIn(zone, new Date(start)), dayIn(zone, new Date(end - 1))]).toEqual([
        day,
        start,
        day,
        day,
      ]);
      [day, start] = [next, end];
    }
  });

  test('knows the moment of each change of the clocks, also by half an hour, and none elsewhere', () => {
    const [from, until] = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)];
    const changes = (zone: string) =>
      listOffsets(zone, from, until).map(({ sinceMs, offsetMs }) => [
        new Date(sinceMs).toISOString(),
        offsetMs / MINUTE_MS,
      ]);
    expect(changes('Australia/Lord_Howe')).toEqual([
      ['2026-01-01T00:00:00.000Z', 660],
      ['2026-04-04T15:00:00.000Z', 630],
      ['2026-10-03T15:30:00.000Z', 660],
    ]);
    expect(changes('Africa/Cairo').slice(1)).toEqual([
      ['2026-04-23T22:00:00.000Z', 180],
      ['2026-10-29T21:00:00.000Z', 120],
    ]);
    expect(changes('Asia/Kathmandu')).toEqual([['2026-01-01T00:00:00.000Z', 345]]);
    expect(changes('UTC')).toEqual([['2026-01-01T00:00:00.000Z', 0]]);
  });

  test('begins a day at 01:00 where midnight does not exist', () => {
    expect(toLocalText('Africa/Cairo', timeIn('Africa/Cairo', '2026-04-24').getTime())).toBe(
      '2026-04-24T01:00:00+03:00',
    );
    expect(timeIn('Africa/Cairo', '2026-04-24').getTime() - timeIn('Africa/Cairo', '2026-04-23').getTime()).toBe(
      DAY_MS,
    );
    expect(timeIn('Africa/Cairo', '2026-04-25').getTime() - timeIn('Africa/Cairo', '2026-04-24').getTime()).toBe(
      23 * HOUR_MS,
    );
  });

  test('lists the hours that clocks show, the doubled one twice', () => {
    const hours = (zone: string, day: string) =>
      listHours(zone, timeIn(zone, day).getTime(), timeIn(zone, daysAfter(day, 1)).getTime()).map((at) =>
        toLocalText(zone, at),
      );
    const autumn = hours('Europe/Berlin', '2027-10-31');
    expect(autumn).toHaveLength(25);
    expect(autumn.slice(1, 5)).toEqual([
      '2027-10-31T01:00:00+02:00',
      '2027-10-31T02:00:00+02:00',
      '2027-10-31T02:00:00+01:00',
      '2027-10-31T03:00:00+01:00',
    ]);
    expect(hours('Europe/Berlin', '2027-03-28')).toHaveLength(23);
    expect(hours('Asia/Kathmandu', '2027-03-28')[1]).toBe('2027-03-28T01:00:00+05:45');
    expect(hours('Australia/Lord_Howe', '2026-04-05').slice(0, 4)).toEqual([
      '2026-04-05T00:00:00+11:00',
      '2026-04-05T01:00:00+11:00',
      '2026-04-05T01:30:00+10:30',
      '2026-04-05T02:00:00+10:30',
    ]);
  });

  test('takes names of zones alone, and knows two names of one', () => {
    for (const text of ['+05:30', '-0300', 'UTC+2', 'GMT+2', 'Mars/Olympus', '', 'Europe/']) {
      expect([text, timeZoneName(text)]).toEqual([text, undefined]);
    }
    expect(isSameZone('Asia/Kolkata', 'Asia/Calcutta')).toBe(true);
    expect(isSameZone('Asia/Kolkata', 'Asia/Colombo')).toBe(false);
  });

  test('keeps an offset before 1900 and after 2150', () => {
    const zone = 'Europe/Berlin';
    expect(offsetAt(zone, Date.UTC(-1, 0))).toBe(offsetAt(zone, Date.UTC(1900, 0)));
    expect(offsetAt(zone, Date.UTC(9999, 0))).toBe(HOUR_MS);
    expect(timeIn(zone, '9999-12-31').toISOString()).toBe('9999-12-30T23:00:00.000Z');
  });
});
