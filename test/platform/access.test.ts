import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { periodAt } from '../../src/kit/access/credits/period.ts';
import { hashKey, isWellFormedKey, newApiKey } from '../../src/kit/access/keys/key-form.ts';

describe('API keys', () => {
  it('have svk_ and 40 base62 characters, 44 in all, and never repeat', () => {
    const keys = Array.from({ length: 1_000 }, newApiKey);
    for (const key of keys) expect(key).toMatch(/^svk_[0-9A-Za-z]{40}$/);
    expect(new Set(keys).size).toBe(1_000);
  });

  it('with one changed character are refused without a lookup', () => {
    const key = newApiKey();
    expect(isWellFormedKey(key)).toBe(true);
    for (let i = 0; i < key.length; i += 1) {
      const other = key[i] === 'A' ? 'B' : 'A';
      expect(isWellFormedKey(key.slice(0, i) + other + key.slice(i + 1))).toBe(false);
    }
  });

  it('are stored as a digest that does not contain the key', () => {
    const key = newApiKey();
    expect(hashKey(key)).toHaveLength(32);
    expect(hashKey(key).toString('latin1')).not.toContain(key.slice(4));
  });
});

describe('billing periods', () => {
  const time = fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true });

  it('contain the given time, follow each other without a gap, and start on the anchor day or the month’s last day', () => {
    fc.assert(
      fc.property(time, time, (anchor, now) => {
        const { start, end } = periodAt(anchor, now);
        expect(start <= now && now < end).toBe(true);
        expect(periodAt(anchor, end).start).toEqual(end);
        expect(periodAt(anchor, new Date(end.getTime() - 1))).toEqual({ start, end });
        const lastDay = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0)).getUTCDate();
        expect(start.getUTCDate()).toBe(Math.min(anchor.getUTCDate(), lastDay));
        expect(start.toISOString().slice(11)).toBe(anchor.toISOString().slice(11));
      }),
    );
  });

  it('anchored on the 31st end on the last day of a short month and return to the 31st', () => {
    const anchor = new Date('2026-01-31T10:00:00.000Z');
    const start = (now: string) => periodAt(anchor, new Date(now)).start.toISOString();
    expect(start('2026-02-28T09:59:59.999Z')).toBe('2026-01-31T10:00:00.000Z');
    expect(start('2026-02-28T10:00:00.000Z')).toBe('2026-02-28T10:00:00.000Z');
    expect(start('2026-03-31T10:00:00.000Z')).toBe('2026-03-31T10:00:00.000Z');
    expect(start('2028-02-29T10:00:00.000Z')).toBe('2028-02-29T10:00:00.000Z');
  });
});
