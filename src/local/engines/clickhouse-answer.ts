import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { createGzip, gzipSync } from 'node:zlib';
import type { ChdbQueryStream, ChdbResult } from 'chdb';
import { ignoreFailure } from '../../kit/values/errors.ts';
import type { Call } from './clickhouse-call.ts';

/** ClickHouse's error codes for mistakes of the caller, with the status that its own server answers. */
const STATUSES = new Map([
  ...[46, 47, 60, 81].map((code) => [code, 404] as const),
  ...[6, 26, 27, 36, 42, 43, 53, 62, 70, 115].map((code) => [code, 400] as const),
]);

const UNKNOWN_EXCEPTION = 1002;

interface Counts {
  rowsRead?: number;
  bytesRead?: number;
  rowsWritten?: number;
  bytesWritten?: number;
  elapsed: number;
}

function summary(counts: Counts): string {
  return JSON.stringify({
    read_rows: String(counts.rowsRead ?? 0),
    read_bytes: String(counts.bytesRead ?? 0),
    written_rows: String(counts.rowsWritten ?? 0),
    written_bytes: String(counts.bytesWritten ?? 0),
    total_rows_to_read: '0',
    result_rows: '0',
    result_bytes: '0',
    elapsed_ns: String(Math.round(counts.elapsed * 1e9)),
  });
}

function headers(call: Call): Record<string, string> {
  return { 'x-clickhouse-query-id': call.queryId, 'x-clickhouse-timezone': 'UTC' };
}

function resultHeaders(call: Call, format: string): Record<string, string> {
  return {
    ...headers(call),
    'x-clickhouse-format': format,
    'content-type': /json/i.test(format) ? 'application/json; charset=UTF-8' : 'text/plain; charset=UTF-8',
    ...(call.wantsGzip ? { 'content-encoding': 'gzip' } : {}),
  };
}

export function sendResult(call: Call, response: ServerResponse, format: string, result: ChdbResult): void {
  const bytes = Buffer.from(result.bytes());
  response
    .writeHead(200, { ...resultHeaders(call, format), 'x-clickhouse-summary': summary(result) })
    .end(call.wantsGzip ? gzipSync(bytes, { level: 1 }) : bytes);
}

function compressedInto(response: ServerResponse): Writable {
  const gzip = createGzip({ level: 1 });
  gzip.pipe(response);
  return gzip;
}

/** Streams rows as they are found, at the reader's pace. The first rows decide between an error and a 200. */
export async function sendRows(
  call: Call,
  response: ServerResponse,
  format: string,
  rows: ChdbQueryStream,
): Promise<void> {
  const chunks = rows[Symbol.asyncIterator]();
  let next = await chunks.next();
  const disconnect = new AbortController();
  response.once('close', () => disconnect.abort());
  response.writeHead(200, resultHeaders(call, format));
  const output = call.wantsGzip ? compressedInto(response) : response;
  while (!next.done && !disconnect.signal.aborted) {
    if (!output.write(next.value.raw())) {
      await once(output, 'drain', { signal: disconnect.signal }).catch(
        ignoreFailure('the loop ends when the caller has gone'),
      );
    }
    next = await chunks.next();
  }
  if (disconnect.signal.aborted) rows.cancel();
  output.end();
}

/** The engine's message, anywhere in the chain of causes. */
function engineMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const own = /Code: \d+[\s\S]*/.exec(message)?.[0];
  if (own) return own.trim();
  if (error instanceof Error && error.cause !== undefined) return engineMessage(error.cause);
  return `Code: ${UNKNOWN_EXCEPTION}. DB::Exception: ${message} (UNKNOWN_EXCEPTION)`;
}

export function sendFailure(response: ServerResponse, error: unknown): void {
  const message = engineMessage(error);
  if (response.headersSent) {
    // After the first rows, a broken connection is the only way to report that rows are missing.
    response.destroy();
    return;
  }
  const code = Number(/Code: (\d+)/.exec(message)?.[1] ?? UNKNOWN_EXCEPTION);
  response
    .writeHead(STATUSES.get(code) ?? 500, {
      'content-type': 'text/plain; charset=UTF-8',
      'x-clickhouse-exception-code': String(code),
    })
    .end(`${message}\n`);
}
