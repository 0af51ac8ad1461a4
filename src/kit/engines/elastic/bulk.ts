import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { type ApiError, unavailable } from '../../values/errors.ts';
import { isUnavailable } from './nodes.ts';
import type { Elastic } from './open.ts';

export interface BulkOptions {
  /** The batch is given up after Elasticsearch has rejected it or been unreachable for this long. */
  patienceMs?: number;
  /** Receives the last row up to which every batch is acknowledged. */
  onAcknowledged?: (row: number) => void;
  onRetry?: (reason: string) => void;
}

export interface BulkStream {
  /** Appends to the current body: an action line and, for `index`, a second line with the document. */
  add(lines: string): void;
  /** True if the body is large enough to be sent. */
  isFull(): boolean;
  /** Sends the body, whose last row is this one. Resolves when the next body can be started; rejects if any body failed. */
  send(lastRow: number): Promise<void>;
  /** Resolves when everything sent is acknowledged. */
  drain(): Promise<void>;
}

// Between 1,000 and 10,000 documents in a body, runs of `npm run bench -- directory` do not agree on a fastest size; 8 bodies in flight beat 4, and
// small bodies take the least memory.
const BODY_DOCUMENTS = 2_500;
const BODY_BYTES = 2 << 20;
const IN_FLIGHT = 8;
/** Room for the document that fills a body; the longest document is a tenth of this. */
const LAST_DOCUMENT_BYTES = 1 << 20;
const PATIENCE_MS = 120_000;
const LONGEST_PAUSE_MS = 5_000;

const Answer = z.object({
  errors: z.boolean(),
  items: z
    .array(z.record(z.string(), z.object({ error: z.object({ type: z.string(), reason: z.string().nullish() }) })))
    .default([]),
});

/** The stored document has a newer external version. */
const STALE = 'version_conflict_engine_exception';
const OVERLOADED = new Set([
  'es_rejected_execution_exception',
  'circuit_breaking_exception',
  'unavailable_shards_exception',
]);

function assertTaken(bytes: Buffer): void {
  if (bytes.toString('latin1', 0, 15) === '{"errors":false') return;
  const { items } = Answer.parse(JSON.parse(bytes.toString('utf8')));
  const itemErrors = items.flatMap((item) => Object.values(item).map(({ error }) => error));
  const errors = itemErrors.filter(({ type }) => type !== STALE);
  const refusal = errors.find(({ type }) => !OVERLOADED.has(type));
  if (refusal) throw new Error(`Elasticsearch refused a document: ${refusal.type}: ${refusal.reason ?? ''}`);
  if (errors[0]) throw unavailable('Elasticsearch', new Error(`${errors[0].type}: ${errors[0].reason ?? ''}`));
}

function toReason(error: ApiError): string {
  return error.cause instanceof Error ? error.cause.message : error.message;
}

/** A busy or merging node is slow; giving up early would only send the same body again. */
const LONGEST_BULK_MS = 60_000;
/** A bulk waits this long for a shard whose node is away, before it is refused and sent again. */
const LOST_SHARD_SECONDS = 5;

/**
 * Posts one body until Elasticsearch has accepted all of it. A body may arrive twice, so its documents have ids and
 * external versions. A document older than the stored one is skipped without an error.
 */
export async function postBulk(
  elastic: Elastic,
  index: string,
  body: string | Buffer,
  options: BulkOptions = {},
): Promise<void> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const { patienceMs = PATIENCE_MS, onRetry } = options;
  const giveUpAt = performance.now() + patienceMs;
  for (let attempt = 0; ; attempt += 1) {
    try {
      assertTaken(
        await elastic.post(`/${index}/_bulk?timeout=${LOST_SHARD_SECONDS}s&filter_path=errors,items.*.error`, bytes, {
          contentType: 'application/x-ndjson',
          timeoutMs: LONGEST_BULK_MS,
          isWrite: true,
        }),
      );
      return;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      const pauseMs = Math.min(200 * 2 ** attempt, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
      if (performance.now() + pauseMs > giveUpAt) {
        const seconds = Math.round(patienceMs / 1000);
        throw new Error(`Elasticsearch did not accept a batch for ${seconds} s: ${toReason(error)}`, { cause: error });
      }
      onRetry?.(toReason(error));
      await pause(pauseMs);
    }
  }
}

/** Sends bodies to `_bulk`, a limited number at a time, so that the reader waits for the writer. Buffers are reused. */
export function openBulk(elastic: Elastic, index: string, options: BulkOptions = {}): BulkStream {
  const running = new Set<Promise<void>>();
  const pendingBatches: Array<{ lastRow: number; isTaken: boolean }> = [];
  const free: Buffer<ArrayBuffer>[] = [];
  let failure: { error: unknown } | undefined;
  let body = Buffer.allocUnsafe(BODY_BYTES + LAST_DOCUMENT_BYTES);
  let bytes = 0;
  let documents = 0;

  function acknowledge(): void {
    let row: number | undefined;
    while (pendingBatches[0]?.isTaken) row = pendingBatches.shift()?.lastRow;
    if (row !== undefined) options.onAcknowledged?.(row);
  }

  async function post(buffer: Buffer<ArrayBuffer>, length: number, lastRow: number): Promise<void> {
    const entry = { lastRow, isTaken: false };
    pendingBatches.push(entry);
    try {
      await postBulk(elastic, index, buffer.subarray(0, length), options);
      entry.isTaken = true;
      free.push(buffer);
      acknowledge();
    } catch (error) {
      failure ??= { error };
    }
  }

  function assertWell(): void {
    if (failure) throw failure.error;
  }

  return {
    add: (lines) => {
      if (lines.length * 3 > body.length - bytes) throw new Error('A document is too large for a body.');
      bytes += body.write(lines, bytes);
      documents += 1;
    },
    isFull: () => documents >= BODY_DOCUMENTS || bytes >= BODY_BYTES,
    send: async (lastRow) => {
      assertWell();
      if (documents === 0) return;
      const posting: Promise<void> = post(body, bytes, lastRow).finally(() => running.delete(posting));
      running.add(posting);
      bytes = 0;
      documents = 0;
      while (running.size >= IN_FLIGHT) await Promise.race(running);
      body = free.pop() ?? Buffer.allocUnsafe(BODY_BYTES + LAST_DOCUMENT_BYTES);
      assertWell();
    },
    drain: async () => {
      await Promise.all(running);
      assertWell();
    },
  };
}
