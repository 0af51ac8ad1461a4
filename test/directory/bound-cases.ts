import { sendChanges } from '../../src/directory/changes/changes.jobs.ts';
import { settleChanges, stageChanges } from '../../src/directory/changes/changes.ts';
import { type Random, seededRandom } from '../../src/directory/imports/indexing/random.ts';
import { generateCreators } from '../../src/directory/imports/indexing/sample.ts';
import type { DirectoryCreatorDetail } from '../../src/directory/search/creator.shapes.ts';
import { NO_LIMITS } from '../../src/kit/access/keys/limits.ts';
import { createKey } from '../../src/platform/keys/keys.ts';
import { ledgerOf, made, makeBrand, startApp, type TestApp, type TestBrand, unique } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { oracleSearch } from '../harness/directory/directory-oracle.ts';
import { drawQuery } from './search-cases.ts';

/** What the key is bound to. */
const FORCED = { country: 'US', not_category: 'Food' };
const KEYS = 30;
const LISTED = 60;
const GONE = 12;

/** A directory behind an app, with data keys of one brand. */
interface Side {
  app: TestApp;
  brand: TestBrand;
  key: () => string;
  brandKey: string;
  /** Stands in requests and answers as `LIST`, `SAVED` and `SINCE`. */
  names: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Creators who leave before the second version, at home and abroad. */
const leaving = Array.from({ length: GONE }, (_, i) =>
  creator(9_000_000 + i, { country: i % 2 === 0 ? 'US' : 'Canada', category: 'Fitness' }),
);

async function openSide(
  rows: readonly DirectoryCreatorDetail[],
  gone: readonly DirectoryCreatorDetail[],
  listed: readonly number[],
  forced: Record<string, string> | null,
): Promise<Side> {
  const alias = unique('bound');
  const app = await startApp({ alias });
  const { elastic, postgres, clock } = app.context;
  await putDirectory(elastic, alias, [...rows, ...gone]);
  const since = new Date(Date.now() - 1_000).toISOString();
  const version = await putDirectory(elastic, alias, rows);
  const changes = gone.map(({ pk }) => ({ pk, type: 'removed' as const, fields: [], version: 0 }));
  await stageChanges(postgres.db, { alias, kind: 'import', version }, changes);
  await postgres.db.transaction().execute((transaction) => settleChanges(transaction, alias, new Date()));
  await sendChanges(app.context);
  const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 1_000_000 });
  const brandKey = await brand.key('brand');
  const list = await made(`${app.url}/v1/lists`, brandKey, { name: 'some', search: { pks: listed.join(',') } });
  const saved = await made(`${app.url}/v1/saved-searches`, brandKey, {
    name: 'some',
    shared: true,
    filters: { has_email: 'true' },
  });
  const keys: string[] = [];
  for (let i = 0; i < KEYS; i += 1) {
    const subscriptionId = brand.subscriptionIds.data;
    const limits = { ...NO_LIMITS, forced_filters: forced };
    const asked = { brandId: brand.id, subscriptionId, kind: 'data' as const, name: unique('k'), limits };
    keys.push((await createKey(postgres.db, clock, asked)).key);
  }
  let turn = 0;
  return {
    app,
    brand,
    brandKey,
    key: () => {
      turn += 1;
      return keys[turn % KEYS] ?? '';
    },
    names: { LIST: list.id, SAVED: saved.id, SINCE: since },
    close: () => app.close(),
  };
}

const RELATIVE = new Set(['date', 'x-request-id', 'x-directory-version', 'content-length', 'connection', 'keep-alive']);
/** A window of calls and a period begin when each brand began; requests at once may be paid in another order. */
const CLOCKED = /^x-ratelimit-|^x-credits-(?:reset|remaining)$/;

const PASSING = new Set([429, 503]);
const TRIES = 60;
const PAUSE_MS = 500;

interface Request {
  path: string;
  query?: Record<string, string>;
  accept?: string;
  /** A call of a tool by an agent, instead of a GET. */
  tool?: { name: string; arguments: object };
}

interface Answered {
  status: number;
  headers: Record<string, string>;
  lines: unknown[];
}

/** Drops what tells of the key or the version: the filters of the key, the id of the call, the cursors of a walk. */
function withoutOwn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutOwn);
  // Agents get an answer as text, too.
  if (typeof value === 'string' && value.startsWith('{"')) return JSON.stringify(withoutOwn(JSON.parse(value)));
  if (typeof value !== 'object' || value === null) return value;
  const own = new Set(['forced', 'request_id', 'cursor', 'next']);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (own.has(name) ? [] : [[name, withoutOwn(inner)]])),
  );
}

/** A line as JSON, a line of CSV as it is, or the data of an event. */
function readLine(line: string): unknown[] {
  const text = line.replace(/^data: /, '');
  if (text === '' || /^(?:event|id): /.test(text)) return [];
  return [text.startsWith('{') ? withoutOwn(JSON.parse(text)) : text];
}

async function ask(side: Side, { path, query = {}, accept = 'application/json', tool }: Request): Promise<Answered> {
  const named = Object.entries(query).map(([name, value]) => [name, side.names[value] ?? value]);
  const url = `${side.app.url}${path}?${new URLSearchParams(Object.fromEntries(named))}`;
  let message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: tool });
  for (const [name, value] of Object.entries(side.names)) message = message.replaceAll(`"${name}"`, `"${value}"`);
  const called = tool ? { method: 'POST', body: message } : {};
  const send = () =>
    fetch(url, {
      ...called,
      headers: { authorization: `Bearer ${side.key()}`, accept, 'content-type': 'application/json' },
    });
  let response = await send();
  // A third walk at once, or a busy engine: neither is charged.
  for (let tries = 1; PASSING.has(response.status) && tries < TRIES; tries += 1) {
    await response.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    response = await send();
  }
  let text = await response.text();
  for (const [name, value] of Object.entries(side.names)) text = text.replaceAll(value, name);
  const headers = [...response.headers].filter(([name]) => !RELATIVE.has(name) && !CLOCKED.test(name));
  const lines = text.split('\n').flatMap(readLine);
  return { status: response.status, headers: Object.fromEntries(headers), lines };
}

/**
 * A key that is bound to a part of a directory, beside a free key on a directory of only that part. The same request to
 * both must have the same answer at the same price.
 */
export async function openBoundCases(creators: number, seed: number) {
  const rows = [...generateCreators(creators, seed)].map((row) => ({ ...row, data_as_of: null }));
  const part = oracleSearch(rows, FORCED);
  const within = new Set(part.map(({ pk }) => pk));
  const listed = rows.slice(0, LISTED).map(({ pk }) => pk);
  const home = leaving.filter(({ country }) => country === 'US');
  const [bound, free] = await Promise.all([
    openSide(rows, leaving, listed, FORCED),
    openSide(
      part,
      home,
      listed.filter((pk) => within.has(pk)),
      null,
    ),
  ]);
  const some = <T>(random: Random, read: (row: DirectoryCreatorDetail) => T | null): T[] =>
    Array.from({ length: 1 + random.below(6) }, () => read(random.pick(rows))).filter((value) => value !== null);
  /** A text near the beginning of a username or the words of a creator, as one who searches for names sends it. */
  const misspelt = (random: Random): string => {
    const { username, full_name } = random.pick(rows);
    const text = random.chance(0.5) ? username : (full_name ?? username);
    return `${text.slice(0, Math.max(3, text.length - 1 - random.below(3)))}${random.chance(0.5) ? 'x' : ''}`;
  };
  const byAgent = (name: string, args: object): Request => ({
    path: '/mcp',
    accept: 'application/json, text/event-stream',
    tool: { name, arguments: args },
  });
  const KINDS: readonly ((random: Random) => Request)[] = [
    (random) => ({
      path: '/v1/creators/search',
      query: { ...drawQuery(random), limit: String(1 + random.below(100)) },
    }),
    (random) => ({ path: '/v1/creators/search', query: { ...drawQuery(random), preview: 'true', stats: 'true' } }),
    (random) => ({
      path: '/v1/creators/search',
      query: { q: misspelt(random), q_as: 'text', typos: 'true', ...(random.chance(0.5) ? { preview: 'true' } : {}) },
    }),
    (random) => ({ path: '/v1/creators/search', query: { q: misspelt(random), preview: 'true' } }),
    (random) => ({
      path: '/v1/creators/search',
      query: {
        pks: some(random, ({ pk }) => pk).join(','),
        usernames: some(random, ({ username }) => username).join(','),
        ...(random.chance(0.5) ? { emails: some(random, (row) => row.extracted_email).join(',') } : {}),
        ...(random.chance(0.3) ? { preview: 'true' } : {}),
      },
    }),
    (random) => ({
      path: '/v1/creators/search',
      query: {
        similar_to: (random.chance(0.7) ? random.pick(part) : random.pick(rows)).pk.toString(),
        limit: '20',
        ...(random.chance(0.3) ? { preview: 'true' } : {}),
      },
    }),
    (random) => ({
      path: '/v1/creators/search',
      query: { ...drawQuery(random), [random.pick(['in_list', 'not_in_list'])]: 'LIST' },
    }),
    (random) => ({
      path: '/v1/creators/search',
      query: { saved: 'SAVED', ...(random.chance(0.5) ? { preview: 'true' } : {}) },
    }),
    (random) => ({
      path: '/v1/creators/search',
      query: { changed_since: 'SINCE', ...(random.chance(0.5) ? { preview: 'true' } : {}) },
    }),
    (random) => ({
      path: '/v1/creators/search',
      query: { ...drawQuery(random), walk: 'true' },
      accept: 'application/x-ndjson',
    }),
    (random) => ({ path: '/v1/creators/search', query: { ...drawQuery(random), walk: 'true' }, accept: 'text/csv' }),
    (random) => ({
      path: '/v1/creators/search',
      query: {
        ...drawQuery(random),
        preview: 'true',
        facets: random.pick(['niche,metro', 'category,state,country', 'age,followers']),
        facet_size: String(1 + random.below(100)),
        ...(random.chance(0.5) ? { facet_q: random.pick(['f', 'ba', 'san', 'x']) } : {}),
      },
    }),
    (random) => ({
      path: '/v1/creators/search',
      query: { ...drawQuery(random), page: String(1 + random.below(9)), limit: '20', with: 'freshness' },
    }),
    (random) => ({ path: `/v1/creators/${random.pick(rows).pk}` }),
    (random) => byAgent('get_directory_creator', { pk: random.pick(rows).pk }),
    (random) =>
      byAgent('search_creators', {
        q: misspelt(random),
        typos: true,
        q_as: 'text',
        ...(random.chance(0.7) ? { preview: true } : {}),
      }),
    (random) =>
      byAgent('search_creators', {
        usernames: some(random, ({ username }) => username),
        ...(random.chance(0.5) ? { preview: true } : {}),
      }),
    (random) => byAgent('search_creators', { similar_to: [random.pick(rows).pk], preview: true }),
    (random) => byAgent('search_creators', { in_list: ['LIST'], category: random.pick(['Food', 'Fitness']) }),
    (random) => ({ path: '/api/v1/creators/search', query: { city: random.pick(['LA', 'san', 'Austin', 'nowhere']) } }),
  ];

  return {
    bound,
    free,
    rows,
    within,
    gone: home.map(({ pk }) => pk),
    ask,
    /** What differs in this many random requests. */
    differences: async (count: number, caseSeed: number): Promise<string[]> => {
      const random = seededRandom(caseSeed);
      const found: string[] = [];
      for (let i = 0; i < count; i += 1) {
        const request = random.pick(KINDS)(random);
        const [one, other] = await Promise.all([ask(bound, request), ask(free, request)]);
        const [a, b] = [JSON.stringify(one), JSON.stringify(other)];
        if (a !== b) found.push(`${JSON.stringify(request)}\nbound ${a.slice(0, 3_000)}\nfree  ${b.slice(0, 3_000)}`);
      }
      return found;
    },
    /** What each side has spent. */
    spent: async (): Promise<[number, number]> => {
      const [one, other] = await Promise.all([bound, free].map(({ app, brand }) => ledgerOf(app.context, brand)));
      return [one?.remaining ?? -1, other?.remaining ?? -2];
    },
    close: async () => {
      await Promise.all([bound.close(), free.close()]);
    },
  };
}
