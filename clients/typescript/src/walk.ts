import type { Client } from './generated/client/index.js';
import type { DirectoryCreator, ErrorCode, SearchCreatorsData } from './generated/types.gen.js';
import { RollcallError } from './rollcall.js';

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
}

interface Ending {
  complete: boolean;
  next: string | null;
  reason?: { code: ErrorCode; error: string };
}

type Line = DirectoryCreator | { cursor: string } | { walk: Ending };

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

const isRefusal = (error: unknown): error is { error: string; code: ErrorCode } =>
  typeof error === 'object' && error !== null && 'code' in error && 'error' in error;

/** What ended a walk early, and a later call goes on after. */
const PASSING: ReadonlySet<string> = new Set(['SERVICE_UNAVAILABLE', 'INTERNAL_ERROR']);

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
}: WalkOptions): AsyncGenerator<DirectoryCreator> {
  // The same name for each attempt: an attempt that broke before its first line is not paid twice.
  const requestId = crypto.randomUUID();
  let cursor: string | undefined;
  /** Those that come again if the walk goes on from the cursor. */
  const seen = new Set<number>();
  let count = 0;
  for (let attempt = 0; attempt <= retries; attempt += 1) {
    if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** attempt));
    const limits =
      maxCredits === undefined ? {} : { max_credits: Math.max(0, maxCredits - 10 * Math.ceil(count / 100)) };
    const { data, error, response } = await client.get<unknown, unknown>({
      security: [{ scheme: 'bearer', type: 'http' }],
      url: '/v1/creators/search',
      query: { ...query, ...limits, walk: 'true', ...(cursor === undefined ? {} : { cursor }) },
      headers: { accept: 'application/x-ndjson', 'x-request-id': requestId },
      parseAs: 'stream',
    });
    if (isRefusal(error)) throw new RollcallError(error, response?.status ?? 0);
    if (!(data instanceof ReadableStream)) continue;
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
      } else {
        const { complete, next, reason } = line.walk;
        if (complete) return;
        if (reason && !PASSING.has(reason.code)) throw new RollcallError({ ...reason, ...{ next } }, 200);
        cursor = next ?? cursor;
      }
    }
  }
  throw new Error('The walk broke again and again without reading anything new.');
}
