import { setTimeout as sleep } from 'node:timers/promises';
import { settleAll } from '../access/credits/settle.ts';
import type { Context } from '../api/context.ts';
import { deleteOldKeys } from '../api/idempotency/queries.ts';
import { KEPT_MS } from '../api/idempotency/run-once.ts';
import { openJobRecorder } from '../api/job-metrics.ts';
import { startImportWorker } from '../directory/import/jobs.ts';
import { ensureMigrated } from '../engines/clickhouse/migrate.ts';
import { forgetSentBatches, openLedgerSync } from '../figures/jobs.ts';
import { rebuildUnfinished, reconcileFigures } from '../ledger/jobs.ts';
import { drainClicks } from '../links-host/jobs.ts';
import { forgetMails } from '../mail/forget.ts';
import { sendDueMails } from '../mail/sender.ts';
import { openRelay, pruneOutbox } from '../outbox/relay.ts';
import { giveUpUploads, markExpiringRights, purgeDeleted, startThumbnails } from '../resources/assets/jobs.ts';
import { startContentRefreshes } from '../resources/content/jobs.ts';
import { expireDue } from '../resources/contracts/jobs.ts';
import { profileUnknown } from '../resources/creators/jobs.ts';
import { postEarlierPayouts } from '../resources/payouts/jobs.ts';
import { deleteOldPlans } from '../resources/plans/queries.ts';
import { approveDue } from '../resources/reviews/jobs.ts';
import { trackDue } from '../resources/shipments/jobs.ts';
import { startDelivering } from '../resources/webhooks/sending/loop.ts';
import { forgetDeliveries } from '../resources/webhooks/sending/record.ts';
import { openDue } from '../values/due.ts';
import { ignoreFailure } from '../values/errors.ts';
import { consumersOf } from './consumers.ts';

const SETTLE_EVERY_MS = 1_000;
/** Charges of a process that was killed before it said which keys were used. */
const SETTLE_ALL_EVERY_MS = 600_000;
const PROFILE_EVERY_MS = 5_000;
const RELAY_EVERY_MS = 1_000;
/** Somebody outside waits for what becomes webhooks. */
const AWAITED_EVERY_MS = 500;
const APPROVE_EVERY_MS = 5_000;
const SYNC_EVERY_MS = 500;
const DRAIN_EVERY_MS = 500;
const RECONCILE_EVERY_MS = 2_000;
const TRACK_EVERY_MS = 5_000;
const REFRESH_EVERY_MS = 2_000;
const MAIL_EVERY_MS = 1_000;
const THUMBNAILS_EVERY_MS = 1_000;
const TIDY_FILES_EVERY_MS = 10_000;
const RIGHTS_EVERY_MS = 10_000;
const REPORT_EVERY_MS = 5_000;
const FORGET_EVERY_MS = 3_600_000;

/** Work that no caller waits for. Several workers may run. */
export function startJobs(context: Context, redisUrl: string): { stop(): Promise<void> } {
  const engines = { db: context.postgres.db, redis: context.redis, clock: context.clock };
  const { failures } = context;
  const stopping = new AbortController();
  const recorder = openJobRecorder(context.redis, context.clock);

  const reported = (what: string) => ({
    onRun: (isDone: boolean, seconds: number) => recorder.ran(what, isDone, seconds),
  });

  async function every(periodMs: number, what: string, work: () => Promise<unknown>): Promise<void> {
    while (!stopping.signal.aborted) {
      const from = performance.now();
      const isDone = await work().then(
        () => {
          failures.succeeded(what);
          return true;
        },
        (error: unknown) => {
          failures.failed(what, error);
          return false;
        },
      );
      recorder.ran(what, isDone, (performance.now() - from) / 1_000);
      await sleep(periodMs, undefined, { signal: stopping.signal }).catch(ignoreFailure('woken up to stop'));
    }
  }

  const webhooks = startDelivering(context);
  const refreshes = startContentRefreshes(context, redisUrl, reported('refreshing a post'));
  const thumbnails = startThumbnails(context, redisUrl, reported('making a thumbnail'));
  const settlements = openDue(context.clock, SETTLE_ALL_EVERY_MS);
  const syncLedger = openLedgerSync(context, openDue(context.clock, context.config.workerSweepEveryMs));
  const loops = [
    every(SETTLE_EVERY_MS, 'settling charges', () => settlements.ask((after) => settleAll(engines, after))),
    ...consumersOf(context).map((consumer) => {
      const due = openDue(context.clock, context.config.workerSweepEveryMs);
      const isAwaited = consumer.name === 'webhooks';
      const given = isAwaited ? webhooks.wake : undefined;
      const relay = openRelay({ db: engines.db, consumer, log: context.log, due, given });
      return every(isAwaited ? AWAITED_EVERY_MS : RELAY_EVERY_MS, `events to ${consumer.name}`, () =>
        relay(stopping.signal),
      );
    }),
    every(PROFILE_EVERY_MS, 'reading profiles', () => profileUnknown(context)),
    every(APPROVE_EVERY_MS, 'approving commissions', () => approveDue(context)),
    every(APPROVE_EVERY_MS, 'posting earlier payouts', () => postEarlierPayouts(context)),
    every(APPROVE_EVERY_MS, 'expiring contracts', () => expireDue(context)),
    every(MAIL_EVERY_MS, 'sending mails', () => sendDueMails(context, stopping.signal)),
    every(SYNC_EVERY_MS, 'syncing the ledger', async () => {
      await ensureMigrated(context.clickhouse);
      await syncLedger();
    }),
    every(DRAIN_EVERY_MS, 'draining clicks', async () => {
      await ensureMigrated(context.clickhouse);
      await drainClicks(context, stopping.signal);
    }),
    every(RECONCILE_EVERY_MS, 'reconciling figures', async () => {
      await ensureMigrated(context.clickhouse);
      await reconcileFigures(context);
      await rebuildUnfinished(context);
    }),
    every(TRACK_EVERY_MS, 'tracking parcels', () => trackDue(context)),
    every(REFRESH_EVERY_MS, 'refreshing content', () => refreshes.sweep()),
    every(THUMBNAILS_EVERY_MS, 'making thumbnails', () => thumbnails.sweep()),
    every(TIDY_FILES_EVERY_MS, 'removing files', async () => {
      await purgeDeleted(context);
      await giveUpUploads(context);
    }),
    every(RIGHTS_EVERY_MS, 'reporting rights that end', () => markExpiringRights(context)),
    every(REPORT_EVERY_MS, 'reporting what jobs did', () => recorder.report()),
    every(FORGET_EVERY_MS, 'forgetting sent batches', () => forgetSentBatches(context)),
    every(FORGET_EVERY_MS, 'forgetting old plans', () => deleteOldPlans(engines.db, engines.clock.now())),
    every(FORGET_EVERY_MS, 'forgetting old events', () => pruneOutbox(engines.db, engines.clock.now())),
    every(FORGET_EVERY_MS, 'forgetting old deliveries', () => forgetDeliveries(context)),
    every(FORGET_EVERY_MS, 'forgetting old mails', () => forgetMails(engines.db, engines.clock.now())),
    every(FORGET_EVERY_MS, 'forgetting idempotency keys', () =>
      deleteOldKeys(engines.db, new Date(context.clock.now().getTime() - KEPT_MS)),
    ),
  ];
  const imports = startImportWorker(context, redisUrl, reported('importing the directory'));
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all([...loops, imports.close(), webhooks.stop()]);
      await Promise.all([refreshes.close(), thumbnails.close()]);
    },
  };
}
