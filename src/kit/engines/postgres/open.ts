import {
  CamelCasePlugin,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresDialect,
  type PostgresPool,
  sql,
} from 'kysely';
import pg from 'pg';
import { ApiError, unavailable } from '../../values/errors.ts';
import { openPlaces, type Places } from '../../values/places.ts';
import { isTracing, span } from '../../values/tracing.ts';
import type { Database } from './database.ts';
import { isStandby, openHosts } from './hosts.ts';
import { forgetPrepared } from './prepared.ts';
import { hasCaughtUp } from './replica.ts';
import { openSemaphore, type Semaphore } from './semaphore.ts';
import { openSessions } from './session.ts';
import { tryWrite } from './try-write.ts';

export type Db = Kysely<Database>;

/** Connections for exports, which last as long as their reader takes, and the semaphore that limits them. */
export interface Exports {
  /** On a replica, if there is one that has everything committed so far; otherwise on the primary. */
  current(): Promise<Db>;
  semaphore: Semaphore;
}

export interface Postgres {
  db: Db;
  /** Transactions of a brand's changes: at most half of the connections, so that some are left to other brands. */
  changes: Places;
  exports: Exports;
  /** For reads that decide nothing, such as metrics and `ledger verify`: a replica, if there is one. It may lag. */
  reads: Db;
  /** Resolves when Postgres answers within a second. */
  ping(): Promise<void>;
  /** Resolves when Postgres accepts writes. */
  tryWrite(): Promise<void>;
  close(): Promise<void>;
}

const INT8 = 20;
const NUMERIC = 1700;
const DATE = 1082;

/** 64-bit counts as numbers: a value past 2^53 is an error, never a rounded number. */
function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`The integer ${text} is too large for JavaScript to hold exactly.`);
  return value;
}

const types = new pg.TypeOverrides();
types.setTypeParser(INT8, safeInteger);
types.setTypeParser(NUMERIC, safeInteger);
// A day without a time has no zone: it stays `YYYY-MM-DD`.
types.setTypeParser(DATE, (text) => text);

/**
 * Includes statement timeouts, because the driver's timeout and the server's race, and a primary that became a standby.
 */
const CONNECTION_LOST = /^(08|57P0|57014|53|25006)/;
const NETWORK_ERROR = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH)$/;
const DRIVER_LOST =
  /terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|query_wait_timeout|not queryable/i;

/** A deadlock or a serialization failure. */
const ENDED_FOR_OTHERS = /^(40P01|40001)$/;

const getCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** A newer process has changed the columns that a prepared statement returns. */
const isOutdated = (error: unknown): boolean =>
  error instanceof Error && 'routine' in error && error.routine === 'RevalidateCachedQuery';

function isUnreachable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnreachable);
  if (!(error instanceof Error)) return false;
  const code = getCode(error);
  if (isStandby(error)) return true;
  return CONNECTION_LOST.test(code) || NETWORK_ERROR.test(code) || DRIVER_LOST.test(error.message);
}

/** True if PostgreSQL ended a transaction in favour of others, so that a retry may succeed. */
export const isEndedForOthers = (thrown: unknown): boolean =>
  thrown instanceof ApiError && (ENDED_FOR_OTHERS.test(getCode(thrown.cause)) || isOutdated(thrown.cause));

function translate(error: unknown): never {
  if (error instanceof ApiError) throw error;
  if (isOutdated(error)) forgetPrepared();
  else if (!isUnreachable(error) && !ENDED_FOR_OTHERS.test(getCode(error))) throw error;
  throw unavailable('PostgreSQL', error);
}

const LONGEST_STATEMENT = 2_000;

/** A statement as a span: its text, which has no values. */
function trace<R>(text: string, run: () => Promise<R>): Promise<R> {
  if (!isTracing()) return run();
  const name = /\w+/.exec(text)?.[0] ?? 'statement';
  const attributes = { 'db.system.name': 'postgresql', 'db.query.text': text.slice(0, LONGEST_STATEMENT) };
  return span(name, { kind: 'client', attributes }, run);
}

/**
 * Translates a lost connection, or a transaction that was ended in favour of others, to SERVICE_UNAVAILABLE for every
 * statement and transaction.
 */
function guardDriver(driver: Driver): Driver {
  const inner = new WeakMap<DatabaseConnection, DatabaseConnection>();
  const unwrap = (connection: DatabaseConnection) => inner.get(connection) ?? connection;
  const acquire = driver.acquireConnection.bind(driver);
  const release = driver.releaseConnection.bind(driver);
  const rollback = driver.rollbackTransaction.bind(driver);
  driver.acquireConnection = async (options) => {
    const connection = await acquire(options).catch(translate);
    const guardedConnection: DatabaseConnection = {
      executeQuery: <R>(query: CompiledQuery) =>
        trace(query.sql, () => connection.executeQuery<R>(query)).catch(translate),
      streamQuery: (...query) => connection.streamQuery(...query),
    };
    inner.set(guardedConnection, connection);
    return guardedConnection;
  };
  driver.releaseConnection = (connection) => release(unwrap(connection));
  driver.rollbackTransaction = (connection) => rollback(unwrap(connection)).catch(translate);
  return driver;
}

function guardedDialect(pool: PostgresPool): Dialect {
  const dialect = new PostgresDialect({ pool });
  const createDriver = dialect.createDriver.bind(dialect);
  dialect.createDriver = () => guardDriver(createDriver());
  return dialect;
}

interface DbOptions {
  max: number;
  onError: ((error: Error) => void) | undefined;
  idleInTransactionMs?: number;
  /** True if statements of transactions are prepared. */
  prepares?: boolean;
  /** True if any of several hosts will do, not only the primary. */
  anyHost?: boolean;
  waitMs: number | undefined;
}

const STATEMENT_MS = 30_000;
/** Callers wait this long while others use every connection, so that a burst for one row is worked off, not refused. */
const WAIT_MS = 10_000;
/** A server that takes longer to accept a connection counts as down; the limit is lower if another server can be tried. */
const ACCEPT_MS = { one: 5_000, several: 2_000 } as const;

/** A client with its own time limit: `pg.Pool` has one for new connections and for waiting until one is free. */
const clientWithin = (acceptMs: number) =>
  class extends pg.Client {
    constructor(options?: pg.ClientConfig) {
      super({ ...options, connectionTimeoutMillis: acceptMs });
    }
  };

function openDb(url: string, options: DbOptions): Db {
  const { max, onError, idleInTransactionMs = 0, prepares = false, anyHost = false, waitMs = WAIT_MS } = options;
  const hosts = openHosts(url);
  const prepare = openSessions({
    limits: { statementMs: STATEMENT_MS, idleInTransactionMs },
    prepares,
    needsPrimary: hosts.areSeveral && !anyHost,
    onDoubt: hosts.distrust,
  });
  const pool = new pg.Pool({
    connectionString: hosts.url(),
    connectionTimeoutMillis: waitMs,
    Client: clientWithin(hosts.areSeveral ? ACCEPT_MS.several : ACCEPT_MS.one),
    query_timeout: STATEMENT_MS,
    application_name: 'rollcall',
    types,
    max,
    onConnect: async (client) => {
      hosts.opened(client);
      await prepare(client);
    },
  });
  // Postgres closing an idle connection must not end the process; the next query opens another.
  pool.on('error', (error) => onError?.(error));
  // The same for a connection lost between two statements of a transaction; the next statement fails.
  pool.on('connect', (client) => client.on('error', (error) => onError?.(error)));
  return new Kysely<Database>({
    dialect: guardedDialect(hosts.over(pool)),
    plugins: [
      // Keys inside JSON are data, not columns.
      new CamelCasePlugin({ maintainNestedObjectKeys: true }),
    ],
  });
}

/** Most connections for exports: each may be held as long as its reader takes. */
const EXPORTS = 3;
/** Ends the snapshot of a process that disappeared. Slow readers are disconnected long before. */
const EXPORT_IDLE_MS = 600_000;
/** A change that waits for longer behind others of its brand is refused. */
const CHANGE_WAITS_MS = 10_000;
/** Beside exports, on a replica. */
const READS = 2;

const tooManyChanges = () =>
  new ApiError('RATE_LIMITED', 'Your other changes take all the connections that a brand may use; try again shortly.', {
    headers: { 'retry-after': '1' },
  });

export interface PostgresOptions {
  /** The most connections of this process. */
  max?: number;
  /** A replica, or several. */
  readUrl?: string | undefined;
  onError?: (error: Error) => void;
  /** The longest wait for a free connection. */
  waitMs?: number;
}

export function openPostgres(url: string, { max = 13, readUrl, onError, waitMs }: PostgresOptions = {}): Postgres {
  const most = Math.min(EXPORTS, Math.ceil(max / 5));
  const exportOptions = { max: most, onError, waitMs, idleInTransactionMs: EXPORT_IDLE_MS };
  const connections = Math.max(1, max - most);
  const db = openDb(url, { max: connections, onError, waitMs, prepares: true });
  const exports = openDb(url, exportOptions);
  const replica =
    readUrl === undefined ? undefined : openDb(readUrl, { ...exportOptions, max: most + READS, anyHost: true });
  return {
    db,
    changes: openPlaces(Math.max(1, Math.floor(connections / 2)), CHANGE_WAITS_MS, tooManyChanges),
    reads: replica ?? db,
    exports: {
      current: async () => (replica && (await hasCaughtUp(replica, db)) ? replica : exports),
      semaphore: openSemaphore(most),
    },
    ping: async () => {
      await sql`select 1`.execute(db);
    },
    tryWrite: () => tryWrite(db),
    close: async () => {
      await Promise.all([db.destroy(), exports.destroy(), replica?.destroy()]);
    },
  };
}
