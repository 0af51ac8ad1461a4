import { availableParallelism } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { splitHosts } from './kit/engines/postgres/hosts.ts';
import { readAddress } from './kit/engines/redis/address.ts';
import type { Config } from './kit/values/config.ts';
import { javaSettings } from './local/engines/java.mjs';

const url = (protocols: string[]) =>
  z
    .url()
    .refine((value) => protocols.includes(URL.parse(value)?.protocol ?? ''), {
      message: `must start with ${protocols.join(' or ')}//`,
    })
    .optional();

/** One server of Redis, a Redis Cluster or sentinels. */
const redisUrl = z
  .string()
  .superRefine((value, context) => {
    try {
      readAddress(value);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
    }
  })
  .optional();

/** One or several hosts: `postgres://first:5432,second:5432/database`. */
const databaseUrl = z
  .string()
  .refine((value) => splitHosts(value).every((one) => /^postgres(ql)?:$/.test(URL.parse(one)?.protocol ?? '')), {
    message: 'must be like postgres://host:5432/database; several hosts are separated by commas',
  })
  .optional();

/** `local` deliberately keeps files or mails on this machine's disk. */
const orLocal = (protocols: string[]) =>
  z.union([z.literal('local'), url(protocols)], `must be local, or start with ${protocols.join(' or ')}//`);

const splitList = (text: string) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);

/** Leaves out anything that may be a password. */
const hideLogin = (entry: string) => JSON.stringify(entry.replace(/\/\/[^/]*@/, '//…@'));

/** One URL or several, separated by commas: the nodes of a cluster. */
const nodes = (protocols: string[], example: string) =>
  z
    .string()
    .superRefine((text, context) => {
      const entries = splitList(text);
      const isGood = (entry: string) => protocols.includes(URL.parse(entry)?.protocol ?? '');
      const bad = entries
        .filter((entry) => !isGood(entry))
        .map((entry) => `${hideLogin(entry)} is not the URL of a node`);
      if (entries.length === 0) bad.push('lists no node');
      const message = `${bad.join(', ')}; it must be like ${example}, several separated by commas`;
      if (bad.length > 0) context.addIssue({ code: 'custom', message });
    })
    .transform((text) => splitList(text).join(','))
    .optional();

const Network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

const networks = z
  .string()
  .default('')
  .transform(splitList)
  .superRefine((entries, context) => {
    for (const entry of entries) {
      if (Network.safeParse(entry).success) continue;
      context.addIssue({ code: 'custom', message: `${JSON.stringify(entry)} is not an address or network` });
    }
  });

/** `name=value,…`, as OpenTelemetry writes headers. */
const readPairs = (text: string): Record<string, string> =>
  Object.fromEntries(
    splitList(text).map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name.trim(), decodeURIComponent(value.join('=').trim())];
    }),
  );

const mailsAnHour = (most: number) => z.coerce.number().int().min(1).max(1_000_000).default(most);

const Environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  LINKS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('warn'),
  TRUSTED_PROXIES: z.string().default(''),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(['http:', 'https:']),
  OTEL_EXPORTER_OTLP_HEADERS: z.string().default('').transform(readPairs),
  OTEL_SERVICE_NAME: z.string().default('rollcall'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  DATABASE_URL: databaseUrl,
  DATABASE_READ_URL: databaseUrl,
  DATABASE_POOL: z.coerce.number().int().min(4).max(200).default(13),
  REDIS_URL: redisUrl,
  CLICKS_REDIS_URL: redisUrl,
  CLICKS_MAX_MB: z.coerce.number().int().min(1).max(1_000_000).default(1_024),
  ELASTICSEARCH_URL: nodes(['http:', 'https:'], 'http://es-1:9200'),
  CLICKHOUSE_URL: url(['http:', 'https:']),
  CLICKHOUSE_CLUSTER: z
    .string()
    .regex(/^\w{1,100}$/)
    .optional(),
  CREATOR_LOOKUP_CREDITS: z.coerce.number().int().min(0).max(1000).default(0),
  DIRECTORY_ALIAS: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,60}$/)
    .default('creators'),
  DIRECTORY_REPORTS: z.enum(['owners', 'none'], 'must be owners or none').optional(),
  DIRECTORY_SHARDS: z.coerce.number().int().min(1).max(64).default(1),
  DIRECTORY_REPLICAS: z.coerce.number().int().min(0).max(5).default(0),
  WORKER_SWEEP_EVERY_MS: z.coerce.number().int().min(100).max(3_600_000).default(60_000),
  WORKER_LOST_AFTER_MS: z.coerce.number().int().min(1_000).max(600_000).default(10_000),
  PROFILE_PROVIDER_URL: url(['http:', 'https:']),
  PROFILE_PROVIDER_TOKEN: z.string().optional(),
  TRACKING_PROVIDER_URL: url(['http:', 'https:']),
  TRACKING_PROVIDER_KEY: z.string().optional(),
  CONTENT_PROVIDER_URL: url(['http:', 'https:']),
  CONTENT_PROVIDER_TOKEN: z.string().optional(),
  YOUTUBE_API_URL: url(['http:', 'https:']),
  YOUTUBE_API_KEY: z.string().optional(),
  TIKTOK_LINKS_URL: url(['http:', 'https:']),
  ROLLCALL_SECRET: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hex digits')
    .optional(),
  ROLLCALL_PREVIOUS_SECRET: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hex digits')
    .optional(),
  LINKS_URL: url(['http:', 'https:']),
  MCP_HOSTS: z.string().optional(),
  AGENT_CLIENT_HOSTS: z.string().optional(),
  ROLLCALL_SANDBOX: z.enum(['0', '1', 'really'], 'must be 1, or really with your own engines').default('0'),
  SMTP_URL: orLocal(['smtp:', 'smtps:']),
  MAIL_FROM: z.email('must be an address without a name, such as mail@example.com').optional(),
  MAILS_PER_STRANGER: mailsAnHour(5),
  MAILS_PER_RECIPIENT: mailsAnHour(60),
  MAILS_PER_BRAND: mailsAnHour(500),
  MAILS_PER_ESTABLISHED_BRAND: mailsAnHour(10_000),
  INVITATIONS_PER_BRAND: mailsAnHour(20),
  UNKNOWN_LINK_URL: url(['http:', 'https:']),
  ROLLCALL_URL: url(['http:', 'https:']),
  ROLLCALL_BRAND_KEY: z.string().optional(),
  ROLLCALL_DATA_KEY: z.string().optional(),
  API_URL: url(['http:', 'https:']),
  LEGACY_URL: url(['http:', 'https:']),
  OUTBOUND_ALLOW: networks,
  ASSETS_URL: orLocal(['s3:']),
  MAX_ASSET_MB: z.coerce.number().int().min(1).max(5_000).default(100),
  EXPORT_FILE_ROWS: z.coerce.number().int().min(1).max(2_000_000).default(1_000_000),
  COMMISSIONS_AT_ONCE: z.coerce.number().int().min(1).max(100_000).default(5_000),
  SIMULATION_ORDERS: z.coerce.number().int().min(1).max(50_000).default(50_000),
  ROLLCALL_DIR: z.string().default('.rollcall'),
  EMBEDDED_JAVA_HOME: z.string().optional(),
  ES_JAVA_HOME: z.string().optional(),
  ES_JAVA_OPTS: z.string().optional(),
  JAVA_HOME: z.string().optional(),
  PATH: z.string().default(''),
});

const STORAGE = ['ASSETS_URL', 'SMTP_URL'] as const;
const elsewhere = (value: string | undefined) => (value === 'local' ? undefined : value);

const parseHex = (hex: string | undefined) => (hex === undefined ? undefined : Buffer.from(hex, 'hex'));

/** A sandbox's clock cannot be turned back, so engines that may hold real data must be confirmed explicitly. */
function assertSandbox(env: z.infer<typeof Environment>): void {
  if (env.ROLLCALL_SANDBOX !== '1') return;
  const engines = ['DATABASE_URL', 'REDIS_URL', 'ELASTICSEARCH_URL', 'CLICKHOUSE_URL'] as const;
  const givenEngines = engines.filter((name) => env[name] !== undefined);
  if (givenEngines.length === 0) return;
  throw new Error(
    `ROLLCALL_SANDBOX=1 is for embedded engines, but ${givenEngines.join(', ')} is set. A sandbox advances the time of that data ` +
      'permanently: set ROLLCALL_SANDBOX=really if that is what you want.',
  );
}

/** Reads the configuration, or throws an error that names each bad variable. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = Environment.safeParse(present);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`The environment is invalid:\n${lines.join('\n')}`);
  }
  const env = parsed.data;
  assertSandbox(env);
  if (elsewhere(env.SMTP_URL) !== undefined && env.MAIL_FROM === undefined) {
    throw new Error('SMTP_URL needs MAIL_FROM: the address that emails come from.');
  }
  const linksPort = env.LINKS_PORT ?? (env.PORT === 0 ? 0 : env.PORT + 1);
  return {
    host: env.HOST,
    port: env.PORT,
    portIsSet: present.PORT !== undefined,
    linksPort,
    linksPortIsSet: env.LINKS_PORT !== undefined,
    logLevel: env.LOG_LEVEL,
    trustedProxies: splitList(env.TRUSTED_PROXIES),
    tracing:
      env.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
        ? undefined
        : {
            endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT,
            headers: env.OTEL_EXPORTER_OTLP_HEADERS,
            serviceName: env.OTEL_SERVICE_NAME,
            ratio: env.OTEL_TRACES_SAMPLER_ARG,
          },
    mcpHosts: splitList((env.MCP_HOSTS ?? '').toLowerCase()),
    agentClientHosts: splitList((env.AGENT_CLIENT_HOSTS ?? '').toLowerCase()),
    urls: {
      postgres: env.DATABASE_URL,
      redis: env.REDIS_URL,
      elasticsearch: env.ELASTICSEARCH_URL,
      clickhouse: env.CLICKHOUSE_URL,
    },
    clicksRedisUrl: env.CLICKS_REDIS_URL,
    maxClicksBytes: env.CLICKS_MAX_MB * 1024 * 1024,
    databaseReadUrl: env.DATABASE_READ_URL,
    databasePool: env.DATABASE_POOL,
    clickhouseCluster: env.CLICKHOUSE_CLUSTER,
    creatorLookupCredits: env.CREATOR_LOOKUP_CREDITS,
    directoryAlias: env.DIRECTORY_ALIAS,
    directoryReports: (env.DIRECTORY_REPORTS ?? (env.DATABASE_URL === undefined ? 'owners' : 'none')) === 'owners',
    directoryLayout: { shards: env.DIRECTORY_SHARDS, replicas: env.DIRECTORY_REPLICAS },
    workerLostAfterMs: env.WORKER_LOST_AFTER_MS,
    workerSweepEveryMs: env.WORKER_SWEEP_EVERY_MS,
    profileProviderUrl: env.PROFILE_PROVIDER_URL,
    profileProviderToken: env.PROFILE_PROVIDER_TOKEN,
    trackingProviderUrl: env.TRACKING_PROVIDER_URL,
    trackingProviderKey: env.TRACKING_PROVIDER_KEY,
    contentProviderUrl: env.CONTENT_PROVIDER_URL,
    contentProviderToken: env.CONTENT_PROVIDER_TOKEN,
    youtubeApiUrl: env.YOUTUBE_API_URL ?? 'https://www.googleapis.com/youtube/v3',
    youtubeApiKey: env.YOUTUBE_API_KEY,
    tiktokLinksUrl: env.TIKTOK_LINKS_URL,
    secret: parseHex(env.ROLLCALL_SECRET),
    previousSecret: parseHex(env.ROLLCALL_PREVIOUS_SECRET),
    linksUrl: (env.LINKS_URL ?? `http://${env.HOST}:${linksPort}`).replace(/\/$/, ''),
    linksUrlIsSet: env.LINKS_URL !== undefined,
    isSandbox: env.ROLLCALL_SANDBOX !== '0',
    smtpUrl: elsewhere(env.SMTP_URL),
    mailFrom: env.MAIL_FROM ?? 'rollcall@localhost',
    mailLimits: {
      stranger: env.MAILS_PER_STRANGER,
      recipient: env.MAILS_PER_RECIPIENT,
      brand: env.MAILS_PER_BRAND,
      establishedBrand: env.MAILS_PER_ESTABLISHED_BRAND,
      invitations: env.INVITATIONS_PER_BRAND,
    },
    apiUrl: env.API_URL?.replace(/\/$/, ''),
    legacyUrl: env.LEGACY_URL,
    unknownLinkUrl: env.UNKNOWN_LINK_URL,
    rest: { url: env.ROLLCALL_URL, brandKey: env.ROLLCALL_BRAND_KEY, dataKey: env.ROLLCALL_DATA_KEY },
    outboundAllow: env.OUTBOUND_ALLOW,
    assetsUrl: elsewhere(env.ASSETS_URL),
    unsharedStorage: env.DATABASE_URL === undefined ? [] : STORAGE.filter((name) => env[name] === undefined),
    maxAssetBytes: env.MAX_ASSET_MB * 1024 * 1024,
    exportFileRows: env.EXPORT_FILE_ROWS,
    commissionsAtOnce: env.COMMISSIONS_AT_ONCE,
    simulationOrders: env.SIMULATION_ORDERS,
    directory: path.resolve(env.ROLLCALL_DIR),
    java: javaSettings(env),
    cores: availableParallelism(),
  };
}
