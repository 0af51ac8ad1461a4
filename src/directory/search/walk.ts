import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../kit/access/keys/callers.ts';
import type { SetHeader } from '../../kit/access/rate-limit.ts';
import type { Slot } from '../../kit/access/slots.ts';
import type { Context } from '../../kit/operation/context.ts';
import { toCsv } from '../../kit/operation/csv.ts';
import type { Streaming } from '../../kit/operation/operation.ts';
import { toChunks } from '../../kit/values/chunks.ts';
import { ApiError, ignoreFailure, toApiError, validationError } from '../../kit/values/errors.ts';
import { keyedHash } from '../../kit/values/secrets.ts';
import { getScoringParameter } from './counts.ts';
import { DirectoryCreator } from './creator.shapes.ts';
import { findNeededField } from './forced-filters.ts';
import { listToDelete } from './left.ts';
import { toSort } from './order.ts';
import { neededField } from './plan.ts';
import { toElasticQuery } from './query.ts';
import { type CreatorSearchQuery, sortOfQuery } from './search.shapes.ts';
import { assertKept } from './search.ts';
import { toSearchRecord } from './search-record.ts';
import { settlePlan } from './settle-plan.ts';
import { readCursor, sealCursor, type WalkPosition } from './walk-cursor.ts';

/** Creators that are paid together. */
export const BLOCK = 100;
/** A cursor follows each of these. */
const CURSOR_EVERY = 1_000;
/** Creators a second of one walk while others search; alone, it reads as fast as Elasticsearch lets it. */
const PACE = 3_500;
/** A walk is alone once no search has begun for this long. */
const ALONE_AFTER_MS = 1_000;
/** A read that took so many times as long as the fastest was beside somebody, perhaps by another process. */
const SLOWED = 3;
/** While searches wait, a walk pauses for up to this long before it reads on. */
const YIELD_MS = 250;
const YIELD_STEP_MS = 5;
/** After a read beside others, a walk rests for so many times as long as the read took: less where the machine is idle. */
const RESTS = 3;
/** Creators that one request reads, by how large the last ones were: a slow reader holds at most twice these bytes. */
const READ_BYTES = 400_000;
const MAX_READ = 1_000;

/** A walk as it was requested, before anything is read or paid. */
export interface Walk {
  position: WalkPosition;
  query: CreatorSearchQuery;
  caller: Caller;
  /** Credits for each block; 0 for a brand key. */
  price: number;
}

const CONTINUED = 'A newer call continues this walk.';

const sha = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** The filters and the order, whatever the order of the parameters. */
function searchHash(query: CreatorSearchQuery, caller: Caller): string {
  const { walk: _walk, cursor: _cursor, max_credits: _max, directory_version: _version, ...search } = query;
  return sha(
    JSON.stringify(
      Object.entries({ ...search, sort: sortOfQuery(query), forced: caller.limits?.forced_filters ?? null }).sort(
        ([a], [b]) => (a < b ? -1 : 1),
      ),
    ),
  );
}

/**
 * The position that a call begins at. The same call with the same request id is the same walk for the rest of the UTC day,
 * so that a caller whose connection broke before the first line does not pay twice.
 */
async function begin(
  { secrets, directory, clock }: Context,
  query: CreatorSearchQuery,
  caller: Caller,
  requestId: string,
) {
  const search = searchHash(query, caller);
  if (query.cursor !== undefined) {
    const position = readCursor(secrets, caller.brandId, query.cursor, search);
    if (query.directory_version !== undefined && query.directory_version !== position.index) {
      const message = `contradicts cursor, whose walk is of version ${JSON.stringify(position.index)}.`;
      throw validationError([{ field: 'directory_version', code: 'contradiction', message }]);
    }
    await directory.snapshot(position.index);
    return position;
  }
  const { index } = await directory.snapshot(query.directory_version);
  const day = clock.now().toISOString().slice(0, 10);
  const name = [caller.subscription.id, requestId, day, search, index].join(' ');
  const walkId = `walk_${keyedHash(secrets.key('walk'), name).toString('hex', 0, 12)}`;
  return { walkId, index, search, creators: 0, after: '' };
}

interface CardPage {
  /** Cards as JSON, as UTF-8 bytes held as latin1 text. */
  cards: string[];
  /** The sort values of each, as JSON. */
  sorts: string[];
  tookMs: number;
}

const BETWEEN = ',{"_source":{"card":';
const SORT = '},"sort":';

/** Splits a response without parsing it: a JSON string has no unescaped quote, so the separators are unique. */
function splitHits(bytes: Buffer): Omit<CardPage, 'tookMs'> {
  const text = bytes.toString('latin1');
  const start = text.indexOf('[');
  const page: Omit<CardPage, 'tookMs'> = { cards: [], sorts: [] };
  if (start < 0) return page;
  for (const hit of `,${text.slice(start + 1, -']}}'.length)}`.split(BETWEEN).slice(1)) {
    const end = hit.lastIndexOf(SORT);
    page.cards.push(hit.slice(0, end));
    page.sorts.push(hit.slice(end + SORT.length, -1));
  }
  return page;
}

async function readOn(context: Context, { query, caller, position }: Walk, size: number): Promise<CardPage> {
  const { directory } = context;
  const sort = sortOfQuery(query);
  // The filter is read for each block, because lists change.
  const snapshot = await directory.snapshot(position.index);
  const { filter } = await settlePlan(context, caller, query, { snapshot });
  const body = JSON.stringify({
    size,
    track_total_hits: false,
    _source: true,
    query: toElasticQuery(filter, sort),
    sort: toSort(sort),
  });
  const after = position.after === '' ? body : `${body.slice(0, -1)},"search_after":${position.after}}`;
  const fields = 'hits.hits._source.card,hits.hits.sort';
  const path = `/${position.index}/_search?filter_path=${fields}&allow_partial_search_results=false${getScoringParameter(sort)}`;
  try {
    const from = performance.now();
    const nextPage = splitHits(await directory.elastic.post(path, after));
    return { ...nextPage, tookMs: performance.now() - from };
  } catch (error) {
    return assertKept(error, position.index);
  }
}

/** Whole blocks within the bytes, by the size of the cards before. */
function sizeAfter({ cards }: CardPage): number {
  const bytes = cards.reduce((sum, card) => sum + card.length, 0) / Math.max(1, cards.length);
  return Math.min(MAX_READ, Math.max(1, Math.floor(READ_BYTES / Math.max(1, bytes) / BLOCK)) * BLOCK);
}

/** Decides when a walk reads on: at once if nobody else uses Elasticsearch, else at a pace that leaves most of it to them. */
function openPace({ directory: { searching } }: Context): (lastPage: CardPage) => number {
  let { begun } = searching;
  let searchedAt = Number.NEGATIVE_INFINITY;
  let fastestMs = Number.POSITIVE_INFINITY;
  return ({ tookMs, cards }) => {
    const now = performance.now();
    if (searching.begun !== begun) searchedAt = now;
    begun = searching.begun;
    const eachMs = tookMs / Math.max(1, cards.length);
    fastestMs = Math.min(fastestMs, eachMs);
    const isAlone = now - searchedAt > ALONE_AFTER_MS && eachMs < SLOWED * fastestMs;
    return isAlone ? now : Math.max(now - tookMs + (cards.length / PACE) * 1_000, now + RESTS * tookMs);
  };
}

/** Waits until the walk is due again, and while searches are running. */
async function pause({ directory, stopping }: Context, dueAt: number): Promise<void> {
  const { signal } = stopping;
  const wait = (ms: number) => sleep(ms, undefined, { signal }).catch(ignoreFailure('the walk sees that it must stop'));
  if (dueAt > performance.now()) await wait(dueAt - performance.now());
  const until = performance.now() + YIELD_MS;
  while (directory.searching.count > 0 && performance.now() < until && !signal.aborted) await wait(YIELD_STEP_MS);
}

/** A block that is paid, and what follows it. */
interface PaidBlock {
  cards: string[];
  position: WalkPosition;
}

/** The end of a walk. */
interface End {
  credits: number;
  creators: number;
  /** Why it ended before the last creator. */
  failure: ApiError | undefined;
}

/** Reads, pays and yields block after block. Throws what prevents the first block; later failures are in the result. */
async function* readBlocks(
  context: Context,
  walk: Walk,
  { pay, note }: Pick<Streaming, 'pay' | 'note'>,
  slot: Slot,
): AsyncGenerator<PaidBlock, End> {
  const { query, price } = walk;
  const end: End = { credits: 0, creators: 0, failure: undefined };
  const dueAfter = openPace(context);
  let { position } = walk;
  let isFirst = true;
  const payFor = async () => {
    if (price === 0) return;
    if (query.max_credits !== undefined && end.credits + price > query.max_credits) {
      throw new ApiError('CREDITS_EXHAUSTED', `max_credits=${query.max_credits} is reached.`);
    }
    const number = Math.floor(position.creators / BLOCK) + 1;
    const { isPaid } = await pay(price, { walkId: position.walkId, number });
    if (!isPaid) end.credits += price;
  };
  const readAfter = async (last: CardPage, size: number) => {
    await pause(context, dueAfter(last));
    if (context.stopping.signal.aborted) throw new ApiError('SERVICE_UNAVAILABLE', 'The server is stopping.');
    if (!(await slot.keep())) throw new ApiError('CONFLICT', CONTINUED);
    return await readOn(context, { ...walk, position: { ...position, after: last.sorts.at(-1) ?? '' } }, size);
  };
  try {
    let reading = readOn(context, walk, BLOCK);
    for (let size = BLOCK; ; ) {
      const page = await reading;
      const isLast = page.cards.length < size;
      size = sizeAfter(page);
      for (let from = 0; from < page.cards.length; from += BLOCK) {
        const cards = page.cards.slice(from, from + BLOCK);
        await payFor();
        isFirst = false;
        // The next read runs while the other creators of this one are paid and sent.
        if (from === 0 && !isLast) reading = readAfter(page, size);
        reading.catch(ignoreFailure('the walk sees it when it comes to this read'));
        end.creators += cards.length;
        note({ results: end.creators });
        const after = page.sorts[from + cards.length - 1] ?? position.after;
        position = { ...position, creators: position.creators + cards.length, after };
        yield { cards, position };
      }
      if (isFirst && walk.position.creators === 0) {
        await payFor();
        note({ results: 0 });
        yield { cards: [], position };
      }
      if (isLast) return end;
    }
  } catch (error) {
    if (isFirst) throw error;
    return { ...end, failure: toApiError(error) };
  }
}

const toLine = (value: unknown) => Buffer.from(`${JSON.stringify(value)}\n`);

/** With `changed_since`, the creators that a copy of the search has to delete. */
async function* streamLeft(context: Context, { query, caller, position }: Walk): AsyncGenerator<Buffer> {
  if (query.changed_since === undefined) return;
  const snapshot = await context.directory.snapshot(position.index);
  const { plan } = await settlePlan(context, caller, query, { snapshot });
  for (const pks of toChunks(await listToDelete(context, { caller, query, snapshot, filter: plan.filter }), BLOCK)) {
    yield Buffer.from(pks.map((pk) => `{"left":${pk}}\n`).join(''));
  }
}

/** The lines of a walk: a cursor, creators with a cursor after each thousand, and how it ended. */
async function* streamLines(
  context: Context,
  walk: Walk,
  blocks: AsyncGenerator<PaidBlock, End>,
  first: IteratorResult<PaidBlock, End>,
) {
  const { secrets } = context;
  let { position } = walk;
  const cursor = () => sealCursor(secrets, walk.caller.brandId, position);
  yield toLine({ cursor: cursor() });
  let block = first;
  for (; !block.done; block = await blocks.next()) {
    const { cards } = block.value;
    position = block.value.position;
    if (cards.length > 0) yield Buffer.from(`${cards.join('\n')}\n`, 'latin1');
    if (cards.length > 0 && position.creators % CURSOR_EVERY === 0) yield toLine({ cursor: cursor() });
  }
  const { creators, credits, failure } = block.value;
  if (!failure) yield* streamLeft(context, walk);
  const next = failure ? cursor() : null;
  const reason = failure ? { reason: { code: failure.code, error: failure.message } } : {};
  yield toLine({ walk: { complete: !failure, creators, credits, next, ...reason } });
}

/** The creators of a walk for CSV, which has no place for a cursor: a failure cuts the stream, `max_credits` ends it. */
async function* streamCards(
  walk: Walk,
  blocks: AsyncGenerator<PaidBlock, End>,
  first: IteratorResult<PaidBlock, End>,
): AsyncGenerator<unknown> {
  let block = first;
  for (; !block.done; block = await blocks.next()) {
    for (const card of block.value.cards) yield JSON.parse(Buffer.from(card, 'latin1').toString('utf8'));
  }
  const { failure, credits } = block.value;
  const isWanted = walk.query.max_credits !== undefined && credits + walk.price > walk.query.max_credits;
  if (failure && !(failure.code === 'CREDITS_EXHAUSTED' && isWanted)) throw failure;
}

/** Gives the slot back when the stream ends, however it ends. */
async function* releaseSlotAfter<T>(
  rows: AsyncGenerator<T>,
  blocks: AsyncGenerator<PaidBlock, End>,
  slot: Slot,
): AsyncGenerator<T> {
  try {
    yield* rows;
  } finally {
    await blocks.return({ credits: 0, creators: 0, failure: undefined });
    await slot.leave();
  }
}

/** More often than a slot of a process that was killed is freed. */
const KEEP_EVERY_MS = 3_000;

/**
 * Keeps the slot while the stream is open, also while its reader takes nothing: else a stalled walk would make room for
 * another. A newer call that continues the walk ends this one.
 */
function holdSlot(stream: Readable, slot: Slot): Readable {
  const keeping = setInterval(() => {
    slot.keep().then((isOurs) => {
      if (!isOurs) stream.destroy(new ApiError('CONFLICT', CONTINUED));
    }, ignoreFailure('the next call tries again'));
  }, KEEP_EVERY_MS);
  stream.once('close', () => clearInterval(keeping));
  return stream;
}

interface WalkCall extends Pick<Streaming, 'answer' | 'pay' | 'requestId' | 'note'> {
  query: CreatorSearchQuery;
  caller: Caller;
  setHeader: SetHeader;
}

const TOO_MANY = 'Two walks of this brand are under way; try again when one has ended.';

/** Starts a walk: its first block is read and paid before anything is sent. */
export async function openWalk(context: Context, call: WalkCall, credits: number): Promise<Readable> {
  const { query, caller, requestId, setHeader, note } = call;
  const { directory } = context;
  note({ record: toSearchRecord(query) });
  const position = await begin(context, query, caller, requestId);
  await directory.assertServes({ index: position.index, generation: 0 }, neededField(query) ?? findNeededField(caller));
  setHeader('x-directory-version', position.index);
  const walk: Walk = { position, query, caller, price: caller.kind === 'data' ? credits : 0 };
  const slot = await directory.walks.take(caller.brandId, position.walkId, TOO_MANY);
  const blocks = readBlocks(context, walk, call, slot);
  const first = await blocks.next().catch(async (error: unknown) => {
    await slot.leave();
    throw error;
  });
  if (call.answer === 'csv')
    return holdSlot(toCsv(DirectoryCreator, releaseSlotAfter(streamCards(walk, blocks, first), blocks, slot)), slot);
  const lines = releaseSlotAfter(streamLines(context, walk, blocks, first), blocks, slot);
  return holdSlot(Readable.from(lines, { objectMode: false }), slot);
}
