import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { ApiError, unavailable } from '../../errors.ts';
import type { Elastic } from './open.ts';

/** One body of `_bulk`: a line that says what to do, and with `index` a second one, the document. */
export interface BulkBatch {
  body: string;
  /** The last row that the body covers; batches are sent in the order of their rows. */
  lastRow: number;
}

export interface BulkOptions {
  inFlight?: number;
  /** How long Elasticsearch may refuse or be away before a batch is given up. */
  patienceMs?: number;
  /** Is told the last row of the acknowledged batches that have no gap before them. */
  onAcknowledged?: (row: number) => void;
  onRetry?: (reason: string) => void;
}

export interface BulkStream {
  /** Resolves when there is room for the next batch; rejects when a batch has failed for good. */
  send(batch: BulkBatch): Promise<void>;
  /** Resolves when everything sent is acknowledged. */
  drain(): Promise<void>;
}

const PATIENCE_MS = 120_000;
const LONGEST_PAUSE_MS = 5_000;

const Answer = z.object({
  errors: z.boolean(),
  items: z
    .array(z.record(z.string(), z.object({ error: z.object({ type: z.string(), reason: z.string().nullish() }) })))
    .default([]),
});

/** An older version of a document that is already there: what external versions are for. */
const STALE = 'version_conflict_engine_exception';
const OVERLOADED = new Set([
  'es_rejected_execution_exception',
  'circuit_breaking_exception',
  'unavailable_shards_exception',
]);

function assertTaken(bytes: Buffer): void {
  if (bytes.toString('latin1', 0, 15) === '{"errors":false') return;
  const { items } = Answer.parse(JSON.parse(bytes.toString('utf8')));
  const failed = items.flatMap((item) => Object.values(item).map(({ error }) => error));
  const errors = failed.filter(({ type }) => type !== STALE);
  const refused = errors.find(({ type }) => !OVERLOADED.has(type));
  if (refused) throw new Error(`Elasticsearch refused a document: ${refused.type}: ${refused.reason ?? ''}`);
  if (errors[0]) throw unavailable('Elasticsearch', new Error(`${errors[0].type}: ${errors[0].reason ?? ''}`));
}

function reasonOf(error: ApiError): string {
  return error.cause instanceof Error ? error.cause.message : error.message;
}

/**
 * Posts one body until Elasticsearch has taken all of it. A body may arrive twice, so its documents carry ids and
 * external versions; a document with an older version than the one stored is left out, and that is no error.
 */
export async function postBulk(
  elastic: Elastic,
  index: string,
  body: string,
  options: BulkOptions = {},
): Promise<void> {
  const bytes = Buffer.from(body);
  const { patienceMs = PATIENCE_MS, onRetry } = options;
  const giveUpAt = performance.now() + patienceMs;
  for (let attempt = 0; ; attempt += 1) {
    try {
      assertTaken(
        await elastic.post(`/${index}/_bulk?filter_path=errors,items.*.error`, bytes, 'application/x-ndjson'),
      );
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
      const pauseMs = Math.min(200 * 2 ** attempt, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
      if (performance.now() + pauseMs > giveUpAt) {
        const seconds = Math.round(patienceMs / 1000);
        throw new Error(`Elasticsearch did not take a batch for ${seconds} s: ${reasonOf(error)}`, { cause: error });
      }
      onRetry?.(reasonOf(error));
      await pause(pauseMs);
    }
  }
}

/** Several bodies in flight at once, no more: the reader waits for the writer. */
export function openBulk(elastic: Elastic, index: string, options: BulkOptions = {}): BulkStream {
  const inFlight = options.inFlight ?? 4;
  const running = new Set<Promise<void>>();
  const unacknowledged: Array<{ lastRow: number; isTaken: boolean }> = [];
  let failure: { error: unknown } | undefined;

  function acknowledge(): void {
    let row: number | undefined;
    while (unacknowledged[0]?.isTaken) row = unacknowledged.shift()?.lastRow;
    if (row !== undefined) options.onAcknowledged?.(row);
  }

  async function post(batch: BulkBatch): Promise<void> {
    const entry = { lastRow: batch.lastRow, isTaken: false };
    unacknowledged.push(entry);
    try {
      await postBulk(elastic, index, batch.body, options);
      entry.isTaken = true;
      acknowledge();
    } catch (error) {
      failure ??= { error };
    }
  }

  function assertWell(): void {
    if (failure) throw failure.error;
  }

  return {
    send: async (batch) => {
      assertWell();
      const posted: Promise<void> = post(batch).finally(() => running.delete(posted));
      running.add(posted);
      while (running.size >= inFlight) await Promise.race(running);
      assertWell();
    },
    drain: async () => {
      await Promise.all(running);
      assertWell();
    },
  };
}
