import type pg from 'pg';
import { z } from 'zod';
import { ignoreFailure } from '../../values/errors.ts';
import { named } from './prepared.ts';

/** Limits that the server keeps for each statement or transaction. */
export interface Limits {
  statementMs: number;
  idleInTransactionMs: number;
}

/** A pool of connections to servers, of which only one may accept writes. */
export interface Sessions {
  limits: Limits;
  /** True if statements of transactions are prepared. */
  prepares: boolean;
  /** Refuses standbys, because several servers are configured. */
  needsPrimary: boolean;
  /** Called when a server that accepted writes no longer does, or a pooler in front of it has none. */
  onDoubt(): void;
}

export class IsStandby extends Error {}

const Facts = z.array(z.object({ is_standby: z.boolean(), is_direct: z.boolean() }));
const Known = z.array(z.object({ is_known: z.boolean() }));

const TRANSACTION = /^(begin|start transaction)\b/i;
const READ_ONLY = '25006';

/** A pooler accepts connections while its server is away, and lets statements wait. */
const NO_SERVER = /query read timeout|query_wait_timeout/i;
/** For a new connection to say which server it has, if another may be tried. */
const FACTS_MS = 2_000;

const isReadOnly = (error: unknown) => error instanceof Error && 'code' in error && error.code === READ_ONLY;
const hasNoServer = (error: unknown) => error instanceof Error && NO_SERVER.test(error.message);

/**
 * True if the pooler renames statements that clients prepare, and prepares them on each server connection that needs
 * them. Another pooler would run them on a connection that lacks them. The first connection of a pool finds out.
 */
async function findsPrepared(client: pg.ClientBase): Promise<boolean> {
  const name = `rollcall_probe_${process.pid}_${Date.now()}`;
  await client.query('begin');
  await client.query({ name, text: 'select $1::int', values: [1] });
  const { rows } = await client.query(
    `select exists (select from pg_prepared_statements where name = '${name}') as is_known`,
  );
  const isPassedOn = Known.parse(rows)[0]?.is_known !== false;
  if (isPassedOn) await client.query(`deallocate ${name}`);
  await client.query('commit');
  return !isPassedOn;
}

const STATEMENT_POOLING = /statement pooling/i;

/** Some versions refuse the transaction, others close the connection after its first statement and say why. */
async function refusingStatementPooling(client: pg.ClientBase): Promise<boolean> {
  const said: unknown[] = [];
  const listen = (error: Error) => void said.push(error);
  client.on('error', listen);
  try {
    return await findsPrepared(client);
  } catch (cause) {
    const isRefused = [cause, ...said].some((error) => STATEMENT_POOLING.test(String(error)));
    if (!isRefused) throw cause;
    throw new Error(
      'The pooler in front of PostgreSQL refuses transactions. Set pool_mode = transaction: statement pooling cannot work.',
      { cause },
    );
  } finally {
    client.off('error', listen);
  }
}

/**
 * Prepares each new connection. A direct one is given its limits once. Behind a pooler, which refuses them at the start
 * of a connection and gives each transaction another session, they are set at the start of each transaction, and a
 * single statement is wrapped in one.
 */
export function openSessions({ limits, prepares, needsPrimary, onDoubt }: Sessions) {
  const settings = [
    ['statement_timeout', limits.statementMs],
    ['idle_in_transaction_session_timeout', limits.idleInTransactionMs],
  ] as const;
  const locally = settings.map(([name, ms]) => `set local ${name} = ${ms}`).join('; ');
  // Each pool may have another pooler, such as one in front of the replica.
  let poolerPrepares: Promise<boolean> | undefined;

  /** The next connection finds out again. */
  function forgetAnswer(error: unknown): never {
    poolerPrepares = undefined;
    throw error;
  }

  async function readFacts(client: pg.ClientBase) {
    // A pooler invents the process id that a client sees.
    const isDirect = `pg_backend_pid() = ${'processID' in client ? Number(client.processID) : 0}`;
    const sets = settings.map(([name, ms]) => `case when ${isDirect} then set_config('${name}', '${ms}', false) end`);
    const { rows } = await client.query({
      text: `select pg_is_in_recovery() as is_standby, ${isDirect} as is_direct, ${sets.join(', ')}`,
      ...(needsPrimary && { query_timeout: FACTS_MS }),
    });
    return Facts.parse(rows)[0] ?? { is_standby: false, is_direct: true };
  }

  return async (client: pg.ClientBase): Promise<void> => {
    const query = client.query;
    const send = async (args: readonly unknown[]): Promise<unknown> => {
      try {
        return await Reflect.apply(query, client, args);
      } catch (error) {
        if (isReadOnly(error) || (needsPrimary && hasNoServer(error))) onDoubt();
        throw error;
      }
    };
    const { is_standby, is_direct } = await readFacts(client);
    if (is_standby && needsPrimary) throw new IsStandby('The server is a standby.');
    if (!is_direct) poolerPrepares ??= refusingStatementPooling(client);
    const keepsNames = is_direct || (await poolerPrepares?.catch(forgetAnswer));
    const names = prepares && keepsNames;

    const inTransaction = (args: readonly unknown[]) => send(names ? named(args) : args);
    async function alone(args: readonly unknown[]): Promise<unknown> {
      const [text] = args;
      if (typeof text === 'string' && TRANSACTION.test(text)) return await send([`${text}; ${locally}`]);
      await send([`begin; ${locally}`]);
      try {
        const answer = await send(args);
        await send(['commit']);
        return answer;
      } catch (error) {
        await send(['rollback']).catch(ignoreFailure('a connection that broke has rolled back'));
        throw error;
      }
    }
    const limitedQuery = (...args: unknown[]) => {
      const status = client.getTransactionStatus();
      if (status === 'T') return inTransaction(args);
      return is_direct || status === 'E' ? send(args) : alone(args);
    };
    Object.defineProperty(client, 'query', { value: limitedQuery });
  };
}
