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

/** Connections for rows that are read as slowly as their reader likes, and who may take one. */
export interface Exports {
  db: Db;
  semaphore: Semaphore;
}

export interface Postgres {
  db: Db;
  exports: Exports;
  /** Resolves when Postgres answers within a second. */
  ping(): Promise<void>;
  /** Resolves when Postgres takes writes, too. */
  tryWrite(): Promise<void>;
  close(): Promise<void>;
}

const INT8 = 20;
const NUMERIC = 1700;
const DATE = 1082;

/** 64-bit counts as numbers: a value past 2^53 is an error, never a rounded number. */
function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`The integer ${text} is past what JavaScript holds exactly.`);
  return value;
}

const types = new pg.TypeOverrides();
types.setTypeParser(INT8, safeInteger);
types.setTypeParser(NUMERIC, safeInteger);
// A day without a time has no zone: it stays `YYYY-MM-DD`.
types.setTypeParser(DATE, (text) => text);

/** A statement that ran into its own time limit counts: the driver's limit and the server's are a race. */
const CONNECTION_LOST = /^(08|57P0|57014|53)/;
const NETWORK_ERROR = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH)$/;
const DRIVER_LOST = /terminated|timeout exceeded when trying to connect|Query read timeout|not queryable/i;

/** A deadlock, or a snapshot that others have overtaken. */
const ENDED_FOR_OTHERS = /^(40P01|40001)$/;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** A newer process beside this one has changed the columns that a prepared statement answers with. */
const isOutdated = (error: unknown): boolean =>
  error instanceof Error && 'routine' in error && error.routine === 'RevalidateCachedQuery';

function isUnreachable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnreachable);
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return CONNECTION_LOST.test(code) || NETWORK_ERROR.test(code) || DRIVER_LOST.test(error.message);
}

/** Whether what was thrown says that a transaction was ended for the sake of others: it may work the next time. */
export const isEndedForOthers = (thrown: unknown): boolean =>
  thrown instanceof ApiError && (ENDED_FOR_OTHERS.test(codeOf(thrown.cause)) || isOutdated(thrown.cause));

function translate(error: unknown): never {
  if (error instanceof ApiError) throw error;
  if (isOutdated(error)) forgetPrepared();
  else if (!isUnreachable(error) && !ENDED_FOR_OTHERS.test(codeOf(error))) throw error;
  throw unavailable('PostgreSQL', error);
}

/**
 * Turns a lost connection, or a transaction that was ended for others, into SERVICE_UNAVAILABLE in this one place, for
 * every statement and transaction.
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
  // An idle connection that Postgres closes must not end the process; the next query opens another.
  pool.on('error', (error) => onError?.(error));
  // Nor may one that is lost between two statements of a transaction; the next statement fails by itself.
  pool.on('connect', (client) => client.on('error', (error) => onError?.(error)));
  return new Kysely<Database>({
    dialect: guardedDialect(pool),
    plugins: [
      // Keys inside JSON are ours or a caller's, not columns.
      new CamelCasePlugin({ maintainNestedObjectKeys: true }),
    ],
  });
}

const EXPORTS = 3;
/** Whoever reads is given up long before; this ends the snapshot of a process that went away without a word. */
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
