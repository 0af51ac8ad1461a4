import type { Config } from '../kit/values/config.ts';

export interface EngineUrls {
  postgres: string;
  redis: string;
  elasticsearch: string;
  clickhouse: string;
}

const VARIABLES = {
  postgres: 'DATABASE_URL',
  redis: 'REDIS_URL',
  elasticsearch: 'ELASTICSEARCH_URL',
  clickhouse: 'CLICKHOUSE_URL',
} as const;

/** The URLs of all engines; the error for missing ones names the variables. */
export function configuredUrls({ urls }: { urls: Config['urls'] }): EngineUrls {
  const { postgres, redis, elasticsearch, clickhouse } = urls;
  if (postgres && redis && elasticsearch && clickhouse) return { postgres, redis, elasticsearch, clickhouse };
  const missing = Object.entries(VARIABLES).filter(
    ([name]) => !Object.entries(urls).some(([key, url]) => key === name && url),
  );
  throw new Error(`Set ${missing.map(([, variable]) => variable).join(', ')}; \`npm start\` alone embeds engines.`);
}

/** Other processes cannot see files and mails on this machine's disk, so with external engines that must be explicit. */
export function assertSharedStorage({ unsharedStorage }: Config): void {
  if (unsharedStorage.length === 0) return;
  const fixes = { ASSETS_URL: 's3://bucket/path?region=…', SMTP_URL: 'smtp://mail.example:587' };
  const lines = Object.entries(fixes).flatMap(([name, example]) =>
    unsharedStorage.includes(name)
      ? [`  ${name}=${example}, or ${name}=local to keep them on this machine's disk`]
      : [],
  );
  throw new Error(`Other processes would not see the files of brands or the mails. Set\n${lines.join('\n')}`);
}
