import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { olderItem } from '../../legacy/events.ts';
import { shownAs, type Variant } from '../../outbox/events.ts';
import { ignoreFailure } from '../../values/errors.ts';
import type { Rest } from '../commands/rest.ts';
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
  types: readonly string[];
  /** An event's id, `latest`, or undefined for the oldest kept event. */
  after: string | undefined;
  signal: AbortSignal;
  print(line: string): void;
  say(line: string): void;
}

async function readFeed({ rest, types, signal }: Listening, after: string | undefined, waitSeconds: number) {
  const query = new URLSearchParams({ wait: String(waitSeconds) });
  if (after !== undefined) query.set('after', after);
  if (types.length > 0) query.set('types', types.join(','));
  return Feed.parse(await rest.send('GET', `/v1/events?${query}`, undefined, signal));
}

/** The id after which the newest `count` events follow. */
export async function beforeLast(listening: Listening, count: number): Promise<string | undefined> {
  const ids: string[] = [];
  for (let after: string | undefined; ; ) {
    const page: Feed = await readFeed(listening, after, 0);
    ids.push(...page.data.map(({ id }) => id));
    if (!page.has_more) return ids.at(-count - 1);
    after = page.next_after ?? undefined;
  }
}

async function show(listening: Listening, { id, event, createdAt, data }: Feed['data'][number]): Promise<void> {
  const { variant, target, secret } = listening;
  const name = shownAs(variant, event);
  if (name === undefined) return;
  const item = variant === 'legacy' ? olderItem(event, data) : data;
  if (target === undefined) return listening.print(JSON.stringify({ id, event: name, createdAt, data: item }));
  const text = JSON.stringify(item);
  const one = { variant, eventId: id, event: name, createdAt: new Date(createdAt), data: text, isTest: false };
  await forward(target, secret, one, listening.print);
}

/** Follows the feed until it is stopped. No address of this machine needs to be reachable. */
export async function listen(listening: Listening): Promise<void> {
  const { signal, say } = listening;
  let { after } = listening;
  while (!signal.aborted) {
    const page = await readFeed(listening, after, 20).catch((error: unknown) => {
      if (!signal.aborted) say(`${error instanceof Error ? error.message : String(error)} Trying again in 2 s.`);
      return undefined;
    });
    if (!page) {
      await sleep(2_000, undefined, { signal }).catch(ignoreFailure('woken up to stop'));
      continue;
    }
    for (const event of page.data) if (!signal.aborted) await show(listening, event);
    after = page.next_after ?? undefined;
  }
}
