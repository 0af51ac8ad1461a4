import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';

/** One request, parsed as far as possible without the engine. */
export interface Call {
  queryId: string;
  /** The statement, or its beginning if the body continues it. */
  query: string;
  body: Readable;
  database: string | undefined;
  /** Settings and query parameters (`param_…`) for this request only. */
  settings: [name: string, value: string][];
  defaultFormat: string;
  wantsGzip: boolean;
  /** For an insert whose rows are in the body: the same statement, reading them from a file. */
  insertFrom: ((file: string) => string) | undefined;
}

/** Parameters of the interface itself; all others are settings. */
const RESERVED = new Set(
  `query database query_id session_id session_timeout session_check default_format user password role compress decompress
  quota_key stacktrace wait_end_of_query buffer_size send_progress_in_http_headers enable_http_compression
  http_headers_progress_interval_ms http_zlib_compression_level http_response_buffer_size
  cancel_http_readonly_queries_on_client_close add_http_cors_header`.split(/\s+/),
);

const INSERT = /^(\s*insert\s+into\s+(?:table\s+)?[\w.`"]+\s*(?:\([^)]*\)\s*)?)((?:settings\s[^;]*)?format\s+\w+\s*)$/i;

const READ = /^\s*(?:--[^\n]*\n\s*|\/\*[\s\S]*?\*\/\s*)*(?:select|with|show|describe|desc|exists|explain)\b/i;
const FORMAT_CLAUSE = /\bformat\s+(\w+)\s*;?\s*$/i;
const STREAMED_READS = new Set([
  'JSONEachRow',
  'JSONStringsEachRow',
  'JSONCompactEachRow',
  'TabSeparated',
  'TSV',
  'CSV',
]);

const IDENTIFIER = /^[A-Za-z_]\w*$/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;

function decoded(request: IncomingMessage): Readable {
  const encoding = request.headers['content-encoding'];
  if (encoding !== 'gzip' && encoding !== 'zstd') return request;
  const decoder = encoding === 'gzip' ? createGunzip() : createZstdDecompress();
  request.on('error', (error) => decoder.destroy(error));
  return request.pipe(decoder);
}

function insertFrom(query: string): Call['insertFrom'] {
  const [, into, how] = INSERT.exec(query) ?? [];
  return into === undefined ? undefined : (file) => `${into} FROM INFILE ${quoted(file)} ${how}`;
}

export function readCall(request: IncomingMessage): Call {
  const parameters = new URL(request.url ?? '/', 'http://localhost').searchParams;
  const query = parameters.get('query') ?? '';
  const databaseHeader = request.headers['x-clickhouse-database'];
  return {
    queryId: parameters.get('query_id') ?? randomUUID(),
    query,
    body: decoded(request),
    database: parameters.get('database') ?? (typeof databaseHeader === 'string' ? databaseHeader : undefined),
    settings: [...parameters].filter(([name]) => !RESERVED.has(name)),
    defaultFormat: parameters.get('default_format') ?? 'TabSeparated',
    wantsGzip:
      parameters.get('enable_http_compression') === '1' &&
      String(request.headers['accept-encoding'] ?? '').includes('gzip'),
    insertFrom: insertFrom(query),
  };
}

function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function assignment([name, value]: [string, string]): string {
  if (!IDENTIFIER.test(name)) throw new Error('Code: 115. DB::Exception: Bad name of a setting. (UNKNOWN_SETTING)');
  const isPlainNumber = NUMBER.test(value) && !name.startsWith('param_');
  return `${name} = ${isPlainNumber ? value : quoted(value)}`;
}

/** The `SET` statement with this request's settings and parameters; undefined if there are none. */
export function settingsStatement(call: Call): string | undefined {
  return call.settings.length > 0 ? `SET ${call.settings.map(assignment).join(', ')}` : undefined;
}

export interface Statement {
  sql: string;
  format: string;
}

export async function readStatement(call: Call): Promise<Statement> {
  const chunks: Buffer[] = [];
  for await (const chunk of call.body) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString('utf8');
  const sql = call.query && body ? `${call.query}\n${body}` : call.query || body;
  const format = FORMAT_CLAUSE.exec(sql)?.[1];
  if (!READ.test(sql)) return { sql, format: format ?? call.defaultFormat };
  return { sql: sql.replace(FORMAT_CLAUSE, ''), format: format ?? call.defaultFormat };
}

export function isStreamedRead({ sql, format }: Statement): boolean {
  return READ.test(sql) && STREAMED_READS.has(format);
}
