import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { ClickHouse } from './engines/clickhouse/open.ts';

import type { Elastic } from './engines/elastic/open.ts';
import type { Postgres } from './engines/postgres/open.ts';
import type { Redis } from './engines/redis/open.ts';
import type { Log } from './log.ts';
import type { Directory } from './resources/creators/directory/directory.ts';
import type { Secrets } from './secrets.ts';

/** What every operation is given: the engines and the process's own facts, as one plain value. */
export interface Context {
  config: Config;
  log: Log;
  clock: Clock;
  postgres: Postgres;
  redis: Redis;
  elastic: Elastic;
  /** The directory that searches use right now. */
  directory: Directory;
  clickhouse: ClickHouse;
  secrets: Secrets;
}
