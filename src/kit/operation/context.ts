import type { PageLinks } from '../access/page-tokens.ts';
import type { ClickHouse } from '../engines/clickhouse/open.ts';
import type { Elastic } from '../engines/elastic/open.ts';
import type { FileStore } from '../engines/files/store.ts';
import type { Mailer } from '../engines/mail.ts';
import type { Postgres } from '../engines/postgres/open.ts';
import type { Redis } from '../engines/redis/open.ts';
import type { OlderItem } from '../outbox/events.ts';
import type { Clock } from '../values/clock.ts';
import type { Config } from '../values/config.ts';
import type { Log } from '../values/log.ts';
import type { RepeatedFailures } from '../values/repeated-failures.ts';
import type { Secrets } from '../values/secrets.ts';

/**
 * The input of every operation: the engines, the configuration and shared services. A folder above adds its part by
 * declaring it, as `directory/directory.ts` does.
 */
export interface Context {
  config: Config;
  log: Log;
  /** Logs repeated failures of jobs, of their items and of attempts. */
  failures: RepeatedFailures;
  clock: Clock;
  postgres: Postgres;
  redis: Redis;
  /** Clicks wait here for ClickHouse; often the same server. */
  clicksRedis: Redis;
  elastic: Elastic;
  clickhouse: ClickHouse;
  secrets: Secrets;
  files: FileStore;
  mailer: Mailer;
  /** Makes and reads links to creators' pages. */
  pageLinks: PageLinks;
  /** Translates items for webhooks of the older API. */
  olderItem: OlderItem;
  /** Aborted when the process begins to stop, so that waiting calls return at once. */
  stopping: AbortController;
}

/** The time in so many milliseconds. */
export const later = ({ clock }: Pick<Context, 'clock'>, ms: number): Date => new Date(clock.now().getTime() + ms);
