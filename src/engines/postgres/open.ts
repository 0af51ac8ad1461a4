import {
  CamelCasePlugin,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresDialect,
  sql,
} from 'kysely';
import pg from 'pg';
import { ApiError, unavailable } from '../../values/errors.ts';
import { forgetPrepared, prepareInTransactions } from './prepared.ts';
import { openSemaphore, type Semaphore } from './semaphore.ts';
import type { Database } from './tables.ts';
import { tryWrite } from './try-write.ts';

export type Db = Kysely<Database>;

/** Connections for exports, which last as long as their reader takes, and the semaphore that limits them. */
export interface Exports {
  db: Db;
  semaphore: Semaphore;
}

export interface Postgres {
  db: Db;
  exports: Exports;
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

/** Includes statement timeouts, because the driver's timeout and the server's race. */
const CONNECTION_LOST = /^(08|57P0|57014|53)/;
const NETWORK_ERROR = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH)$/;
const DRIVER_LOST = /terminated|timeout exceeded when trying to connect|Query read timeout|not queryable/i;

/** A deadlock or a serialization failure. */
const ENDED_FOR_OTHERS = /^(40P01|40001)$/;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** A newer process has changed the columns that a prepared statement returns. */
const isOutdated = (error: unknown): boolean =>
  error instanceof Error && 'routine' in error && error.routine === 'RevalidateCachedQuery';

function isUnreachable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnreachable);
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return CONNECTION_LOST.test(code) || NETWORK_ERROR.test(code) || DRIVER_LOST.test(error.message);
}

/** Whether PostgreSQL ended a transaction in favour of others, so that a retry may succeed. */
export const isEndedForOthers = (thrown: unknown): boolean =>
  thrown instanceof ApiError && (ENDED_FOR_OTHERS.test(codeOf(thrown.cause)) || isOutdated(thrown.cause));

function translate(error: unknown): never {
  if (error instanceof ApiError) throw error;
  if (isOutdated(error)) forgetPrepared();
  else if (!isUnreachable(error) && !ENDED_FOR_OTHERS.test(codeOf(error))) throw error;
  throw unavailable('PostgreSQL', error);
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
    const guarded: DatabaseConnection = {
      executeQuery: <R>(query: CompiledQuery) => connection.executeQuery<R>(query).catch(translate),
      streamQuery: (...query) => connection.streamQuery(...query),
    };
    inner.set(guarded, connection);
    return guarded;
  };
  driver.releaseConnection = (connection) => release(unwrap(connection));
  driver.rollbackTransaction = (connection) => rollback(unwrap(connection)).catch(translate);
  return driver;
}

function guardedDialect(pool: pg.Pool): Dialect {
  const dialect = new PostgresDialect({ pool });
  const createDriver = dialect.createDriver.bind(dialect);
  dialect.createDriver = () => guardDriver(createDriver());
  return dialect;
}

interface DbOptions extends Omit<pg.PoolConfig, 'types'> {
  max: number;
  onError: ((error: Error) => void) | undefined;
}

function openDb(url: string, { onError, ...options }: DbOptions): Db {
  const pool = new pg.Pool({
    connectionString: url,
    connectionTimeoutMillis: 2_000,
    query_timeout: 30_000,
    statement_timeout: 30_000,
    application_name: 'rollcall',
    types,
    ...options,
  });
  // Postgres closing an idle connection must not end the process; the next query opens another.
  pool.on('error', (error) => onError?.(error));
  // The same for a connection lost between two statements of a transaction; the next statement fails.
  pool.on('connect', (client) => client.on('error', (error) => onError?.(error)));
  return new Kysely<Database>({
    dialect: guardedDialect(pool),
    plugins: [
      // Keys inside JSON are data, not columns.
      new CamelCasePlugin({ maintainNestedObjectKeys: true }),
    ],
  });
}

const EXPORTS = 3;
/** Ends the snapshot of a process that disappeared. Slow readers are disconnected long before. */
const EXPORT_IDLE_MS = 600_000;

export function openPostgres(url: string, options: { max?: number; onError?: (error: Error) => void } = {}): Postgres {
  const { max = 10, onError } = options;
  const db = openDb(url, { max, onError, onConnect: prepareInTransactions });
  const exports = openDb(url, { max: EXPORTS, onError, idle_in_transaction_session_timeout: EXPORT_IDLE_MS });
  return {
    db,
    exports: { db: exports, semaphore: openSemaphore(EXPORTS) },
    ping: async () => {
      await sql`select 1`.execute(db);
    },
    tryWrite: () => tryWrite(db),
    close: async () => {
      await Promise.all([db.destroy(), exports.destroy()]);
    },
  };
}
