import { checkRedis } from '../engines/redis/check.ts';
import type { Config } from '../values/config.ts';

/** Compares the configured engines with what they say of themselves. Throws if one cannot work, with the fix. */
export async function checkEngines({ urls }: Config, report: (line: string) => void): Promise<void> {
  if (urls.redis === undefined) return;
  for (const line of await checkRedis('REDIS_URL', urls.redis)) report(line);
}
