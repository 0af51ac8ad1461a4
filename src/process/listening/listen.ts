import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { LATEST, type Variant } from '../../kit/outbox/events.ts';
import { ignoreFailure } from '../../kit/values/errors.ts';
import { RefusedError, type Rest } from '../commands/rest.ts';
import { forward } from './forward.ts';

const Feed = z.object({
  data: z.array(z.object({ id: z.string(), event: z.string(), createdAt: z.string(), data: z.unknown() })),
  has_more: z.boolean(),
  next_after: z.string().nullable(),
});
type Feed = z.infer<typeof Feed>;

export interface Listening {
  rest: Rest;
  secret: string;
  /** Undefined: events are printed. */
  target: string | undefined;
  variant: Variant;
  /** Renames and reshapes an event for the variant, which may not have it. */
  convert(event: string, data: unknown): { event: string; data: unknown } | undefined;
  types: readonly string[];
  /** An event's id, `latest`, or undefined for the oldest kept event. */
  after: string | undefined;
  signal: AbortSignal;
  print(line: string): void;
  say(line: string): void;
}

async function readFeed({ rest, types, signal }: Listening, after: string | undefined, waitSeconds: number) {
  const query = new URLSearchParams({ wait: String(waitSeconds), limit: '100' });
  if (after !== undefined) query.set('after', after);
  if (types.length > 0) query.set('types', types.join(','));
  return Feed.parse(await rest.send('GET', `/v1/events?${query}`, undefined, signal));
}

async function show(listening: Listening, { id, event, createdAt, data }: Feed['data'][number]): Promise<void> {
  const { variant, target, secret } = listening;
  const shown = listening.convert(event, data);
  if (shown === undefined) return;
  if (target === undefined)
    return listening.print(JSON.stringify({ id, event: shown.event, createdAt, data: shown.data }));
  const text = JSON.stringify(shown.data);
  const one = { variant, eventId: id, event: shown.event, createdAt: new Date(createdAt), data: text, isTest: false };
  await forward(target, secret, one, listening.print);
}

/** Suggests a remedy for a refusal that another attempt would only repeat; undefined if another attempt may succeed. */
function suggestFix(error: unknown): string | undefined {
  if (!(error instanceof RefusedError) || error.status < 400 || error.status >= 500) return undefined;
  if (error.status === 408 || error.status === 429) return undefined;
  if (error.status === 401)
    return 'Set ROLLCALL_BRAND_KEY to a key of this server, or start the demo with `npm start`.';
  if (error.status === 403) return 'Set ROLLCALL_BRAND_KEY to a brand key: a data key has no events.';
  if (error.status === 404) return 'Set ROLLCALL_URL to the address of the API.';
  const oldest = error.refusal?.oldest;
  if (error.status === 409) return oldest ? `Use --since ${oldest}, the oldest event.` : 'Leave out --since.';
  return 'Correct --events or --since; `listen --help` describes both.';
}

/**
 * A page of the feed, with as many attempts as it takes; undefined once it is stopped. Throws what no further attempt can
 * change.
 */
async function readPage(
  listening: Listening,
  after: string | undefined,
  waitSeconds: number,
): Promise<Feed | undefined> {
  const { signal, say } = listening;
  while (!signal.aborted) {
    try {
      return await readFeed(listening, after, waitSeconds);
    } catch (error) {
      if (signal.aborted) return undefined;
      const message = error instanceof Error ? error.message : String(error);
      const fix = suggestFix(error);
      if (fix !== undefined) throw new Error(`${message}\n${fix}`, { cause: error });
      say(`${message} Trying again in 2 s.`);
      await sleep(2_000, undefined, { signal }).catch(ignoreFailure('woken up to stop'));
    }
  }
  return undefined;
}

/** The event after which to begin; undefined: with the oldest. */
async function beginning(listening: Listening, last: number | undefined): Promise<string | undefined> {
  if (last !== undefined) return await beforeLast(listening, last);
  const page = await readPage(listening, listening.after, 0);
  // `latest` names an event from here on, so that none is missed before the next call. Other values are only checked.
  return listening.after === LATEST ? (page?.next_after ?? undefined) : listening.after;
}

/** The id after which the newest `count` events follow. */
async function beforeLast(listening: Listening, count: number): Promise<string | undefined> {
  const ids: string[] = [];
  for (let after: string | undefined; ; ) {
    const page: Feed | undefined = await readPage(listening, after, 0);
    ids.push(...(page?.data.map(({ id }) => id) ?? []));
    if (!page?.has_more) return ids.at(-count - 1);
    after = page.next_after ?? undefined;
  }
}

/**
 * Follows the feed until it is stopped. No address of this machine needs to be reachable. `started` is called when the
 * beginning is known: every later event is shown.
 */
export async function listen(listening: Listening, last: number | undefined, started: () => void): Promise<void> {
  const { signal } = listening;
  let after = await beginning(listening, last);
  if (signal.aborted) return;
  started();
  while (!signal.aborted) {
    const page = await readPage(listening, after, 20);
    for (const event of page?.data ?? []) if (!signal.aborted) await show(listening, event);
    after = page?.next_after ?? after;
  }
}
