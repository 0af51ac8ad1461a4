import { setTimeout as pause } from 'node:timers/promises';
import { type Server, startServer } from './children.ts';
import { alternate, median, medianRatio, percentile, volley } from './load.ts';
import { measureMeter } from './metering.ts';
import { type Add, progress, round } from './report.ts';
import {
  flawless,
  type Measured,
  repeated,
  type Session,
  shallowMix,
  someOfEach,
  targetApi,
  targetElastic,
  targetProxy,
} from './session.ts';

/** Longer than a running API takes to notice that the index was refreshed. */
const REFRESH_SEEN_MS = 1_500;

const rates = (volleys: readonly Measured[]) => volleys.map(({ perSecond }) => perSecond);
const costs = (volleys: readonly Measured[]) => volleys.map(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest);
const perSecond = (values: readonly number[]) => `${round(median(values))}/s`;
const micros = (values: readonly number[]) => `${round(median(values))} us`;

const FILTER_CACHE = "Elasticsearch's filter cache (both sides)";

async function withServers<T>(
  servers: readonly Promise<Server>[],
  work: (started: Server[]) => Promise<T>,
): Promise<T> {
  const started = await Promise.all(servers);
  try {
    return await work(started);
  } finally {
    await Promise.all(started.map((server) => server.stop()));
  }
}

const altered = (session: Session, ...changes: string[]) =>
  startServer(() => ['bench/altered-api.ts', ...changes], session.env);

/** The API against raw Elasticsearch, a bare proxy, and itself without metering, all in one session. */
export async function measureMix(session: Session, add: Add): Promise<void> {
  const { scale, api, urls } = session;
  const mix = shallowMix(session);
  const shots = (side: 'api' | 'raw' | 'same') => mix.map((search) => search[side]);
  const proxy = startServer((port) => ['bench/proxy.ts', urls.elasticsearch, String(port)], session.env);
  await withServers([proxy, altered(session, 'unmetered')], async ([bare, unmetered]) => {
    if (!bare || !unmetered) throw new Error('A side of the mix did not start.');
    const [ours, raw, free] = [targetApi(session, api), targetElastic(session), targetApi(session, unmetered)];
    const through = targetProxy(bare);
    const sides = [
      (times: number) => flawless('API', ours, repeated(shots('api'), times), api),
      (times: number) => flawless('raw', raw, repeated(shots('raw'), times)),
      (times: number) => flawless('proxy', through, repeated(shots('same'), times), bare),
      (times: number) => flawless('API without metering', free, repeated(shots('api'), times), unmetered),
    ];
    progress('Warming up');
    for (const side of sides) await side(scale.warmUps);
    progress('API, raw, proxy, API without metering');
    const [apiRuns = [], rawRuns = [], proxyRuns = [], freeRuns = []] = await alternate(
      scale.rounds,
      sides.map((side) => () => side(scale.repeats)),
    );
    add(
      {
        name: 'api_to_raw',
        value: medianRatio(rates(apiRuns), rates(rawRuns)),
        floor: 1,
        bound: 'at least',
        measured: `${perSecond(rates(apiRuns))} to ${perSecond(rates(rawRuns))}, ten kinds`,
        warm: `the API's counts; ${FILTER_CACHE}; request cache off`,
      },
      {
        name: 'cpu_to_proxy',
        value: medianRatio(costs(apiRuns), costs(proxyRuns)),
        floor: 1.5,
        bound: 'at most',
        measured: `${micros(costs(apiRuns))} to ${micros(costs(proxyRuns))} a search`,
        warm: "the API's counts and keys",
      },
    );
    await addMetering(session, costs(apiRuns), costs(freeRuns), add);
  });
  await measureCold(session, add);
}

/** Metering's share of a search's CPU, given the cost of a search with and without it. */
async function addMetering(
  session: Session,
  metered: readonly number[],
  unmetered: readonly number[],
  add: Add,
): Promise<void> {
  const meter = await measureMeter(session);
  const metering = metered.map((cost, i) => Math.max(0, cost - (unmetered[i] ?? Number.NaN)) + meter.inProcess);
  add(
    {
      name: 'metering_difference_share_of_cpu',
      value: medianRatio(metering, metered),
      floor: null,
      bound: 'at most',
      measured:
        `${micros(metering)} of ${micros(metered)}: the difference to ${micros(unmetered)} without Redis, ` +
        `and ${round(meter.inProcess)} us in process`,
      warm: "the API's counts and keys",
    },
    {
      name: 'metering_share_of_cpu',
      value: meter.alone / median(metered),
      floor: 0.1,
      bound: 'at most',
      measured: `${round(meter.alone)} us a call, of ${micros(metered)}`,
      warm: '-',
    },
  );
}

/** The same comparison with no cached count, in the API or in Elasticsearch's request cache. */
async function measureCold(session: Session, add: Add): Promise<void> {
  const { scale, context, index, api } = session;
  const mix = shallowMix(session);
  const [ours, raw] = [targetApi(session, api), targetElastic(session)];
  async function forget(): Promise<void> {
    await context.elastic.client.indices.refresh({ index });
    await context.elastic.client.indices.clearCache({ index, request: true });
    await pause(REFRESH_SEEN_MS);
  }
  const [cold = [], rawRuns = []] = await alternate(scale.rounds, [
    async () => {
      await forget();
      return await flawless(
        'API, cold',
        ours,
        mix.map((search) => search.api),
      );
    },
    async () => {
      // A machine that rested is faster, so both sides rest.
      await forget();
      return await flawless(
        'raw',
        raw,
        mix.map((search) => search.raw),
      );
    },
  ]);
  add({
    name: 'api_to_raw_cold_counts',
    value: medianRatio(rates(cold), rates(rawRuns)),
    floor: null,
    bound: 'at least',
    measured: `${perSecond(rates(cold))} to ${perSecond(rates(rawRuns))}, each query once`,
    warm: `${FILTER_CACHE} only`,
  });
}

/**
 * Sends byte for byte what the API sends, with Elasticsearch's request cache on and warm, to show the API's own cost.
 */
export async function measureCached(session: Session, add: Add): Promise<void> {
  const { scale, urls } = session;
  const mix = shallowMix(session);
  const servers = [
    altered(session, 'request-cache'),
    altered(session, 'request-cache', 'unmetered'),
    startServer((port) => ['bench/proxy.ts', urls.elasticsearch, String(port)], session.env),
  ];
  await withServers(servers, async ([server, unmetered, proxy]) => {
    if (!server || !unmetered || !proxy) throw new Error('A side with the request cache did not start.');
    const [ours, raw] = [targetApi(session, server), targetElastic(session)];
    const [free, through] = [targetApi(session, unmetered), targetProxy(proxy)];
    const apiShots = mix.map((search) => search.api);
    const rawShots = mix.map(({ same }) => ({ ...same, path: `${same.path}&request_cache=true` }));
    const run = (times: number) => [
      () => flawless('API', ours, repeated(apiShots, times)),
      () => flawless('raw', raw, repeated(rawShots, times)),
      () => flawless('API without metering', free, repeated(apiShots, times)),
      () => flawless('proxy', through, repeated(rawShots, times)),
    ];
    for (const side of run(scale.warmUps)) await side();
    progress('API, raw, API without metering, proxy, request cache on');
    const [apiRuns = [], rawRuns = [], freeRuns = [], proxyRuns = []] = await alternate(
      scale.rounds,
      run(scale.repeats),
    );
    const warm = "Elasticsearch's request cache (all sides)";
    add(
      {
        name: 'api_to_raw_request_cache',
        value: medianRatio(rates(apiRuns), rates(rawRuns)),
        floor: 0.7,
        bound: 'at least',
        measured: `${perSecond(rates(apiRuns))} to ${perSecond(rates(rawRuns))}, identical bodies`,
        warm: `${warm}; the API's counts`,
      },
      {
        name: 'unmetered_to_raw_request_cache',
        value: medianRatio(rates(freeRuns), rates(rawRuns)),
        floor: null,
        bound: 'at least',
        measured: `${perSecond(rates(freeRuns))}: the API without Redis and the ledger`,
        warm: `${warm}; the API's counts`,
      },
      {
        name: 'proxy_to_raw_request_cache',
        value: medianRatio(rates(proxyRuns), rates(rawRuns)),
        floor: null,
        bound: 'at least',
        measured: `${perSecond(rates(proxyRuns))}: a Node process that only forwards bytes`,
        warm,
      },
    );
  });
}

/** All kinds, including deep pages, against what a caller without the API would send: from, size and an exact total. */
export async function measureNaive(session: Session, add: Add): Promise<void> {
  const { scale, api } = session;
  const some = someOfEach(session.searches, scale.slowStep);
  const [ours, raw] = [targetApi(session, api), targetElastic(session)];
  progress('API and naive Elasticsearch, all kinds');
  const run = () =>
    flawless(
      'API',
      ours,
      repeated(
        session.searches.map((search) => search.api),
        scale.repeats,
      ),
    );
  await run();
  let failed = 0;
  let sent = 0;
  const naive = async (): Promise<Measured> => {
    const result = await volley(
      raw,
      some.map((search) => search.raw),
    );
    failed += result.errors;
    sent += result.sent;
    return { ...result, cpuMicrosPerRequest: 0 };
  };
  const [apiRuns = [], rawRuns = []] = await alternate(scale.slowRounds, [run, naive]);
  const p99 = (volleys: readonly Measured[]) =>
    round(
      percentile(
        volleys.flatMap((one) => one.latenciesMs),
        99,
      ),
    );
  add({
    name: 'api_to_naive',
    value: medianRatio(rates(apiRuns), rates(rawRuns)),
    floor: scale.isFull ? 30 : null,
    bound: 'at least',
    measured:
      `${perSecond(rates(apiRuns))}, p99 ${p99(apiRuns)} ms, no errors, to ${perSecond(rates(rawRuns))}, ` +
      `p99 ${p99(rawRuns)} ms, ${failed} of ${sent} failed`,
    warm: `the API's counts; ${FILTER_CACHE}; request cache off`,
  });
}
