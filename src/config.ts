import { availableParallelism } from 'node:os';
import path from 'node:path';
import { z } from 'zod';

const url = (protocols: string[]) =>
  z
    .url()
    .refine((value) => protocols.includes(new URL(value).protocol), {
      message: `must start with ${protocols.join(' or ')}//`,
    })
    .optional();

const Environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('warn'),
  TRUSTED_PROXIES: z.string().default(''),
  DATABASE_URL: url(['postgres:', 'postgresql:']),
  REDIS_URL: url(['redis:', 'rediss:']),
  ELASTICSEARCH_URL: url(['http:', 'https:']),
  CLICKHOUSE_URL: url(['http:', 'https:']),
  CREATOR_LOOKUP_CREDITS: z.coerce.number().int().min(0).max(1000).default(0),
  DIRECTORY_ALIAS: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,60}$/)
    .default('creators'),
  PROFILE_PROVIDER_URL: url(['http:', 'https:']),
  PROFILE_PROVIDER_TOKEN: z.string().optional(),
  ROLLCALL_DIR: z.string().default('.rollcall'),
  EMBEDDED_JAVA_HOME: z.string().optional(),
  ES_JAVA_HOME: z.string().optional(),
  JAVA_HOME: z.string().optional(),
  PATH: z.string().default(''),
});

export interface Config {
  host: string;
  port: number;
  /** False: the default port, which may give way to the next free one. */
  portIsSet: boolean;
  logLevel: z.infer<typeof Environment>['LOG_LEVEL'];
  /** Addresses or networks whose X-Forwarded-For is believed. Empty: the socket's address is the caller's. */
  trustedProxies: string[];
  /** An engine without a URL is embedded: found running, or started. */
  urls: {
    postgres: string | undefined;
    redis: string | undefined;
    elasticsearch: string | undefined;
    clickhouse: string | undefined;
  };
  /** Credits of one `GET /v1/creators/{pk}` with a data key. */
  creatorLookupCredits: number;
  /** The Elasticsearch alias of the creator directory. */
  directoryAlias: string;
  /** Who knows the public profile of a handle that the directory lacks. The operator's own, so it may be private. */
  profileProviderUrl: string | undefined;
  profileProviderToken: string | undefined;
  /** Absolute path of the folder that holds embedded engines, their data and the demo's keys. */
  directory: string;
  /** Where to look for Java, in order, besides the usual folders. */
  java: { homes: string[]; searchPath: string };
  cores: number;
}

/** Reads the configuration, or throws an error that names each bad variable. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = Environment.safeParse(present);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`The environment is not right:\n${lines.join('\n')}`);
  }
  const env = parsed.data;
  return {
    host: env.HOST,
    port: env.PORT,
    portIsSet: present.PORT !== undefined,
    logLevel: env.LOG_LEVEL,
    trustedProxies: env.TRUSTED_PROXIES.split(',')
      .map((entry) => entry.trim())
      .filter(Boolean),
    urls: {
      postgres: env.DATABASE_URL,
      redis: env.REDIS_URL,
      elasticsearch: env.ELASTICSEARCH_URL,
      clickhouse: env.CLICKHOUSE_URL,
    },
    creatorLookupCredits: env.CREATOR_LOOKUP_CREDITS,
    directoryAlias: env.DIRECTORY_ALIAS,
    profileProviderUrl: env.PROFILE_PROVIDER_URL,
    profileProviderToken: env.PROFILE_PROVIDER_TOKEN,
    directory: path.resolve(env.ROLLCALL_DIR),
    java: {
      homes: [env.EMBEDDED_JAVA_HOME, env.ES_JAVA_HOME, env.JAVA_HOME].filter((home) => home !== undefined),
      searchPath: env.PATH,
    },
    cores: availableParallelism(),
  };
}
