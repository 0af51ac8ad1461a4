import { setTimeout as sleep } from 'node:timers/promises';
import { openConsumers } from '../interfaces/nouns.ts';
import { isHeld } from '../kit/engines/postgres/home.ts';
import { openSchedules } from '../kit/engines/redis/schedules.ts';
import type { Context } from '../kit/operation/context.ts';
import type { Follower, Job } from '../kit/operation/job.ts';
import { openParts, type Parts } from '../kit/outbox/parts.ts';
import { openRelay } from '../kit/outbox/relay.ts';
import { openDue } from '../kit/values/due.ts';
import { ignoreFailure } from '../kit/values/errors.ts';
import { span } from '../kit/values/tracing.ts';
import { startDelivering } from '../platform/webhooks/delivery-loop.ts';
import { FOLLOWERS, JOBS, relayName, WORK } from './job-list.ts';
import { openJobRecorder } from './metrics/jobs.ts';

const RELAY_EVERY_MS = 1_000;
/** Receivers wait for the events that become webhooks. */
const AWAITED_EVERY_MS = 500;
const KEEP_EVERY_MS = 5_000;

function openRelays(context: Context, parts: Parts, wakeWebhooks: () => void): Follower[] {
  return openConsumers(context).map((consumer) => {
    const isAwaited = consumer.name === 'webhooks';
    return {
      name: relayName(consumer.name),
      everyMs: isAwaited ? AWAITED_EVERY_MS : RELAY_EVERY_MS,
      open: ({ postgres, clock, config, log }, stopping) => {
        const dueTimer = openDue(clock, config.workerSweepEveryMs);
        const onEvents = isAwaited ? wakeWebhooks : undefined;
        const relay = openRelay({ db: postgres.db, consumer, log, due: dueTimer, parts, onEvents });
        return () => relay(stopping);
      },
    };
  });
}

/** Starts the background work. Several workers may run. */
export function startJobs(context: Context, redisUrl: string): { stop(): Promise<void> } {
  const { failures, redis, clock } = context;
  const stopping = new AbortController();
  const recorder = openJobRecorder(redis, clock);
  const reportRuns = (name: string) => ({
    onRun: (outcome: { error?: unknown }, seconds: number) => recorder.ran(name, outcome, seconds),
  });

  /** Runs a pass. If it fails, counts and logs the error before throwing it. */
  async function run(name: string, pass: () => Promise<unknown>): Promise<void> {
    const from = performance.now();
    const seconds = () => (performance.now() - from) / 1_000;
    try {
      await span(name, { root: {} }, pass);
    } catch (error) {
      failures.failed(name, error);
      recorder.ran(name, { error }, seconds());
      throw error;
    }
    failures.succeeded(name);
    recorder.ran(name, {}, seconds());
  }

  async function follow({ name, everyMs, open }: Follower): Promise<void> {
    const pass = open(context, stopping.signal);
    while (!stopping.signal.aborted) {
      await run(name, pass).catch(ignoreFailure('it is logged, and the next pass tries again'));
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(ignoreFailure('woken up to stop'));
    }
  }

  const webhooks = startDelivering(context);
  const parts = openParts(context.postgres.db);
  const work = WORK.map(({ queue, sweep, start }) => ({ plan: sweep, ...start(context, redisUrl, reportRuns(queue)) }));
  const jobs: readonly Job[] = [...JOBS, ...work.map(({ plan, sweep }) => ({ ...plan, run: sweep }))];
  const startedJobs = new Map(jobs.flatMap((job) => (job.start ? [[job.name, job.start(context)] as const] : [])));
  const schedules = openSchedules(redisUrl, jobs, {
    run: async (name) => {
      const job = jobs.find((one) => one.name === name);
      if (!job || (job.leaves && (await isHeld(context.postgres.db)))) return;
      await run(name, () => startedJobs.get(name)?.wake() ?? job.run(context));
    },
    onError: (error) => failures.failed('waiting for schedules', error),
  });
  const loops = [
    ...FOLLOWERS,
    ...openRelays(context, parts, webhooks.wake),
    { name: 'keep-schedules', everyMs: KEEP_EVERY_MS, open: () => schedules.keep },
    { name: 'report-jobs', everyMs: KEEP_EVERY_MS, open: () => recorder.report },
  ].map(follow);

  return {
    stop: async () => {
      stopping.abort();
      await Promise.all([...loops, schedules.close(), webhooks.stop()]);
      await Promise.all([...work, ...startedJobs.values()].map((one) => one.close()));
      await parts.release().catch(ignoreFailure('a lease that is not released runs out'));
    },
  };
}
