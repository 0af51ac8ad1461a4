import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { noun } from '../../kit/operation/noun.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import { storeWebhookMails } from './webhooks.mails.ts';
import { claimDueWebhooks, keepWebhooksOrLater, LOOKED_AT_EVERY_MS } from './webhooks.ts';

const AT_ONCE = 8;

/** Checks the stores that are due. A hanging store delays seven others until its call times out. */
export async function keepDueWebhooks(context: Context): Promise<void> {
  for (;;) {
    const now = context.clock.now();
    const next = new Date(now.getTime() + LOOKED_AT_EVERY_MS);
    const soon = new Date(now.getTime() + MINUTE_MS);
    const due = await claimDueWebhooks(context.postgres.db, now, next, AT_ONCE);
    await Promise.all(due.map((row) => keepWebhooksOrLater(context, row, soon)));
    if (due.length < AT_ONCE) return;
  }
}

const keepStoreWebhooks: Job = {
  name: 'keep-store-webhooks',
  everyMs: 5_000,
  asksFor: 'stores whose webhooks were not looked at for 15 minutes',
  run: keepDueWebhooks,
};

export const storeWebhooks = noun({
  name: 'store-webhooks',
  operations: [],
  jobs: [keepStoreWebhooks],
  mails: storeWebhookMails,
});
