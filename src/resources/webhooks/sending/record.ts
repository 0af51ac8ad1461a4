import type { Db } from '../../../engines/postgres/open.ts';
import { transact } from '../../../engines/postgres/transaction.ts';
import { queueMail } from '../../../mail/queue.ts';
import type { Context } from '../../../operation/context.ts';
import { EVENTS_KEPT_MS } from '../../../outbox/relay.ts';
import { findContactEmail } from '../../brands/queries.ts';
import { type Judged, judged } from '../policy.ts';
import { cancelPending, updateSubscription } from '../queries.ts';
import {
  type AttemptResult,
  deleteOldDeliveries,
  deleteOldSubscriptions,
  finishAttempts,
  insertAttempts,
  type LockedSubscription,
  lockSubscriptions,
  noteNewest,
} from './record-queries.ts';

type Recording = Pick<Context, 'postgres' | 'log'>;

/** Mails the brand once per episode. A brand without an address only has the log and the webhook's status. */
async function notifyBrand(
  db: Db,
  { log }: Recording,
  webhook: LockedSubscription,
  { notice, ...standing }: Judged,
  at: Date,
) {
  if (notice === null) return;
  const { id, brandId, url } = webhook;
  const to = await findContactEmail(db, brandId);
  const since = (standing.firstFailedAt ?? at).toISOString();
  log.info({ webhook: id, brandId, notice, mailed: to !== null }, 'a webhook fails');
  if (to === null) return;
  const kind = notice === 'failing' ? 'webhook_failing' : 'webhook_disabled';
  const params = { webhook_id: id, url, since };
  await queueMail({ db, brandId, now: at }, { kind, to, subjectRow: `${id}:${since}`, params });
}

async function judge(db: Db, recording: Recording, webhook: LockedSubscription, results: readonly AttemptResult[]) {
  let standing = webhook;
  for (const { state, endedAt } of results) {
    const after = judged(standing, state === 'delivered', endedAt);
    standing = { ...standing, ...after };
    await notifyBrand(db, recording, webhook, after, endedAt);
    const isDisabled = after.notice === 'disabled';
    const { notice: _notice, ...columns } = after;
    const off = isDisabled ? { active: false, disabledReason: 'failures' as const } : {};
    await updateSubscription(db, webhook.brandId, webhook.id, { ...columns, ...off });
    if (!isDisabled) continue;
    await cancelPending(db, webhook.brandId, webhook.id, endedAt);
    return;
  }
}

/** Records the outcomes of attempts, all of them or none. */
export async function recordAttempts(recording: Recording, results: readonly AttemptResult[]): Promise<void> {
  if (results.length === 0) return;
  await transact(recording.postgres.db, async (db) => {
    const webhooks = await lockSubscriptions(db, [...new Set(results.map(({ subscriptionId }) => subscriptionId))]);
    await insertAttempts(db, results);
    await finishAttempts(db, results);
    await noteNewest(db, results);
    for (const webhook of webhooks) {
      if (webhook.variant !== 'legacy' || !webhook.active) continue;
      const its = results.filter(({ subscriptionId, counts }) => counts && subscriptionId === webhook.id);
      await judge(db, recording, webhook, its);
    }
  });
}

const BATCH = 5_000;

/** Deliveries are kept as long as events. */
export async function forgetDeliveries({ postgres, clock }: Pick<Context, 'postgres' | 'clock'>): Promise<void> {
  const before = new Date(clock.now().getTime() - EVENTS_KEPT_MS);
  while ((await deleteOldDeliveries(postgres.db, before, BATCH)) === BATCH);
  await deleteOldSubscriptions(postgres.db, before);
}
