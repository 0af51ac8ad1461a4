import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { listForms } from '../../kit/values/email.ts';
import { toLikePattern } from '../../workflow/creators/creators.ts';
import type { Fact } from '../imports/erased.ts';

/** Texts that name one person and nobody else, for a search. */
export interface Names {
  /** Addresses, full names and `@handles`. */
  texts: readonly string[];
  /** Regular expressions that find each of them as a whole. */
  expressions: readonly string[];
  /** By what else the records of imports name them. */
  facts: readonly Fact[];
}

/** Longer ones are words, not names. */
const MOST_LENGTH = 200;
const LEAST_FULL_NAME = 8;

const isAddress = (name: string): boolean => /[^\s@]@[^\s@]/.test(name);

/** Lists the texts within a JSON value that name somebody and mean nothing else: addresses, `@handles`, names of several words. */
export function listNames(value: unknown): string[] {
  if (typeof value === 'string') {
    const text = value.trim();
    const isFullName = text.length >= LEAST_FULL_NAME && /\s/.test(text);
    return text.length <= MOST_LENGTH && (/\S@\S|^@\S/.test(text) || isFullName) ? [text] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(listNames);
}

const toLiteral = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Signs that may stand in an address before the at sign, but also around one: "o'ana@x.com", and 'ana@x.com' in quotes. */
const SIGNS = "[!#$%&'*^`{}~]";

/**
 * Finds a name as a whole: "Ann Lee" is not in "Joann Lee", nor `ann@x.com` in `joann@x.com`, `jo'ann@x.com`, or after a known
 * beginning of somebody's longer address.
 */
function toExpression(name: string, beginnings: readonly string[]): string {
  const literal = name.split(/\s+/).map(toLiteral).join('\\s+');
  const before = [
    '(?<![[:alnum:]._+-])',
    ...(isAddress(name) ? [`(?<![[:alnum:]]${SIGNS}+)`] : []),
    ...beginnings.map((beginning) => `(?<!${toLiteral(beginning)})`),
  ];
  return `${before.join('')}${literal}(?![[:alnum:]_-]|[.][[:alnum:]])`;
}

/** The person to whom names belong; the id of somebody who is no creator is empty. */
interface Bearer {
  id: string;
  brandId: string;
  email: string | null;
}

/** Names, addresses and `@handles` of everybody else whom the brand knows. */
function listOthers({ id, brandId, email }: Bearer) {
  const ofTable = (table: string, column: string, isOther = sql`true`) => sql`
    select own.${sql.ref(column)} as name from ${sql.table(table)} as own
    where own.brand_id = ${brandId} and own.creator_id is distinct from ${id} and ${isOther}`;
  const ofCreators = (name: RawBuilder<unknown>) =>
    sql`select ${name} from creators as own where own.brand_id = ${brandId} and own.id <> ${id}`;
  const ofPeople = (column: string) =>
    sql`select ${sql.ref(column)} from people where brand_id = ${brandId} and removed_at is null`;
  // An application from before the person was a creator is theirs as well.
  const isOther = sql`lower(own.creator_email) is distinct from lower(${email}::text)`;
  const parts = [
    ...[
      sql`own.email`,
      sql`own.name`,
      sql`'@' || ltrim(own.ig_handle, '@')`,
      sql`'@' || ltrim(own.tt_handle, '@')`,
    ].map(ofCreators),
    ofTable('creator_addresses', 'email'),
    ofTable('applications', 'creator_email', isOther),
    ofTable('applications', 'creator_name', isOther),
    ofTable('payment_profiles', 'wallet_email'),
    ofTable('payment_profiles', 'legal_name'),
    ofTable('payouts', 'wallet_email'),
    ofTable('contracts', 'signer_name'),
    ...['email', 'name'].map(ofPeople),
  ];
  return sql`(${sql.join(parts, sql` union `)}) as known (name)`;
}

/** Titles of campaigns, and of briefs and contracts of others: a person's name may be the same words. */
const listTitles = ({ id, brandId }: Bearer) => sql`(
  select title from campaigns where brand_id = ${brandId}
  union select title from briefs where brand_id = ${brandId} and creator_id is distinct from ${id}
  union select title from contracts where brand_id = ${brandId} and creator_id is distinct from ${id}) as titled (name)`;

/** Finds quickly what may have one of these names; their expressions decide. JSON has its own spelling of a text. */
export const patterns = (texts: readonly string[]) => {
  const spellings = texts.flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]);
  const wildSpellings = [...new Set(spellings)].map((text) => text.split(/\s+/).map(toLikePattern).join(''));
  return sql`any(${wildSpellings}::text[])`;
};

const fold = (text: string): string => text.trim().toLowerCase().replaceAll(/\s+/g, ' ');

/**
 * Keeps of a person's names those that nobody else has: another creator, somebody who applied, a colleague or a title of the
 * brand. In a text, the others may mean either.
 */
export async function toNames(
  db: Db,
  bearer: Bearer,
  candidates: readonly string[],
  facts: readonly Fact[],
): Promise<Names> {
  const texts = [...new Set(candidates.flatMap((name) => (isAddress(name) ? listForms(name) : [name])))];
  if (texts.length === 0) return { texts, expressions: [], facts };
  const find = async (names: RawBuilder<unknown>) =>
    (await sql<{ name: string }>`select name from ${names} where name ilike ${patterns(texts)}`.execute(db)).rows;
  const known = (await find(listOthers(bearer))).map(({ name }) => fold(name));
  const titleFolds = new Set((await find(listTitles(bearer))).map(({ name }) => fold(name)));
  const isOthers = (text: string): boolean => {
    const folded = fold(text);
    if (titleFolds.has(folded) || known.includes(folded)) return true;
    // "Ann Lee" within "Ann Lee Park" would leave half of another's name.
    return !text.includes('@') && known.some((name) => ` ${name} `.includes(` ${folded} `));
  };
  const ownTexts = texts.filter((text) => !isOthers(text));
  const expressions = ownTexts.map((text) => {
    const folded = fold(text);
    const beginnings = known.flatMap((name) =>
      name.length > folded.length && name.endsWith(folded) ? [name.slice(0, -folded.length)] : [],
    );
    return toExpression(text, isAddress(text) ? beginnings : []);
  });
  return { texts: ownTexts, expressions, facts };
}

/** True of a text, list or JSON value that names the person. */
export const mentions = (value: RawBuilder<unknown>, { texts, expressions }: Names) =>
  sql`(${value}::text ilike ${patterns(texts)} and has_names(${value}, ${[...expressions]}::text[]))`;

/** A JSON value without these fields, and without strings that name the person. */
export const redact = (value: RawBuilder<unknown>, fields: RawBuilder<unknown>, { expressions }: Names) =>
  sql`redact_json(${value}, ${fields}, ${[...expressions]}::text[])`;

/** A text, list or JSON value in which the person's names are replaced. */
export const replaceNames = (value: RawBuilder<unknown>, { expressions }: Names) =>
  sql`replace_names(${value}, ${[...expressions]}::text[])`;
