import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DirectoryCreator, DirectoryCreatorDetail } from '../../../src/directory/search/creator.shapes.ts';
import { toDocument } from '../../../src/directory/search/document.ts';

const text = fc.option(fc.string({ unit: 'grapheme', maxLength: 40 }));
const count = fc.option(fc.nat());
const place = fc.option(fc.constantFrom('Brooklyn', 'NY', 'new york', 'US', 'USA', 'Paris', 'France', '', 'Ω'));
const rows = fc.record({
  pk: fc.maxSafeNat(),
  username: fc.string({ minLength: 1, maxLength: 40 }),
  full_name: text,
  follower_count: count,
  engagement_rate: fc.option(fc.double({ min: 0, max: 1_000, noNaN: true })),
  category: text,
  biography: text,
  extracted_email: text,
  niches: text,
  city: place,
  state: place,
  country: place,
  profile_pic_url: text,
  is_verified: fc.option(fc.boolean()),
  external_url: text,
  following_count: count,
  media_count: count,
  gender: text,
  age: fc.option(fc.nat(150)),
});

describe('the document of an import row', () => {
  it('has a card of exactly the fifteen fields that a search returns, in their order, with the row’s own values', () => {
    fc.assert(
      fc.property(rows, (row) => {
        const { card } = toDocument(row);
        expect(Object.keys(card)).toEqual(Object.keys(DirectoryCreator.shape));
        expect(card).toEqual(DirectoryCreator.strip().parse(row));
      }),
    );
  });

  it('keeps every value of a row through JSON', () => {
    fc.assert(
      fc.property(rows, (row) => {
        const stored = JSON.parse(JSON.stringify(toDocument(row)));
        const { following_count = null, media_count = null, gender = null, age = null } = stored.x;
        const read = DirectoryCreatorDetail.parse({ ...stored.card, following_count, media_count, gender, age });
        // JSON has no negative zero.
        expect(JSON.stringify(read)).toBe(JSON.stringify(DirectoryCreatorDetail.parse(row)));
      }),
    );
  });

  it('has null in the card for what a row omits', () => {
    const { card } = toDocument({ pk: 7, username: 'ana' });
    expect(card).toEqual({
      ...Object.fromEntries(Object.keys(card).map((field) => [field, null])),
      pk: 7,
      username: 'ana',
    });
  });

  it('splits niches at commas and drops blanks', () => {
    expect(toDocument({ pk: 1, username: 'a', niches: ' yoga,, vegan cooking ,' }).x.niches).toEqual([
      'yoga',
      'vegan cooking',
    ]);
    expect(toDocument({ pk: 1, username: 'a', niches: null }).x.niches).toEqual([]);
  });

  it('has an email only if the row has one that is not blank', () => {
    const hasEmail = (extracted_email: string | null) =>
      toDocument({ pk: 1, username: 'a', extracted_email }).x.has_email;
    expect([hasEmail('a@example.com'), hasEmail(' '), hasEmail(''), hasEmail(null)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('derives state, country and metros from every stored spelling', () => {
    const of = (city: string, state: string, country: string) =>
      toDocument({ pk: 1, username: 'a', city, state, country }).x;
    for (const x of [
      of('Brooklyn', 'NY', 'US'),
      of('brooklyn', 'New York', 'United States'),
      of('Brooklyn', 'ny', 'USA'),
    ]) {
      expect(x).toMatchObject({ state_code: 'NY', country_code: 'US' });
      expect(x.metros).toContain('nyc');
    }
    expect(of('Miami', 'Oklahoma', 'US').metros).not.toContain('miami');
  });
});
