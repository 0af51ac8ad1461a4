import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { z } from 'zod';
import { insertLinks, insertStates } from '../src/affiliates/links/links.ts';
import { upsertSource } from '../src/affiliates/stores/connections/connections.ts';
import { migrateClickHouse } from '../src/kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../src/kit/engines/postgres/migrate.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { inWork, type Work } from '../src/kit/operation/work.ts';
import { newId } from '../src/kit/values/ids.ts';
import { createBrand, listSubscriptions } from '../src/platform/brands/brands.ts';
import { createKey } from '../src/platform/keys/keys.ts';
import type { EngineUrls } from '../src/process/engine-urls.ts';
import { ensureCreator } from '../src/workflow/creators/creators.ts';
import { putOnRoster } from '../src/workflow/roster/roster.ts';
import { type Calls, callOthers, countdown, type Latencies, postgresCpu, request, residentMb } from './beside.ts';
import { environmentOf, type Server, startNode, startServer, stopNode } from './children.ts';
import { benchCommand } from './command.ts';
import { cpuSecondsOf, median, percentile } from './load.ts';
import { measureOnOwnEngines } from './own-engines.ts';
import { progress, type Results, round } from './report.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const MONTH_DAYS = 30;
const ORDERS_AT_ONCE = 1_000;
/** A key has a limit of calls a minute. */
const KEYS = 30;
const SAMPLE_EVERY_MS = 500;
const ALONE_MS = 20_000;
/** How much longer the brand's own calls may take beside a job. */
const MOST_DELAY = 3;
const MOST_MEMORY_MB = 150;
const MOST_MINUTES = 10;
/** A statement about all commissions of a large creator would take longer than a statement may. */
const BARE_AT_ONCE = 2_000;

const {
  commissions: COMMISSIONS,
  creators: CREATORS,
  approved: ARE_APPROVED = false,
} = benchCommand(
  'bench months',
  "Closes a large month of one brand by jobs: approves, pays and states every creator's commissions. Measures time, memory, " +
    "and the brand's other calls meanwhile.",
)
  .option('--commissions <n>', 'commissions of the month', Number, 123_000)
  .option('--creators <n>', 'creators who earned them', Number, 220)
  .option('--approved', 'begin with approved commissions, and measure payouts and statements only')
  .parse()
  .opts<{ commissions: number; creators: number; approved?: true }>();

interface Brand {
  brandId: string;
  nextKey: () => string;
  assignments: { creatorId: string; linkId: string }[];
}

/** Shares of a few large creators and many small ones: the largest of 220 has a twentieth. */
function shareOut(count: number, creators: number): number[] {
  const weights = Array.from({ length: creators }, (_, i) => 1 / (i + 5));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const owners: number[] = [];
  let until = 0;
  for (const [i, weight] of weights.entries()) {
    until += (weight / all) * count;
    while (owners.length < Math.round(until)) owners.push(i);
  }
  // In the sequence of a deck that is dealt, so that every part of the month has orders of all creators.
  return owners.map((_, i) => owners[(i * 7_919) % owners.length] ?? 0);
}

const inBrand = async <T>({ postgres, clock }: Context, brandId: string, change: (work: Work) => Promise<T>) =>
  await inWork(postgres.db, clock, { brandId, keyId: null, operation: 'bench', requestId: null }, change);

async function makeBrand(context: Context): Promise<Brand> {
  const { postgres, clock } = context;
  const brandId = await createBrand(postgres.db, clock, { name: 'months', plan: 'enterprise', status: 'active' });
  const subscriptionId = (await listSubscriptions(postgres.db, brandId)).find(({ kind }) => kind === 'brand')?.id ?? '';
  const request = { brandId, subscriptionId, kind: 'brand', name: 'bench' } as const;
  const making = Array.from({ length: KEYS }, async () => (await createKey(postgres.db, clock, request)).key);
  const keys = await Promise.all(making);
  let turn = 0;
  const nextKey = () => {
    turn += 1;
    return keys[turn % KEYS] ?? '';
  };
  const assignments: Brand['assignments'] = [];
  const createdAt = new Date(clock.now().getTime() - 400 * DAY_MS);
  await inBrand(context, brandId, async (work) => {
    for (let i = 0; i < CREATORS; i += 1) {
      const person = { email: `creator${i}@mail.example`, name: `Creator ${i}`, igHandle: null, ttHandle: null };
      const creatorId = await ensureCreator(work, person);
      await putOnRoster(work, 1_000_000, creatorId);
      const linkId = newId('lnk', work.now.getTime());
      const link = { id: linkId, brandId, creatorId, type: 'discount_code' as const, value: `GO${i}`, active: true };
      const terms = { commissionRatePpm: 100_000, holdDays: 14, attributionDays: 30, currency: 'USD' };
      await insertLinks(work.db, [{ ...link, ...terms, createdAt }]);
      await insertStates(work.db, [{ brandId, linkId, at: createdAt, active: true }]);
      assignments.push({ creatorId, linkId });
    }
  });
  return { brandId, nextKey, assignments };
}

/** Records the month's paid orders and pending commissions, each sealed and with its entry of the ledger. */
async function recordMonth(context: Context, { brandId, assignments }: Brand): Promise<void> {
  const end = context.clock.now().getTime() - 60 * DAY_MS;
  const owners = shareOut(COMMISSIONS, assignments.length);
  for (let from = 0; from < owners.length; from += ORDERS_AT_ONCE) {
    await inBrand(context, brandId, async (work) => {
      const row = {
        id: newId('int', work.now.getTime()),
        brandId,
        name: 'bench',
        currency: 'USD',
        createdAt: work.now,
      };
      const { id: integrationId } = await upsertSource(work.db, row);
      const rows = owners.slice(from, from + ORDERS_AT_ONCE).map((owner, i) => {
        const n = from + i;
        const at = new Date(end - Math.floor((n / COMMISSIONS) * MONTH_DAYS * DAY_MS));
        const amountMinor = 3_000 + ((n * 37) % 20_000);
        const { creatorId, linkId } = assignments[owner] ?? { creatorId: '', linkId: '' };
        const ids = { id: newId('com', at.getTime()), orderId: newId('ord', at.getTime()) };
        return { ...ids, creatorId, linkId, n, at, amountMinor, commissionMinor: Math.round(amountMinor / 10) };
      });
      const shared = { brandId, currency: 'USD' };
      const status = ARE_APPROVED ? ('approved' as const) : ('pending' as const);
      const orders = rows.map(({ orderId: id, n, at, amountMinor }) => ({
        ...{
          ...shared,
          id,
          integrationId,
          orderId: `O-${n}`,
          baseMinor: amountMinor,
          storeUpdatedAt: at,
          attribution: '{}',
        },
        ...{ occurredAt: at, paidAt: at, createdAt: at },
      }));
      await work.db.insertInto('orders').values(orders).execute();
      const commissions = rows.map(({ id, orderId, creatorId, linkId, at, amountMinor, commissionMinor }) => ({
        ...{ ...shared, id, orderId, creatorId, linkId, source: 'generic', amountMinor, commissionMinor },
        ...{ commissionRatePpm: 100_000, holdDays: 14, status, approvedAt: ARE_APPROVED ? at : null, fraudFlags: '[]' },
        ...{
          paidAt: at,
          holdEndsAt: new Date(at.getTime() + 14 * DAY_MS),
          occurredAt: at,
          syncedAt: at,
          createdAt: at,
        },
      }));
      await work.db.insertInto('commissions').values(commissions).execute();
      for (const { id, orderId, creatorId, linkId, at, amountMinor, commissionMinor } of rows) {
        const entry = { currency: 'USD', creatorId, linkId, orderId, commissionId: id, payoutId: null };
        const postings = [
          { account: 'customers' as const, amountMinor, at },
          { account: 'sales' as const, amountMinor: -amountMinor, at },
          { account: 'commission_expense' as const, amountMinor: commissionMinor, at },
          { account: 'commission_pending' as const, amountMinor: -commissionMinor, at },
        ];
        work.post({ ...entry, kind: 'sale', postings });
        if (!ARE_APPROVED) continue;
        const approval = [
          { account: 'commission_pending' as const, amountMinor: commissionMinor, at },
          { account: 'commission_approved' as const, amountMinor: -commissionMinor, at },
        ];
        work.post({ ...entry, kind: 'approval', postings: approval });
      }
    });
  }
  await sql`analyze`.execute(context.postgres.db);
}

const Answered = z.object({ data: z.object({ id: z.string() }) });
const JobState = z.object({
  data: z.object({ status: z.string(), result: z.record(z.string(), z.unknown()).nullable() }),
});

/** Calls that the brand's people, stores and integrations make while the month is closed. */
const CALLS: Calls = {
  brand: () => ({ path: '/v1/brand' }),
  commissions: () => ({ path: '/v1/commissions?limit=20' }),
  performance: () => ({ path: '/v1/affiliates/performance?limit=20' }),
  order: (turn) => {
    const at = new Date().toISOString();
    const order = { order_id: `N-${turn}`, currency: 'USD', amount: 50, codes: [`GO${turn % CREATORS}`] };
    return { path: '/v1/orders', body: { source: 'till', ...order, placed_at: at, paid_at: at } };
  },
  payout: (turn) => ({
    path: '/v1/payouts',
    body: { creator_email: `creator${turn % CREATORS}@mail.example`, method: 'manual', amount: 1 },
  }),
};

interface Closing {
  seconds: number;
  latencies: Latencies;
  workerMb: number;
  apiMb: number;
  workerCpu: number;
  postgresCpu: number;
  result: Record<string, unknown>;
}

/** Starts a job by a call, and measures everything until it ends. */
async function close(
  context: Context,
  api: Server,
  workerPid: number,
  nextKey: () => string,
  { path, body }: { path: string; body: object },
): Promise<Closing> {
  const [workerCpu, ownCpu] = [cpuSecondsOf(workerPid), await postgresCpu(context)];
  const from = performance.now();
  const started = await request(api, nextKey(), path, body);
  if (started.status !== 202) throw new Error(`${path} answered ${started.status}: ${started.text}`);
  progress(`  answered 202 after ${Math.round(performance.now() - from)} ms`);
  const { id } = Answered.parse(JSON.parse(started.text)).data;
  let isOver = false;
  const calling = callOthers(api, nextKey, CALLS, () => isOver);
  let [workerMb, apiMb] = [0, 0];
  for (;;) {
    await pause(SAMPLE_EVERY_MS);
    workerMb = Math.max(workerMb, residentMb(workerPid));
    apiMb = Math.max(apiMb, residentMb(api.pid));
    const { data } = JobState.parse(JSON.parse((await request(api, nextKey(), `/v1/jobs/${id}`)).text));
    if (data.status === 'failed') throw new Error(`The job of ${path} failed: ${JSON.stringify(data)}`);
    if (data.status !== 'done') continue;
    const seconds = (performance.now() - from) / 1_000;
    isOver = true;
    return {
      ...{ seconds, workerMb, apiMb, latencies: await calling, result: data.result ?? {} },
      ...{ workerCpu: cpuSecondsOf(workerPid) - workerCpu, postgresCpu: (await postgresCpu(context)) - ownCpu },
    };
  }
}

/** Seconds in which PostgreSQL alone approves everything, sealed like any change of these rows, in statements of one creator each. */
async function approveBare({ postgres }: Context, { brandId, assignments }: Brand): Promise<number> {
  const from = performance.now();
  let seconds = Number.NaN;
  const undone = new Error('It is only timed.');
  const run = postgres.db.transaction().execute(async (trx) => {
    for (const { creatorId } of assignments) {
      for (let updated = BARE_AT_ONCE; updated === BARE_AT_ONCE; ) {
        const { numAffectedRows = 0n } = await sql`
          update commissions set status = 'approved', approved_at = now(), status_updated_at = now()
          where id = any(array(select id from commissions where brand_id = ${brandId} and creator_id = ${creatorId}
            and approved_at is distinct from now() limit ${BARE_AT_ONCE}))`.execute(trx);
        updated = Number(numAffectedRows);
      }
    }
    seconds = (performance.now() - from) / 1_000;
    throw undone;
  });
  await run.catch((error: unknown) => {
    if (error !== undone) throw error;
  });
  await sql`analyze commissions`.execute(postgres.db);
  return seconds;
}

async function measure(results: Results, context: Context, urls: EngineUrls): Promise<void> {
  await migratePostgres(context.postgres.db);
  await migrateClickHouse(context.clickhouse);
  const brand = await makeBrand(context);
  progress(`Recording ${COMMISSIONS.toLocaleString('en')} orders of ${CREATORS} creators`);
  await recordMonth(context, brand);
  const env = { ...environmentOf(context.config, urls), COMMISSIONS_AT_ONCE: '2000' };
  const api = await startServer(() => ['src/server.ts'], env);
  const worker = startNode(['src/worker.ts'], env);
  worker.stdout?.resume();
  worker.stderr?.pipe(process.stderr);
  const workerPid = worker.pid ?? 0;
  try {
    progress('Calls without a job');
    // The worker first takes the month's orders into the figures.
    for (let busy = Number.POSITIVE_INFINITY; busy > 1; ) {
      const before = cpuSecondsOf(workerPid);
      await pause(5_000);
      busy = cpuSecondsOf(workerPid) - before;
    }
    await callOthers(api, brand.nextKey, CALLS, countdown(5_000));
    const alone = await callOthers(api, brand.nextKey, CALLS, countdown(ALONE_MS));
    const [workerBefore, apiBefore] = [residentMb(workerPid), residentMb(api.pid)];
    const [from, to] = [100, 50].map((days) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10));
    const bare = await approveBare(context, brand);
    progress(`Bare UPDATEs of all commissions take ${round(bare)} s`);
    const steps = [
      ...(ARE_APPROVED ? [] : [{ name: 'approval', path: '/v1/commissions/approve-due', body: { cutoff: to } }]),
      { name: 'payouts', path: '/v1/payouts/batch', body: { method: 'bank_transfer', cutoff: to } },
      { name: 'statements', path: '/v1/statements/batch', body: { from, to } },
    ];
    for (const { name, ...call } of steps) {
      progress(`POST ${call.path}`);
      await results.part(name, async (add) => {
        const closing = await close(context, api, workerPid, brand.nextKey, call);
        progress(`  ${JSON.stringify(closing.result)}`);
        const shared = { bound: 'at most', warm: "PostgreSQL's buffers" } as const;
        const { seconds, workerMb, apiMb, latencies } = closing;
        const cpu = `CPU: worker ${round(closing.workerCpu)} s, PostgreSQL ${round(closing.postgresCpu)} s`;
        const each = `${round((seconds * 1_000) / COMMISSIONS)} ms a commission, ${round(seconds / bare)} times bare UPDATEs; ${cpu}`;
        add({ ...shared, name: `${name}_seconds`, value: seconds, floor: MOST_MINUTES * 60, measured: each });
        const memory = `worker ${round(workerMb)}, API ${round(apiMb)}; before ${round(workerBefore)} and ${round(apiBefore)}`;
        const more = workerMb - workerBefore;
        add({ ...shared, name: `${name}_more_worker_mb`, value: more, floor: MOST_MEMORY_MB, measured: memory });
        for (const [kind, some] of Object.entries(latencies)) {
          const [before, beside] = [alone[kind] ?? [], some].map((values) => percentile(values, 95));
          add({
            ...{ ...shared, name: `${name}_${kind}_p95_to_alone`, floor: MOST_DELAY },
            value: (beside ?? Number.NaN) / (before ?? Number.NaN),
            measured: `p50 ${round(median(alone[kind] ?? []))} → ${round(median(some))}, p95 ${round(before ?? 0)} → ${round(beside ?? 0)}, most ${round(Math.max(...some))} ms`,
          });
        }
      });
    }
  } finally {
    await stopNode(worker);
    await api.stop();
  }
}

measureOnOwnEngines(measure, { only: ['postgres', 'redis', 'clickhouse'] });
