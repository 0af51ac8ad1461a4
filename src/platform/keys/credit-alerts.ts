import { z } from 'zod';
import { listSpending, sumEntries } from '../../kit/access/credits/entries.ts';
import { periodAt } from '../../kit/access/credits/period.ts';
import { type KeyLimits, parseLimits } from '../../kit/access/keys/limits.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { timeText } from '../../kit/html/times.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import { template } from '../../kit/mail/template.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Job } from '../../kit/operation/job.ts';
import { inWork } from '../../kit/operation/work.ts';
import { DAY_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { listOwners } from '../people/people.ts';
import { listKeysToAlert } from './keys.ts';

const LIMITS = { key_day: 'daily limit', key_month: 'monthly limit', budget: 'credits of the period' } as const;

/** A key reached a share of a limit that an owner chose. */
const creditsAlert = template({
  audience: 'brand',
  params: z.object({
    key_name: z.string(),
    limit: z.enum(['key_day', 'key_month', 'budget']),
    percent: z.int(),
    spent: z.int(),
    of: z.int(),
    ends_at: z.iso.datetime(),
  }),
  write: ({ key_name, limit, percent, spent, of, ends_at }) => ({
    subject: `The key ${key_name} has used ${percent}% of its ${LIMITS[limit]}`,
    paragraphs: ['Once nothing is left, its calls that cost credits are refused until the limit starts again.'],
    facts: [
      ['Key', key_name],
      ['Credits used', `${spent} of ${of}`],
      ['Starts again', timeText(new Date(ends_at))],
    ],
  }),
});

export const keyMails = mails({ credits_alert: creditsAlert });

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof keyMails> {}
}

/** Covers the time until a charge is settled, and the job's own interval. */
const RECENT_USE_MS = 10 * MINUTE_MS;

type AlertedKey = Awaited<ReturnType<typeof listKeysToAlert>>[number];

interface LimitUsage {
  limit: 'key_day' | 'key_month' | 'budget';
  /** Id of the key or subscription that has the limit. */
  ownerId: string;
  spent: number;
  most: number;
  from: Date;
  endsAt: Date;
}

/** Sums the credits that a key spent of each of its limits, or of the budget if it has none. */
async function measureUsage(db: Db, key: AlertedKey, limits: KeyLimits, now: Date): Promise<LimitUsage[]> {
  const { id, subscriptionId, anchorAt } = key;
  const { start, end } = periodAt(anchorAt, now);
  const { daily_credits: daily, monthly_credits: monthly } = limits;
  if (daily === null && monthly === null) {
    const { granted, remaining } = await sumEntries(db, subscriptionId, start);
    const spentCredits = granted - remaining;
    return [{ limit: 'budget', ownerId: subscriptionId, spent: spentCredits, most: granted, from: start, endsAt: end }];
  }
  const today = Math.floor(now.getTime() / DAY_MS);
  const spending = await listSpending(db, [id], start);
  const sum = (some: typeof spending) => some.reduce((total, { credits }) => total + credits, 0);
  const usages: LimitUsage[] = [];
  if (daily !== null) {
    const spentToday = sum(spending.filter(({ day }) => day === today));
    const [from, endsAt] = [new Date(today * DAY_MS), new Date((today + 1) * DAY_MS)];
    usages.push({ limit: 'key_day', ownerId: id, spent: spentToday, most: daily, from, endsAt });
  }
  if (monthly !== null) {
    const spentInPeriod = sum(spending.filter(({ isOfPeriod }) => isOfPeriod));
    usages.push({ limit: 'key_month', ownerId: id, spent: spentInPeriod, most: monthly, from: start, endsAt: end });
  }
  return usages;
}

async function alertOwners(
  { postgres, clock }: Context,
  key: AlertedKey,
  usage: LimitUsage,
  percent: number,
): Promise<void> {
  const { limit, ownerId, spent, most, from, endsAt } = usage;
  const actor = { brandId: key.brandId, keyId: null, operation: 'alert_about_credits', requestId: null };
  const params = { key_name: key.name, limit, percent, spent, of: most, ends_at: endsAt.toISOString() };
  await inWork(postgres.db, clock, actor, async (work) => {
    // One mail to each owner for each share of each period: a second one is `already_sent`.
    const subjectRow = `${ownerId}:${limit}:${from.toISOString()}:${percent}`;
    for (const { email } of await listOwners(work.db, work.brandId)) {
      await queueMail(work, { kind: 'credits_alert', to: email, subjectRow, params });
    }
  });
}

async function alertAll(context: Context): Promise<void> {
  const { postgres, clock } = context;
  const now = clock.now();
  for (const key of await listKeysToAlert(postgres.db, new Date(now.getTime() - RECENT_USE_MS))) {
    const limits = parseLimits(key.limits);
    if (!limits?.alert_at) continue;
    for (const usage of await measureUsage(postgres.db, key, limits, now)) {
      const reachedShares = limits.alert_at.filter(
        (percent) => usage.spent > 0 && usage.spent * 100 >= usage.most * percent,
      );
      for (const percent of reachedShares) await alertOwners(context, key, usage, percent);
    }
  }
}

export const alertAboutCredits: Job = {
  name: 'alert-about-credits',
  everyMs: 30_000,
  asksFor: 'keys that used the share of a limit at which owners get an email',
  run: alertAll,
};
