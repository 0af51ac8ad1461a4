import { RollcallError, toRollcallError } from './errors.js';
import type { Client } from './generated/client/index.js';
import { SEARCH_PARAMETERS } from './generated/search-parameters.js';
import type { DirectoryCreator, ErrorCode, SearchCreatorsData } from './generated/types.gen.js';
import { drawPause } from './retries.js';

export interface WalkOptions {
  client: Client;
  /** The filters and the order of a search. */
  query?: Omit<
    NonNullable<SearchCreatorsData['query']>,
    'page' | 'limit' | 'offset' | 'walk' | 'cursor' | 'max_credits'
  >;
  /** Most credits that the walk may cost, over all its calls. */
  maxCredits?: number;
  /** How often it goes on without having read anything new; 5 when omitted. */
  retries?: number;
  /** With `changed_since`: called with the key of each creator that a copy of the search has to delete. */
  onLeft?: (pk: number) => void;
}

interface Ending {
  complete: boolean;
  next: string | null;
  reason?: { code: ErrorCode; error: string };
}

type Line = DirectoryCreator | { cursor: string } | { left: number } | { walk: Ending };

/** The lines that came whole; a connection that breaks ends them. */
async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Line> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done) return;
      const lines = `${text}${decoder.decode(value, { stream: true })}`.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The edits that make one word of another. */
function countEdits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (const [j, before] of [...other].entries()) {
      const [left = 0, above = 0, diagonal = 0] = [next[j], row[j + 1], row[j]];
      next.push(Math.min(left + 1, above + 1, diagonal + (letter === before ? 0 : 1)));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

/** A walk is paid by its length, so a filter that would be ignored is refused before anything is sent. */
function assertFilters(query: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    if (!SEARCH_PARAMETERS.includes(name)) {
      const near = SEARCH_PARAMETERS.find((known) => countEdits(name, known) <= 2);
      const meant = near === undefined ? '' : ` Did you mean ${near}?`;
      throw new TypeError(`${name} is not a parameter of search.${meant}`);
    }
    const values = Array.isArray(value) ? value : [value];
    if (values.every((one) => String(one ?? '').trim() === '')) throw new TypeError(`${name} is blank: leave it out.`);
  }
}

/** What ended a walk early, and a later call goes on after. */
const PASSING: ReadonlySet<string> = new Set(['NETWORK_ERROR', 'UNREADABLE', 'SERVICE_UNAVAILABLE', 'INTERNAL_ERROR']);

/**
 * Every match of a search, each once: `walk({ client, query: { city: 'NYC' } })`. After a cut it goes on where it was, and
 * pays only for what is new. A refusal, such as when the credits are used up, is a RollcallError; its `body.next` is the
 * cursor to go on from.
 */
export async function* walk({
  client,
  query = {},
  maxCredits,
  retries = 5,
  onLeft,
}: WalkOptions): AsyncGenerator<DirectoryCreator> {
  assertFilters(query);
  // The same name for each attempt: an attempt that broke before its first line is not paid twice.
  const requestId = crypto.randomUUID();
  let cursor: string | undefined;
  /** Those that come again if the walk goes on from the cursor. */
  const seen = new Set<number>();
  let count = 0;
  for (let attempt = 0; attempt <= retries; attempt += 1) {
    if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, drawPause(attempt)));
    const limits =
      maxCredits === undefined ? {} : { max_credits: Math.max(0, maxCredits - 10 * Math.ceil(count / 100)) };
    const { data, error, response } = await client.get<unknown, unknown>({
      security: [{ scheme: 'bearer', type: 'http' }],
      url: '/v1/creators/search',
      query: { ...query, ...limits, walk: 'true', ...(cursor === undefined ? {} : { cursor }) },
      headers: { accept: 'application/x-ndjson', 'x-request-id': requestId },
      parseAs: 'stream',
    });
    if (!(data instanceof ReadableStream)) {
      const failure = toRollcallError(error, response?.status, requestId);
      if (!PASSING.has(failure.code)) throw failure;
      continue;
    }
    let isFirst = true;
    for await (const line of linesOf(data)) {
      if ('pk' in line) {
        if (seen.has(line.pk)) continue;
        seen.add(line.pk);
        count += 1;
        attempt = 0;
        yield line;
      } else if ('cursor' in line) {
        // The first line is where this attempt began.
        if (!isFirst) seen.clear();
        isFirst = false;
        cursor = line.cursor;
      } else if ('left' in line) {
        onLeft?.(line.left);
      } else {
        const { complete, next, reason } = line.walk;
        if (complete) return;
        if (reason && !PASSING.has(reason.code)) {
          const body = { ...reason, next, request_id: requestId };
          throw new RollcallError(reason.code, reason.error, { status: 200, body });
        }
        cursor = next ?? cursor;
      }
    }
  }
  const message = 'The walk broke again and again without reading anything new.';
  throw new RollcallError('NETWORK_ERROR', message, { request_id: requestId });
}
