import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import offensive from './offensive.json' with { type: 'json' };

const LETTERS = 'CFHJKMNPRTVWXY';
const DIGITS = '34679';
const MIN_STEM = 2;
const MAX_STEM = 10;
const NEUTRAL_STEM = 'FRIEND';
const SHORTEST_SUFFIX = 3;
const LONGEST_SUFFIX = 8;

/** Letters that NFKD does not decompose. */
const UNDECOMPOSED: Readonly<Record<string, string>> = {
  ẞ: 'SS',
  Æ: 'AE',
  Œ: 'OE',
  Ø: 'O',
  Ł: 'L',
  Đ: 'D',
  Ð: 'D',
  Þ: 'TH',
  Ħ: 'H',
  Ŋ: 'N',
  Ŧ: 'T',
};

/** Upper-case, accents removed: `Zoë Ångström` is `ZOE ANGSTROM`. A character without an ASCII letter is unchanged. */
export function foldName(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toUpperCase();
  return plain.replace(/[^\0-\x7f]/gu, (letter) => UNDECOMPOSED[letter] ?? letter);
}

/** Digits that readers take for letters. */
const READ_AS: Readonly<Record<string, string>> = {
  0: 'O',
  1: 'I',
  3: 'E',
  4: 'A',
  5: 'S',
  6: 'G',
  7: 'T',
  8: 'B',
  9: 'G',
};

/** Checks a code as written, with its digits read as letters, and without its digits. */
export function isOffensive(code: string): boolean {
  const foldedCode = foldName(code);
  const readings = [
    foldedCode.replace(/[^A-Z]/g, ''),
    foldedCode.replace(/\d/g, (digit) => READ_AS[digit] ?? '').replace(/[^A-Z]/g, ''),
  ];
  const words = foldedCode.split(/[^A-Z]+/);
  return (
    readings.some((text) => offensive.anywhere.some((word) => text.includes(word))) ||
    [...readings, ...words].some((word) => offensive.whole.includes(word))
  );
}

/** Picks the first word of the names that a code can begin with. */
export function pickStem(names: readonly (string | null)[]): string {
  const words = names.flatMap((name) => foldName(name ?? '').split(/[^A-Z]+/));
  const stems = words.map((word) => word.slice(0, MAX_STEM));
  return stems.find((stem) => stem.length >= MIN_STEM && !isOffensive(stem)) ?? NEUTRAL_STEM;
}

/** A byte maps to one of at most 19 symbols; the bias of a remainder is harmless, as codes are no secrets. */
function pick(symbols: string): string {
  return symbols[(randomBytes(1)[0] ?? 0) % symbols.length] ?? '';
}

/**
 * Draws a digit, then digits and letters, from symbols that cannot be confused: no 0, 1, 2, 5, 8 and no letter that
 * looks like them. A suffix has no vowels, so that it cannot form a word.
 */
function drawSuffix(length: number): string {
  const suffix = pick(DIGITS) + Array.from({ length: length - 1 }, () => pick(DIGITS + LETTERS)).join('');
  return isOffensive(suffix) ? drawSuffix(length) : suffix;
}

/** Draws a code such as `ANNA7KX` from the creator's names; each further attempt is longer. */
export function drawCode(names: readonly (string | null)[], attempt: number): string {
  const length = Math.min(SHORTEST_SUFFIX + attempt, LONGEST_SUFFIX);
  const stem = pickStem(names);
  for (let tries = 0; tries < 20; tries += 1) {
    const code = stem + drawSuffix(length);
    if (!isOffensive(code)) return code;
  }
  return drawCode([], attempt);
}

const SLUG = /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/;
const MAX_SLUG_STEM = 50;

/** The value as the last part of a short URL; undefined if it has characters that are not allowed there. */
export function toSlug(value: string): string | undefined {
  const slug = value.toLowerCase();
  return SLUG.test(slug) ? slug : undefined;
}

/** `value`, or else the creator's name, with a random suffix that grows with each attempt. */
function suffixedSlug(value: string, names: readonly (string | null)[], attempt: number): string {
  const isAddress = /^https?:/i.test(value);
  const words = isAddress
    ? ''
    : foldName(value)
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-');
  const stem = words.replace(/^-+/, '').slice(0, MAX_SLUG_STEM).replace(/-+$/, '');
  const start = stem.length < MIN_STEM ? pickStem(names).toLowerCase() : stem;
  return `${start}-${drawSuffix(Math.min(SHORTEST_SUFFIX + attempt, LONGEST_SUFFIX)).toLowerCase()}`;
}

interface SlugRequest {
  linkId: string;
  /** The preferred slug, which the link already has. */
  slug: string;
  value: string;
  /** Names of the creator, for a slug if the value cannot be one. */
  names: readonly (string | null)[];
}

const MAX_ATTEMPTS = 12;

/** The preferred slug of a link: its value, if that can stand in a short URL. */
export function firstSlug(value: string, names: readonly (string | null)[]): string {
  return toSlug(value) ?? suffixedSlug(value, names, 0);
}

/**
 * Gives each link its own slug: the preferred one, unless any brand ever had it. The links already exist with the
 * preferred slug; the unique index decides, and whoever comes second retries with a longer suffix.
 */
export async function assignSlugs(
  { db, now, brandId }: Work,
  requests: readonly SlugRequest[],
): Promise<Map<string, string>> {
  const slugs = new Map<string, string>();
  let remaining = [...requests];
  for (let attempt = 0; remaining.length > 0; attempt += 1) {
    if (attempt === MAX_ATTEMPTS) throw new Error(`${remaining.length} links found no free slug.`);
    const claims: SlugClaim[] = remaining.map(({ linkId, slug, value, names }) => ({
      linkId,
      slug: attempt === 0 ? slug : suffixedSlug(value, names, attempt),
    }));
    const owners = await claimSlugs(db, brandId, now, claims);
    for (const { linkId, slug } of claims) if (owners.has(linkId)) slugs.set(linkId, slug);
    remaining = remaining.filter(({ linkId }) => !owners.has(linkId));
  }
  const changes = requests.flatMap(({ linkId, slug: preferred }) => {
    const slug = slugs.get(linkId) ?? preferred;
    return slug === preferred ? [] : [{ linkId, slug }];
  });
  if (changes.length === 0) return slugs;
  await sql`
    update links set slug = change.slug
    from unnest(${changes.map(({ linkId }) => linkId)}::text[], ${changes.map(({ slug }) => slug)}::text[])
      as change (link_id, slug)
    where links.brand_id = ${brandId} and links.id = change.link_id`.execute(db);
  return slugs;
}

interface SlugClaim {
  linkId: string;
  slug: string;
}

/**
 * Claims slugs for links of the brand and returns the links that now own theirs, including those that already did. It
 * inserts in the order of the slugs, so that two transactions with the same slugs cannot deadlock.
 */
async function claimSlugs(db: Db, brandId: string, now: Date, claims: SlugClaim[]): Promise<Set<string>> {
  const sortedClaims = claims.toSorted((a, b) => (a.slug < b.slug ? -1 : 1));
  const claimedSlugs = await db
    .insertInto('linkSlugs')
    .values(sortedClaims.map((one) => ({ ...one, brandId, createdAt: now })))
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returning('linkId')
    .execute();
  const owners = new Set(claimedSlugs.map(({ linkId }) => linkId));
  const rest = sortedClaims.filter(({ linkId }) => !owners.has(linkId));
  if (rest.length === 0) return owners;
  const existing = await db
    .selectFrom('linkSlugs')
    .select(['linkId', 'slug'])
    .where('brandId', '=', brandId)
    .where(sql<boolean>`slug = any(${rest.map(({ slug }) => slug)}::text[])`)
    .execute();
  const pairs = new Set(existing.map(({ linkId, slug }) => `${linkId} ${slug}`));
  for (const { linkId, slug } of rest) if (pairs.has(`${linkId} ${slug}`)) owners.add(linkId);
  return owners;
}
