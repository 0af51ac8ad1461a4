import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  call,
  keysInTurn,
  ledgerOf,
  makeBrand,
  startApp,
  type TestApp,
  type TestBrand,
  unique,
  until,
} from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { startHeldElastic } from '../harness/kit/held-elastic.ts';

const alias = unique('overload');
const CREDITS = 100_000;
/** More than one brand may have under way and waiting, 256. */
const FLOOD = 400;
/** So many that their rate refuses none of it. */
const KEYS = 12;
const OWN_ID = 'overload-0001';

let app: TestApp;
let elastic: Awaited<ReturnType<typeof startHeldElastic>>;
let crowd: TestBrand;
let nextKey: () => string;
beforeAll(async () => {
  elastic = await startHeldElastic();
  app = await startApp({ alias, urls: { elasticsearch: elastic.url } });
  await putDirectory(app.context.elastic, alias, [creator(1), creator(2, { category: 'Food' })]);
  crowd = await makeBrand(app.context, { plan: 'enterprise', credits: CREDITS });
  nextKey = await keysInTurn(crowd, KEYS, 'data');
  for (let i = 0; i < 5; i += 1) expect((await search(nextKey())).status).toBe(200);
});
afterAll(async () => {
  elastic?.release();
  await app?.close();
  await elastic?.close();
});

let searches = 1_000;
/** A search that no cache answers. */
function search(key: string, init: RequestInit = {}, slash = '') {
  searches += 1;
  return call(`${app.url}/v1/creators/search${slash}?follower_max=${1_000_000_000 + searches}`, key, init);
}

/** The upper bound in the newest search, as Elasticsearch gets it. */
const newestBound = () => `"lt":${1_000_000_000 + searches + 1}`;

it('searches beyond what can wait are refused at once, uncharged, while other brands and other calls go on, and all are answered again afterwards', async () => {
  const { admission } = app.context.directory;
  const other = await makeBrand(app.context, { plan: 'enterprise', credits: CREDITS });
  const [otherKey, brandKey] = [await other.key('data'), await crowd.key('brand')];
  const charged = CREDITS - (await ledgerOf(app.context, crowd)).remaining;
  elastic.hold();
  let ended = 0;
  const flood = Array.from({ length: FLOOD }, () =>
    search(nextKey()).finally(() => {
      ended += 1;
    }),
  );
  // While Elasticsearch has answered nothing.
  await until('refusals', () => ended > 0 && admission.figures().waiting > 0);
  const brandCall = await call(`${app.url}/v1/brand`, brandKey);
  expect([brandCall.status, (await fetch(`${app.url}/healthz`)).status]).toEqual([200, 200]);
  await until('the whole flood', () => {
    const { underWay, waiting } = admission.figures();
    return ended + underWay + waiting >= FLOOD;
  });
  expect((await call(`${app.url}/metrics`)).body).toMatch(/^rollcall_searches_refused_total [1-9]/m);
  // A trailing slash goes the way of other calls: through routing and the gate.
  const alike = await Promise.all(
    ['', '/'].map((slash) => search(nextKey(), { headers: { 'x-request-id': OWN_ID } }, slash)),
  );
  for (const { status, headers, body } of alike) {
    expect([status, headers.get('x-request-id'), body.request_id]).toEqual([503, OWN_ID, OWN_ID]);
  }
  const [early, routed] = alike.map(({ headers, body }) => [[...headers.keys()].toSorted(), Object.keys(body)]);
  expect(early).toEqual(routed);
  const otherSearch = search(otherKey);
  const bound = newestBound();
  await until('the search of another brand', () => elastic.seen().some((body) => body.includes(bound)));
  elastic.release();
  const answers = await Promise.all(flood);
  const served = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ body }) => body.error?.startsWith('More searches arrive'));
  expect(served.length).toBeGreaterThan(0);
  expect(refused.length + alike.length).toBe(admission.figures().refused);
  for (const { status, headers, body } of refused) {
    expect([status, body.code, headers.get('x-credits-charged')]).toEqual([503, 'SERVICE_UNAVAILABLE', '0']);
    expect(['1', '2', '3']).toContain(headers.get('retry-after'));
  }
  expect((await otherSearch).status).toBe(200);
  expect((await search(nextKey())).status).toBe(200);
  const remaining = CREDITS - charged - 10 * (served.length + 1);
  expect((await ledgerOf(app.context, crowd)).remaining).toBe(remaining);
});

it('a search whose client has gone is cancelled in Elasticsearch or never begun, and not charged', async () => {
  const { admission } = app.context.directory;
  const before = (await ledgerOf(app.context, crowd)).remaining;
  elastic.hold();
  const client = new AbortController();
  const begun = search(nextKey(), { signal: client.signal }).catch(() => 'gone');
  const marker = newestBound();
  await until('the search', () => elastic.held().some((body) => body.includes(marker)));
  client.abort();
  await until('its end', () => elastic.cancelled().some((body) => body.includes(marker)));
  expect(await begun).toBe('gone');

  // More than one brand has places for, and fewer than may wait.
  const crowded = Array.from({ length: Math.ceil(admission.figures().limit * 0.75) + 20 }, () => search(nextKey()));
  await until('a queue', () => admission.figures().waiting > 0);
  const waiting = new AbortController();
  const unbegun = search(nextKey(), { signal: waiting.signal }).catch(() => 'gone');
  const mark = newestBound();
  await until('its turn', () => admission.figures().underWay + admission.figures().waiting > crowded.length);
  waiting.abort();
  expect(await unbegun).toBe('gone');
  elastic.release();
  const served = (await Promise.all(crowded)).filter(({ status }) => status === 200);
  await until('the end of all', () => admission.figures().underWay + admission.figures().waiting === 0);
  expect(elastic.seen().some((body) => body.includes(mark))).toBe(false);
  expect((await ledgerOf(app.context, crowd)).remaining).toBe(before - 10 * served.length);
});
