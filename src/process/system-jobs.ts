import { CONSUMER_NAMES } from '../interfaces/nouns.ts';
import { makeMonths } from '../kit/access/credits/months.ts';
import { settleAll } from '../kit/access/credits/settle.ts';
import { sumUpRowCounts } from '../kit/engines/postgres/row-counts.ts';
import { deleteOldClaims } from '../kit/engines/postgres/work-claims.ts';
import { forgetMails } from '../kit/mail/mails.ts';
import { sendDueMails } from '../kit/mail/sender.ts';
import { later } from '../kit/operation/context.ts';
import type { Follower, Job } from '../kit/operation/job.ts';
import { pruneOutbox } from '../kit/outbox/relay.ts';
import { openDue } from '../kit/values/due.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../kit/values/duration.ts';

/** Finds charges of a process that was killed before it recorded which keys were used. */
const ALL_CHARGES_EVERY_MS = 600_000;

export const settleCharges: Follower = {
  name: 'settle-charges',
  everyMs: 1_000,
  open: ({ postgres, redis, clock }) => {
    const dueTimer = openDue(clock, ALL_CHARGES_EVERY_MS);
    return () => dueTimer.ask((after) => settleAll({ db: postgres.db, redis, clock }, after));
  },
};

export const followMails: Follower = {
  name: 'send-mails',
  everyMs: 1_000,
  open: (context, stopping) => () => sendDueMails(context, stopping),
};

export const forgetOldMails: Job = {
  name: 'forget-mails',
  everyMs: HOUR_MS,
  asksFor: 'emails that were sent at least 30 days ago',
  run: ({ postgres, clock }) => forgetMails(postgres.db, clock.now()),
};

export const forgetEvents: Job = {
  name: 'forget-events',
  everyMs: HOUR_MS,
  asksFor: 'events older than 30 days that every consumer has received',
  run: ({ postgres, clock }) => pruneOutbox(postgres.db, CONSUMER_NAMES, clock.now()),
};

export const partitionCredits: Job = {
  name: 'partition-credits',
  everyMs: HOUR_MS,
  asksFor: 'months of credits without a partition, up to the next month',
  run: ({ postgres, clock }) => makeMonths(postgres.db, clock.now()),
};

export const forgetClaims: Job = {
  name: 'forget-claims',
  everyMs: HOUR_MS,
  asksFor: 'claims of rows that were deleted or are no longer due',
  run: (context) => deleteOldClaims(context.postgres.db, later(context, -DAY_MS)),
};

export const sumUpCounts: Job = {
  name: 'sum-up-counts',
  everyMs: MINUTE_MS,
  asksFor: 'brands with many differences of their row counts',
  run: ({ postgres }) => sumUpRowCounts(postgres.db),
};
