import { setTimeout as pause } from 'node:timers/promises';
import { PHONE } from '../harness/affiliates/clicks.ts';
import type { Random } from './random.ts';
import type { Assignment, World } from './world.ts';

const GENERATORS = 16;
const THINK_MS = 8;
const AFTER_FAILURE_MS = 50;
const ANSWERED_WITHIN_MS = 20_000;
/** Of clicks, followed by a second one of the same visitor. */
const REPEATS = 0.03;
const RECENT = 200;
const ID_CHARACTERS = 24;

export interface Clicked {
  linkId: string;
  kind: 'counted' | 'repeat';
}

export interface ClickTally {
  /** By id: their 302 did not say that they were not recorded. */
  acknowledged: Map<string, Clicked>;
  /** By id: their 302 said that it is not known. */
  unsaid: Set<string>;
  /** Requests that broke: whether they were recorded nobody knows, nor under which id. */
  broken: number;
  /** Answers that no visitor should get. */
  faults: string[];
}

export interface ClickLoad extends ClickTally {
  /** A token of the link that a store may hand back. */
  recent(link: Assignment): string | undefined;
  lastAt(): number;
  stop(): Promise<void>;
}

/** Each visitor from an address of their own. */
const addressOf = (visitor: number) => `10.${(visitor >> 16) & 255}.${(visitor >> 8) & 255}.${visitor & 255}`;

/** Surely not sent: nobody listens. */
const isRefused = (error: unknown) =>
  error instanceof Error &&
  error.cause instanceof Error &&
  'code' in error.cause &&
  error.cause.code === 'ECONNREFUSED';

export function startClicks(url: string, { brands }: World, random: Random): ClickLoad {
  const links = brands.flatMap((brand) => brand.links);
  const tokens = new Map<string, string[]>(links.map(({ id }) => [id, []]));
  const tally: ClickTally = { acknowledged: new Map(), unsaid: new Set(), broken: 0, faults: [] };
  let isOver = false;
  let visitors = 0;
  let lastAt = 0;

  function note({ id: linkId }: Assignment, answer: Response, kind: Clicked['kind']): boolean {
    const location = answer.headers.get('location');
    if (answer.status === 503) return false;
    const token = location === null ? null : new URL(location).searchParams.get('click_id');
    if (answer.status !== 302 || token === null) {
      tally.faults.push(`a click was answered ${answer.status} ${location ?? 'without a location'}`);
      return false;
    }
    tokens.get(linkId)?.push(token);
    const id = token.slice(0, ID_CHARACTERS);
    if (answer.headers.get('x-click-recorded') === 'false') {
      tally.unsaid.add(id);
      return false;
    }
    tally.acknowledged.set(id, { linkId, kind });
    lastAt = performance.now();
    return true;
  }

  /** Whether it was acknowledged. */
  async function click(link: Assignment, visitor: number, kind: Clicked['kind']): Promise<boolean> {
    const headers = { 'user-agent': PHONE, 'x-forwarded-for': addressOf(visitor) };
    const signal = AbortSignal.timeout(ANSWERED_WITHIN_MS);
    try {
      const answer = await fetch(`${url}/r/${link.slug}`, { redirect: 'manual', headers, signal });
      await answer.arrayBuffer();
      return note(link, answer, kind);
    } catch (error) {
      if (!isRefused(error)) tally.broken += 1;
      await pause(AFTER_FAILURE_MS);
      return false;
    }
  }

  async function generator(): Promise<void> {
    while (!isOver) {
      const link = random.pick(links);
      visitors += 1;
      const visitor = visitors;
      if ((await click(link, visitor, 'counted')) && random.chance(REPEATS)) await click(link, visitor, 'repeat');
      await pause(random.below(2 * THINK_MS));
    }
  }

  const generators = Promise.all(Array.from({ length: GENERATORS }, generator));
  return Object.assign(tally, {
    recent: ({ id }: Assignment) => {
      const known = tokens.get(id) ?? [];
      if (known.length > 2 * RECENT) known.splice(0, RECENT);
      return known.length === 0 ? undefined : random.pick(known);
    },
    lastAt: () => lastAt,
    stop: async () => {
      isOver = true;
      await generators;
    },
  });
}
