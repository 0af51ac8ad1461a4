import { checkRedis } from '../kit/engines/redis/check.ts';
import type { Config } from '../kit/values/config.ts';

/** Compares the configured engines with what they report about themselves. Throws if one cannot work, with the fix. */
export async function checkEngines({ urls, clicksRedisUrl }: Config, report: (line: string) => void): Promise<void> {
  const redis = Object.entries({ REDIS_URL: urls.redis, CLICKS_REDIS_URL: clicksRedisUrl });
  for (const [variable, url] of redis) {
    if (url === undefined) continue;
    for (const line of await checkRedis(variable, url)) report(line);
  }
}
