import { type ClickHouseClient, createClient } from '@clickhouse/client';

export interface ClickHouse {
  client: ClickHouseClient;
  ping(): Promise<void>;
  close(): Promise<void>;
}

export function openClickHouse(url: string): ClickHouse {
  const client = createClient({ url, request_timeout: 10_000, application: 'rollcall' });
  return {
    client,
    ping: async () => {
      const answer = await client.ping();
      if (!answer.success) throw answer.error;
    },
    close: () => client.close(),
  };
}
