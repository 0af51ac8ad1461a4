import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mint, mintClick, readClick } from '../../src/kit/values/click-token.ts';
import { newId } from '../../src/kit/values/ids.ts';

const key = randomBytes(32);
const CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.';

const clicks = fc.record({
  linkId: fc.integer({ min: 0, max: 4e12 }).map((ms) => newId('lnk', ms)),
  atMs: fc.integer({ min: 0, max: 4e12 }),
  days: fc.integer({ min: 1, max: 90 }),
});

it('a click id tells its installation which link was clicked and when, and a shop how long it counts', () => {
  fc.assert(
    fc.property(clicks, (click) => {
      const token = mintClick(key, click);
      const end = /^clk_\w{44}\.(\w{5,6})[\w-]{16}$/.exec(token)?.[1] ?? '';
      expect(Number.parseInt(end, 36) * 60_000 - click.atMs - click.days * 86_400_000).toBeLessThan(60_000);
      const read = readClick(key, token);
      expect(read).toEqual({ linkId: click.linkId, at: new Date(click.atMs), id: token.slice(0, 24) });
    }),
  );
});

it('a click id with any character changed, removed or added is refused', () => {
  fc.assert(
    fc.property(clicks, fc.nat(), fc.constantFrom(...CHARACTERS), (click, position, character) => {
      const token = mintClick(key, click);
      const at = position % token.length;
      const [before, after] = [token.slice(0, at), token.slice(at + 1)];
      if (token[at] !== character) expect(readClick(key, before + character + after)).toBeUndefined();
      expect(readClick(key, before + after)).toBeUndefined();
      expect(readClick(key, before + character + token.slice(at))).toBeUndefined();
    }),
    { numRuns: 1_000 },
  );
});

it('a click id of another installation is refused', () => {
  fc.assert(
    fc.property(clicks, fc.uint8Array({ minLength: 32, maxLength: 32 }), (click, foreign) => {
      expect(readClick(key, mintClick(Buffer.from(foreign), click))).toBeUndefined();
    }),
  );
});

it('a text that is not a click id is never read as one', () => {
  const token = mintClick(key, { linkId: newId('lnk', 1), atMs: 1 });
  for (const text of ['', 'clk_', `${token} `, ` ${token}`, `${token}\n`, token.toUpperCase(), token.repeat(2)]) {
    expect(readClick(key, text)).toBeUndefined();
  }
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(readClick(key, text)).toBeUndefined();
    }),
  );
});

it('two clicks on one link in one millisecond have different ids', () => {
  const ids = Array.from({ length: 1_000 }, () => mint(key, { linkId: newId('lnk', 1), atMs: 1 }).id);
  expect(new Set(ids).size).toBe(1_000);
});
