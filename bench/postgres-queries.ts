import type { CreatorDocument } from '../src/directory/search/document.ts';
import { readState } from '../src/directory/search/places.ts';
import { CreatorSearchQuery, pageOfQuery } from '../src/directory/search/search.shapes.ts';
import { type ReadPlaces, readPlaces } from '../src/directory/search/interpretation.ts';
import { foldAccents } from '../src/kit/values/fold.ts';
import type { Parameters } from './queries.ts';

/** The returned columns, then the search columns: folded like the mapping's normalizer. */
export const TABLE = `
  CREATE TABLE creators (
    pk bigint PRIMARY KEY, username text, full_name text, follower_count bigint, engagement_rate double precision,
    category text, biography text, extracted_email text, niches text, city text, state text, country text,
    profile_pic_url text, is_verified boolean, external_url text,
    gender_key text, has_email boolean, category_key text, niches_key text, city_key text, country_key text,
    country_code text, state_code text, metros text[], username_key text, words tsvector
  )`;

/** Named, because two that are created at once may otherwise choose the same name. */
export const INDEXES = [
  '(follower_count DESC NULLS LAST, pk)',
  '(engagement_rate DESC NULLS LAST, pk)',
  '(category_key, country_code, follower_count DESC NULLS LAST, pk)',
  '(country_code, follower_count DESC NULLS LAST, pk)',
  '(has_email, follower_count DESC NULLS LAST, pk)',
  '(gender_key, follower_count DESC NULLS LAST, pk)',
  '(state_code, gender_key, engagement_rate DESC NULLS LAST, pk)',
  '(city_key text_pattern_ops)',
  '(username_key text_pattern_ops)',
  'USING gin (niches_key gin_trgm_ops)',
  'USING gin (city_key gin_trgm_ops)',
  'USING gin (country_key gin_trgm_ops)',
  'USING gin (metros)',
  'USING gin (words)',
].map((columns, at) => `CREATE INDEX creators_${at} ON creators ${columns}`);

const CARD = `pk, username, full_name, follower_count, engagement_rate, category, biography, extracted_email, niches,
  city, state, country, profile_pic_url, is_verified, external_url`;

type Cell = string | number | boolean | null | undefined;

function escaped(value: Cell): string {
  if (value === null || value === undefined) return '\\N';
  const text = String(value);
  return /[\\\t\n\r]/.test(text)
    ? text.replace(/\\/g, '\\\\').replace(/\t/g, '\\t').replace(/\n/g, '\\n').replace(/\r/g, '\\r')
    : text;
}

const folded = (text: string | null | undefined): string | null => (text ? foldAccents(text).trim() : null);

/** The words of the five searched fields as a tsvector that needs no parser: the analyzer's words. */
function vector(texts: readonly (string | null)[]): string {
  const words = foldAccents(texts.join(' ')).match(/[\p{L}\p{N}]+(?:'[\p{L}\p{N}]+)*/gu) ?? [];
  return [...new Set(words)].map((word) => `'${word.replaceAll("'", "''")}'`).join(' ');
}

function stateCode(state: string | null, code: string | undefined): string | null {
  const reading = state ? readState(state) : undefined;
  return code ?? (reading?.kind === 'state' ? reading.state.code : folded(state));
}

/** A creator as one line in COPY's text format. */
export function lineOf({ card, x }: CreatorDocument): string {
  const { username, full_name, biography, niches, category } = card;
  const cells: Cell[] = [
    ...Object.values(card),
    folded(x.gender),
    x.has_email,
    folded(category),
    x.niches.map(folded).join('|'),
    folded(card.city),
    folded(card.country),
    x.country_code,
    stateCode(card.state, x.state_code),
    `{${x.metros.join(',')}}`,
    folded(username),
    vector([username, full_name, biography, niches, category]),
  ];
  return `${cells.map(escaped).join('\t')}\n`;
}

interface Statement {
  where: string[];
  values: unknown[];
}

const like = (text: string) =>
  `%${foldAccents(text)
    .trim()
    .replace(/[\\%_]/g, '\\$&')}%`;

function addPlace(
  statement: Statement,
  reading: ReadPlaces['city'] | ReadPlaces['state'] | ReadPlaces['country'],
): void {
  const add = (condition: string, value: unknown) => {
    statement.values.push(value);
    statement.where.push(condition.replace('?', `$${statement.values.length}`));
  };
  if (!reading) return;
  if (reading.kind === 'metro') add('metros @> ?', [reading.metro.id]);
  else if (reading.kind === 'city') add('city_key = ?', foldAccents(reading.name));
  else if (reading.kind === 'city_contains') add('city_key LIKE ?', like(reading.text));
  else if (reading.kind === 'country_contains') add('country_key LIKE ?', like(reading.text));
  else if (reading.kind === 'state_text') add('state_code = ?', foldAccents(reading.text));
  if ('state' in reading && reading.state) add('state_code = ?', reading.state.code);
  if ('country' in reading && reading.country) add('country_code = ?', reading.country.code);
}

function conditionsOf(query: CreatorSearchQuery): Statement {
  const statement: Statement = { where: [], values: [] };
  const add = (condition: string, value: unknown) => {
    if (value === undefined) return;
    statement.values.push(value);
    statement.where.push(condition.replaceAll('?', `$${statement.values.length}`));
  };
  const understood = readPlaces(query);
  add('category_key = ?', query.category && foldAccents(query.category));
  add('niches_key LIKE ?', query.niche && like(query.niche));
  add('gender_key = ?', query.gender && foldAccents(query.gender));
  add('has_email = ?', query.has_email);
  add('follower_count >= ?', query.follower_min);
  for (const place of [understood.country, understood.state, understood.city]) addPlace(statement, place);
  if (understood.q?.kind === 'text') {
    for (const word of understood.q.text.split(' ')) {
      add("(words @@ plainto_tsquery('simple', ?) OR username_key LIKE (? || '%'))", foldAccents(word));
    }
  }
  return statement;
}

export interface SqlSearch {
  page: { text: string; values: unknown[] };
  count: { text: string; values: unknown[] };
}

/** The statements with which PostgreSQL answers the same query: one page and the exact total. */
export function sqlOf(parameters: Parameters): SqlSearch {
  const query = CreatorSearchQuery.parse(parameters);
  const { offset, limit } = pageOfQuery(query);
  const { where, values } = conditionsOf(query);
  const from = `FROM creators ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`}`;
  const order = query.sort === 'engagement' ? 'engagement_rate' : 'follower_count';
  return {
    page: {
      text: `SELECT ${CARD} ${from} ORDER BY ${order} DESC NULLS LAST, pk LIMIT ${limit} OFFSET ${offset}`,
      values,
    },
    count: { text: `SELECT count(*)::int AS total ${from}`, values },
  };
}
