import type { Mailer, MailOutcome } from '../engines/mail.ts';
import { isHeld } from '../engines/postgres/home.ts';
import { MINUTE_MS } from '../values/duration.ts';
import type { RepeatedFailures } from '../values/repeated-failures.ts';
import { admitDueMails, type JudgingEngines } from './admission.ts';
import { findTemplate, isStoppable } from './kinds.ts';
import { claimDueMails, isSuppressed, type MailRow, recordAttempt } from './mails.ts';
import { renderMail } from './render.ts';

interface Engines extends JudgingEngines {
  failures: RepeatedFailures;
  mailer: Mailer;
}

const BATCH = 10;
/** A sender that is silent for this long counts as dead, and another sends the mails that it claimed. */
const CLAIM_MS = 180_000;
/** The pause after each attempt but the last: five attempts within 24 hours. */
const PAUSES_MS = [1, 15, 180, 1_200].map((minutes) => minutes * MINUTE_MS);

async function attempt({ mailer, pageLinks }: Engines, row: MailRow): Promise<MailOutcome> {
  try {
    return await mailer.send(renderMail(row, pageLinks));
  } catch (error) {
    // A mail that cannot be rendered is our mistake; it may be sent after the next release.
    return { outcome: 'failed', reason: error instanceof Error ? error.message : String(error) };
  }
}

function toResult(outcome: MailOutcome, attempts: number, now: Date): Parameters<typeof recordAttempt>[2] {
  if (outcome.outcome === 'sent') {
    return { state: 'sent', nextAttemptAt: null, messageId: outcome.messageId, error: null, sentAt: now };
  }
  const pauseMs = outcome.outcome === 'failed' ? PAUSES_MS[attempts - 1] : undefined;
  const facts = { messageId: null, error: outcome.reason, sentAt: null };
  if (pauseMs === undefined) return { state: 'failed', nextAttemptAt: null, ...facts };
  return { state: 'queued', nextAttemptAt: new Date(now.getTime() + pauseMs), ...facts };
}

async function sendOne(engines: Engines, row: MailRow): Promise<void> {
  const { postgres, clock, failures } = engines;
  const template = findTemplate(row.kind);
  const isStopped =
    template !== undefined && isStoppable(template) && (await isSuppressed(postgres.db, row.brandId, row.toEmail));
  if (isStopped) {
    const facts = { nextAttemptAt: null, messageId: null, error: null, sentAt: null };
    return await recordAttempt(postgres.db, row, { state: 'suppressed', ...facts });
  }
  const outcome = await attempt(engines, row);
  const result = toResult(outcome, row.attempts, clock.now());
  await recordAttempt(postgres.db, row, result);
  if (outcome.outcome === 'sent') return;
  const facts = { mail: row.id, kind: row.kind, attempts: row.attempts, state: result.state };
  // Without the reason, which may contain an address; the mail's row has it.
  failures.failed('sending a mail', undefined, facts);
}

/** Sends due mails until none are left or the process stops. Several senders may run. */
export async function sendDueMails(engines: Engines, signal?: AbortSignal): Promise<void> {
  const { postgres, clock } = engines;
  while (!signal?.aborted && !(await isHeld(postgres.db))) {
    const judgedCount = await admitDueMails(engines, BATCH);
    const now = clock.now();
    const mails = await claimDueMails(postgres.db, now, new Date(now.getTime() + CLAIM_MS), BATCH);
    await Promise.all(mails.map((row) => sendOne(engines, row)));
    if (mails.length < BATCH && judgedCount < BATCH) return;
  }
}
