import { migrateClickHouse } from '../kit/engines/clickhouse/migrate.ts';
import { claimHome, HELD } from '../kit/engines/postgres/home.ts';
import { migratePostgres } from '../kit/engines/postgres/migrate.ts';
import type { Context } from '../kit/operation/context.ts';
import { ApiError } from '../kit/values/errors.ts';

/**
 * Applies missing migrations. Without ClickHouse the API serves everything but figures; the worker migrates ClickHouse
 * when it is back.
 */
export async function migrate(
  { postgres, clickhouse, elastic, config, clock }: Context,
  report: (line: string) => void,
): Promise<void> {
  await elastic.assertOneCluster();
  await migratePostgres(postgres.db);
  if (await claimHome(postgres.db, config.directory, clock.now())) report(HELD);
  await migrateClickHouse(clickhouse).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    report(error.message);
  });
}
