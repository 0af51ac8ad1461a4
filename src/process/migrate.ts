import { migrateClickHouse } from '../kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../kit/engines/postgres/migrate.ts';
import type { Context } from '../kit/operation/context.ts';
import { ApiError } from '../kit/values/errors.ts';

/**
 * Applies missing migrations. Without ClickHouse the API serves everything but figures; the worker migrates ClickHouse
 * when it is back.
 */
export async function migrate(
  { postgres, clickhouse, elastic }: Context,
  report: (line: string) => void,
): Promise<void> {
  await elastic.assertOneCluster();
  await migratePostgres(postgres.db);
  await migrateClickHouse(clickhouse).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    report(error.message);
  });
}
