import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openPageLinks, type PageKind, type PageLink } from '../../src/kit/access/page-tokens.ts';
import { openSecrets } from '../../src/kit/values/secrets.ts';

const links = openPageLinks({ linksUrl: 'https://go.example' }, openSecrets(Buffer.alloc(32, 1)));
const elsewhere = openPageLinks({ linksUrl: 'https://go.example' }, openSecrets(Buffer.alloc(32, 2)));
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const character = fc.constantFrom(...ALPHABET);
const id = fc
  .tuple(fc.constantFrom('brf', 'ctr', 'cnv', 'mai'), fc.array(character, { minLength: 20, maxLength: 20 }))
  .map(([prefix, rest]) => `${prefix}_${rest.join('')}`);
const kind = fc.constantFrom<PageKind>(
  'brief',
  'sign',
  'work',
  'talk',
  'parcel',
  'statement',
  'files',
  'unsubscribe',
  'confirm',
);
const link: fc.Arbitrary<PageLink> = fc.record({
  kind,
  rowId: id,
  version: fc.integer({ min: 0, max: 14_000_000 }),
  expiresAt: fc.integer({ min: 1_700_000_000, max: 9_999_999_999 }).map((seconds) => new Date(seconds * 1_000)),
  holderId: fc.option(id, { nil: undefined }),
});
const before = ({ expiresAt }: PageLink) => new Date(expiresAt.getTime() - 1);

describe('a page’s token', () => {
  it('can be read by its installation, and contains only base62 characters', () => {
    fc.assert(
      fc.property(link, (one) => {
        const token = links.signToken(one);
        expect(token).toMatch(/^[0-9A-Za-z]{56,79}$/);
        expect(links.read(one.kind, token, before(one))).toEqual(one);
        expect(links.urlOf(one)).toBe(`https://go.example/${one.kind}/${token}`);
      }),
    );
  });

  it('opens nothing from the moment it expires', () => {
    fc.assert(
      fc.property(link, (one) => {
        expect(links.read(one.kind, links.signToken(one), one.expiresAt)).toBeUndefined();
      }),
    );
  });

  it('opens no page of another kind, and nothing under another secret', () => {
    fc.assert(
      fc.property(link, kind, (one, other) => {
        const token = links.signToken(one);
        if (other !== one.kind) expect(links.read(other, token, before(one))).toBeUndefined();
        expect(elsewhere.read(one.kind, token, before(one))).toBeUndefined();
      }),
    );
  });

  it('opens nothing when a character is changed, missing or added', () => {
    fc.assert(
      fc.property(link, fc.nat(), character, (one, at, other) => {
        const token = links.signToken(one);
        const i = at % token.length;
        const now = new Date(0);
        const [head, tail] = [token.slice(0, i), token.slice(i + 1)];
        if (other !== token[i]) expect(links.read(one.kind, head + other + tail, now)).toBeUndefined();
        expect(links.read(one.kind, head + tail, now)).toBeUndefined();
        expect(links.read(one.kind, head + other + token.slice(i), now)).toBeUndefined();
      }),
    );
  });

  it('is never valid for random text', () => {
    fc.assert(
      fc.property(kind, fc.string({ maxLength: 600, unit: 'binary' }), (one, text) => {
        expect(links.read(one, text, new Date(0))).toBeUndefined();
      }),
    );
  });

  it('is only made for ids of our form', () => {
    const one = { kind: 'sign' as const, version: 1, expiresAt: new Date(2e12) };
    for (const rowId of ['ctr_short', `ctr_${'a'.repeat(21)}`, `CTR_${'a'.repeat(20)}`, '']) {
      expect(() => links.signToken({ ...one, rowId })).toThrow('does not have the form of our ids');
    }
  });
});
