/**
 * The part of ClickHouse's HTTP interface that the official client uses, on top of chDB. It is a separate process,
 * because a data folder can only be opened by one process: `node clickhouse-http.ts <data folder> <port>`, run in that
 * folder.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream, mkdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { drainPending, Session } from 'chdb';
import { sendFailure, sendResult, sendRows } from './clickhouse-answer.ts';
import { type Call, isStreamedRead, readCall, readStatement, settingsStatement } from './clickhouse-call.ts';
import { closeIdleSession } from './clickhouse-session.ts';

const MEGABYTE = 1024 * 1024;

const ENGINE_SETTINGS = [
  '--async_load_databases=0',
  `--mark_cache_size=${64 * MEGABYTE}`,
  '--uncompressed_cache_size=0',
  `--max_server_memory_usage=${2048 * MEGABYTE}`,
  // After each four parts that a mutation has done it sleeps for up to a second, by itself: 60 parts took 9 s, now 0.2 s.
  '--background_processing_pool_thread_sleep_seconds_if_nothing_to_do=0.01',
  '--background_processing_pool_task_sleep_seconds_when_no_work_random_part=0',
];

/**
 * Relative to this process's folder, because the engine would read some characters of an absolute path as a pattern.
 */
const BODIES = 'bodies';

const STOP_WITHIN_MS = 8_000;

/**
 * The rows go through a file: an insert with its rows in the statement takes half as long again, because the engine
 * scans the whole text first.
 */
async function insertBody(
  session: Session,
  call: Call,
  statementFrom: (file: string) => string,
  response: ServerResponse,
): Promise<void> {
  const format = call.defaultFormat;
  const file = `${BODIES}/${randomUUID()}`;
  try {
    await pipeline(call.body, createWriteStream(file));
    sendResult(call, response, format, await session.queryAsync(statementFrom(file), { format }));
  } finally {
    await rm(file, { force: true });
  }
}

async function run(session: Session, call: Call, response: ServerResponse): Promise<void> {
  const settings = settingsStatement(call);
  if (settings) await session.queryAsync(settings);
  if (call.database) await session.queryAsync(`USE \`${call.database.replaceAll('`', '')}\``);
  if (call.insertFrom) {
    await insertBody(session, call, call.insertFrom, response);
    return;
  }
  const statement = await readStatement(call);
  if (isStreamedRead(statement)) {
    await sendRows(call, response, statement.format, session.queryStream(statement.sql, { format: statement.format }));
  } else {
    const result = await session.queryAsync(statement.sql, { format: statement.format });
    sendResult(call, response, statement.format, result);
  }
}

async function answer(folder: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/ping') {
    response.end('Ok.\n');
    return;
  }
  let session: Session | undefined;
  try {
    const call = readCall(request);
    // One session per request (1 ms): its settings, parameters and temporary tables end with it.
    session = new Session(folder);
    await run(session, call, response);
  } catch (error) {
    sendFailure(response, error);
  } finally {
    if (session) closeIdleSession(session);
  }
}

function serve(folder: string, port: number): void {
  rmSync(BODIES, { recursive: true, force: true });
  mkdirSync(BODIES);
  const root = new Session(folder, { connectionArgs: ENGINE_SETTINGS });
  const server = createServer((request, response) => void answer(folder, request, response));
  server.keepAliveTimeout = 10_000;
  server.listen(port, '127.0.0.1');

  let isStopping = false;
  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    server.close();
    server.closeIdleConnections();
    await drainPending();
    root.close();
    await drainPending();
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // The channel to the process that started this one. When it closes, the engine is no longer needed.
  process.on('disconnect', stop);
}

const [folder, port] = process.argv.slice(2);
if (!folder || !port) throw new Error('Usage: node clickhouse-http.ts <data folder> <port>');
serve(folder, Number(port));
