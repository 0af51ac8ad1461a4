import { setTimeout as sleep } from 'node:timers/promises';
import type { Variant } from '../../kit/outbox/events.ts';
import { RETRY_POLICY } from '../../platform/webhooks/health.ts';
import { renderBody, renderHeaders } from '../../platform/webhooks/signing.ts';

export interface Forwarded {
  variant: Variant;
  eventId: string;
  event: string;
  createdAt: Date;
  /** JSON text. */
  data: string;
  isTest: boolean;
}

const RETRY_AFTER_MS = 2_000;

async function post(target: string, secret: string, one: Forwarded): Promise<{ isOver: boolean; said: string }> {
  const body = renderBody(one);
  const signing = { variant: one.variant, eventId: one.eventId, deliveryId: `whd_${one.eventId.slice(4)}` };
  const headers = renderHeaders({ ...signing, secrets: [secret], at: new Date(), isTest: one.isTest }, body);
  const from = performance.now();
  const took = () => `(${Math.round(performance.now() - from)} ms)`;
  try {
    const signal = AbortSignal.timeout(RETRY_POLICY[one.variant].timeoutMs);
    const answer = await fetch(target, { method: 'POST', headers, body, redirect: 'manual', signal });
    await answer.body?.cancel();
    return { isOver: answer.status < 500, said: `${answer.status} ${took()}` };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    return { isOver: false, said: `${code} ${took()}` };
  }
}

/** Sends one event as the worker does, with the same bytes, headers and one retry. Prints a line for each attempt. */
export async function forward(target: string, secret: string, one: Forwarded, say: (line: string) => void) {
  const first = await post(target, secret, one);
  say(`→ ${one.event} ${one.eventId} ${first.said}`);
  if (first.isOver) return;
  await sleep(RETRY_AFTER_MS);
  const second = await post(target, secret, one);
  say(`→ ${one.event} ${one.eventId} ${second.said}`);
}
