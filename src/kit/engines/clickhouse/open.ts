import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';

export interface ClickHouse {
  client: ClickHouseClient;
  /** The cluster whose replicas hold the tables; undefined: one server. */
  cluster: string | undefined;
  ping(): Promise<void>;
  /** Resolves when ClickHouse accepts writes. */
  tryWrite(): Promise<void>;
  close(): Promise<void>;
}

/** A rebuild reads a brand's whole history in one statement. Statements that a caller waits for get less, see query.ts. */
const REQUEST_TIMEOUT_MS = 60_000;
const WRITE_TIMEOUT_MS = 5_000;

export function openClickHouse(url: string, options: { cluster?: string | undefined } = {}): ClickHouse {
  const client = createClient({
    url,
    request_timeout: REQUEST_TIMEOUT_MS,
    application: 'rollcall',
    // Failures reach the caller, which logs them.
    log: { level: ClickHouseLogLevel.OFF },
  });
  return {
    client,
    cluster: options.cluster,
    ping: async () => {
      const answer = await client.ping();
      if (!answer.success) throw answer.error;
    },
    tryWrite: async () => {
      const query = 'INSERT INTO readiness_writes_v1 SELECT now()';
      await client.command({ query, abort_signal: AbortSignal.timeout(WRITE_TIMEOUT_MS) });
    },
    close: () => client.close(),
  };
}
