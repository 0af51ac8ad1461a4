import type { TracingConfig } from './tracing.ts';

/** The configuration that `src/config.ts` reads from the environment. */
export interface Config {
  host: string;
  port: number;
  /** False: the default port is used, or the next free one. */
  portIsSet: boolean;
  /** The port of the links host. Default: the one after `port`. */
  linksPort: number;
  linksPortIsSet: boolean;
  logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  /** Where traces are sent; undefined if none are recorded. */
  tracing: TracingConfig | undefined;
  /** Addresses or networks whose X-Forwarded-For is trusted. Empty: the caller's address is the socket's. */
  trustedProxies: string[];
  /** An engine without a URL is embedded: a running one is reused, otherwise one is started. */
  urls: {
    postgres: string | undefined;
    redis: string | undefined;
    elasticsearch: string | undefined;
    clickhouse: string | undefined;
  };
  /** The Redis of clicks that wait for ClickHouse. Undefined: the same as everything else's. */
  clicksRedisUrl: string | undefined;
  /** Memory that waiting clicks may take; what comes beyond it is not recorded. */
  maxClicksBytes: number;
  /** A replica of PostgreSQL, for reads that decide nothing. */
  databaseReadUrl: string | undefined;
  /** The most connections of a process to PostgreSQL. */
  databasePool: number;
  /** The ClickHouse cluster that tables are replicated on. Undefined: a single server. */
  clickhouseCluster: string | undefined;
  /** Price in credits of one `GET /v1/creators/{pk}` with a data key. */
  creatorLookupCredits: number;
  /** The Elasticsearch alias of the creator directory. */
  directoryAlias: string;
  /** True if brands' owners see reports of the directory's imports. */
  directoryReports: boolean;
  /** Shards of the next import's index, and replicas of each. */
  directoryLayout: { shards: number; replicas: number };
  /** A worker that is silent for this long counts as dead, and another one continues its import. */
  workerLostAfterMs: number;
  /** Workers look for recent changes. At this interval they scan everything, in case the hosts' clocks disagree. */
  workerSweepEveryMs: number;
  /**
   * The provider of public profiles for handles that the directory lacks. The operator configures it, so its address
   * may be private.
   */
  profileProviderUrl: string | undefined;
  profileProviderToken: string | undefined;
  /** The provider of parcel tracking. It speaks AfterShip's protocol. */
  trackingProviderUrl: string | undefined;
  trackingProviderKey: string | undefined;
  /** The provider of a post's metrics. */
  contentProviderUrl: string | undefined;
  contentProviderToken: string | undefined;
  /** If a key is set, metrics of YouTube videos are read from YouTube's API at this URL. */
  youtubeApiUrl: string;
  youtubeApiKey: string | undefined;
  /** TikTok short links are resolved here instead of at their own host. */
  tiktokLinksUrl: string | undefined;
  /** The installation's secret, 32 bytes. `readSecret` has the fallback for when it is not set. */
  secret: Buffer | undefined;
  /** The previous secret: data sealed with it can still be opened, and links signed with it still work. */
  previousSecret: Buffer | undefined;
  /** Host names that /mcp accepts, besides IP addresses and localhost. Any other name points to a DNS rebinding attack. */
  mcpHosts: string[];
  /** Hosts whose documents may be client ids of agents; none by default. */
  agentClientHosts: string[];
  /** The URL of the links host, without a trailing slash. Short URLs start with it. */
  linksUrl: string;
  /** False: short URLs use the address that the links host listens on. */
  linksUrlIsSet: boolean;
  /** True if `cli clock advance` may advance the clock. */
  isSandbox: boolean;
  /** The server that mails are sent through. Undefined: mails are written to files. */
  smtpUrl: string | undefined;
  /** The sender address of mails. */
  mailFrom: string;
  /** Limits on mails per hour. */
  mailLimits: {
    /** From one brand to an address that has never answered it. */
    stranger: number;
    /** From all brands to one address. */
    recipient: number;
    /** From one brand in its first 30 days. */
    brand: number;
    /** From one brand after that, or from one that the operator trusts. */
    establishedBrand: number;
    /** Invitations to the web app, from one brand. */
    invitations: number;
  };
  /** The API's URL, for responses that need absolute links. */
  apiUrl: string | undefined;
  /** The host of the older API. Undefined: every host serves both APIs. */
  legacyUrl: string | undefined;
  /** Visitors of unknown or inactive links are redirected here. Undefined: they see a built-in page. */
  unknownLinkUrl: string | undefined;
  /** The server and brand key used by commands that call the REST API. */
  rest: { url: string | undefined; brandKey: string | undefined; dataKey: string | undefined };
  /** Private addresses or networks that calls to brands' hosts may reach. */
  outboundAllow: string[];
  /** Storage variables that are unset although PostgreSQL is external: only this machine would have the stored data. */
  unsharedStorage: readonly string[];
  /** The S3-compatible storage for assets. Undefined: a local folder. */
  assetsUrl: string | undefined;
  maxAssetBytes: number;
  /** Rows of one file of an export. */
  exportFileRows: number;
  /** Commissions that a call pays or approves itself; more are a job. */
  commissionsAtOnce: number;
  /** Orders that a call simulates itself; more are a job, of so many a turn. */
  simulationOrders: number;
  /** Absolute path of the folder that holds embedded engines, their data and the demo's keys. */
  directory: string;
  /** Java is looked for here, in order, besides the usual folders. */
  java: { homes: string[]; searchPath: string; options?: string | undefined };
  cores: number;
}
