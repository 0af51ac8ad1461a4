import { createHash } from 'node:crypto';
import { getRateLimit } from '../../kit/access/credits/meter.ts';
import type { Caller } from '../../kit/access/keys/callers.ts';
import { insertOnce } from '../../kit/engines/clickhouse/insert.ts';
import { ensureMigrated } from '../../kit/engines/clickhouse/migrate.ts';
import { tsvText, tsvTime } from '../../kit/engines/clickhouse/tsv.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { SearchOutcome, SearchRecord } from '../../kit/operation/operation.ts';
import { type ErrorCode, ignoreFailure } from '../../kit/values/errors.ts';
import { keyedHash } from '../../kit/values/secrets.ts';
import { within } from '../../kit/values/within.ts';

/** A call that is under way. */
export interface OpenCall {
  /** Empty if there is no such operation. */
  operation: string;
  requestId: string;
  at: Date;
  startedAtMs: number;
  /** Undefined until the caller is identified. */
  caller: Caller | undefined;
  /** Its number in the rate window of its key. */
  count: number;
  credits: number;
  outcome: SearchOutcome;
}

/** Writes what keys did to ClickHouse. No call waits for it, and calls are dropped while ClickHouse is down. */
export interface CallRecord {
  begin(operation: string, requestId: string): OpenCall;
  end(call: OpenCall, status: number, code?: ErrorCode): void;
  /** The number of calls that this process dropped. */
  dropped(): number;
  close(): Promise<void>;
}

declare module '../../kit/operation/context.ts' {
  interface Context {
    calls: CallRecord;
  }
}

interface CallRow extends Omit<OpenCall, 'startedAtMs' | 'caller' | 'count'> {
  caller: Caller;
  status: number;
  code: ErrorCode | undefined;
  micros: number;
}

const TABLE = 'requests_v1';
const COLUMNS = [
  ...['brand_id', 'at', 'key_id', 'request_id', 'operation', 'status', 'code', 'credits', 'micros', 'results'],
  ...['search', 'filters', 'fingerprint'],
];

const SEND_EVERY_MS = 2_000;
const BATCH_SIZE = 10_000;
/** Bounds the buffer to about 10 MB; calls beyond it are dropped. */
const MAX_WAITING = 20_000;
const CLOSE_WITHIN_MS = 2_000;
/** Caps the recorded calls over a rate limit at the limit itself, so that a flood does not fill the disk. */
const REFUSED_SHARE = 2;

type CallRecordEngines = Pick<Context, 'clickhouse' | 'clock' | 'secrets' | 'failures'>;

export function openCallRecord({ clickhouse, clock, secrets, failures }: CallRecordEngines): CallRecord {
  let waiting: CallRow[] = [];
  let droppedCalls = 0;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  /** The batch that is sent until ClickHouse has it, always with the same token. */
  let batch: { rows: number; text: string; token: string } | undefined;
  const digests = new WeakMap<SearchRecord, string>();

  function digestSearch(record: SearchRecord): string {
    const cached = digests.get(record);
    if (cached !== undefined) return cached;
    const digest = keyedHash(secrets.key('requests'), record.text).toString('hex', 0, 8);
    digests.set(record, digest);
    return digest;
  }

  function toTsvLine({ caller, at, requestId, operation, status, code, credits, micros, outcome }: CallRow): string {
    const { results, record } = outcome;
    const filters = record?.filters.map((name) => `'${name}'`).join(',') ?? '';
    const search = `${record?.kind ?? ''}\t[${filters}]\t${record ? digestSearch(record) : ''}`;
    const call = `${status}\t${code ?? ''}\t${credits}\t${micros}\t${results ?? '\\N'}`;
    return `${caller.brandId}\t${tsvTime(at)}\t${caller.keyId}\t${tsvText(requestId)}\t${operation}\t${call}\t${search}\n`;
  }

  function nextBatch(): typeof batch {
    if (waiting.length === 0) return undefined;
    const rows = waiting.slice(0, BATCH_SIZE);
    waiting = waiting.slice(BATCH_SIZE);
    const text = rows.map(toTsvLine).join('');
    return { rows: rows.length, text, token: createHash('sha256').update(text).digest('hex') };
  }

  /** Calls that end meanwhile wait for the next time, unless they fill a batch: sent at once, they were ten small parts a second. */
  async function sendAll(): Promise<void> {
    do {
      batch ??= nextBatch();
      if (!batch) return;
      await ensureMigrated(clickhouse);
      // Without a quorum: a replica that is lost may take these rows with it.
      await insertOnce({ ...clickhouse, cluster: undefined }, TABLE, COLUMNS, batch.text, batch.token);
      batch = undefined;
    } while (waiting.length >= BATCH_SIZE);
  }

  let sending: Promise<void> | undefined;
  function sendOnce(): Promise<void> {
    sending ??= sendAll()
      .then(() => failures.succeeded('recording calls'))
      .catch((error: unknown) => failures.failed('recording calls', error))
      .finally(() => {
        sending = undefined;
      });
    return sending;
  }

  /** No timer runs in a process without calls. */
  function sendSoon(): void {
    timer ??= setTimeout(() => {
      void sendOnce().then(() => {
        timer = undefined;
        if ((batch || waiting.length > 0) && !isClosed) sendSoon();
      });
    }, SEND_EVERY_MS).unref();
  }

  return {
    begin: (operation, requestId) => ({
      operation,
      requestId,
      at: clock.now(),
      startedAtMs: performance.now(),
      caller: undefined,
      count: 0,
      credits: 0,
      outcome: {},
    }),
    end: (call, status, code) => {
      const { caller } = call;
      if (!caller || caller.kind === 'session' || isClosed) return;
      if (status === 429 && call.count > REFUSED_SHARE * getRateLimit(caller)) return;
      if (waiting.length >= MAX_WAITING) {
        droppedCalls += 1;
        return;
      }
      const { operation, requestId, at, credits, startedAtMs, outcome } = call;
      const micros = Math.max(0, Math.round((performance.now() - startedAtMs) * 1_000));
      waiting.push({ operation, requestId, at, credits, outcome: { ...outcome }, caller, status, code, micros });
      sendSoon();
    },
    dropped: () => droppedCalls,
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await within(CLOSE_WITHIN_MS, sendOnce().then(sendOnce)).catch(ignoreFailure('these calls are not recorded'));
    },
  };
}
