/** What the environment says, as `src/config.ts` reads it. */
export interface Config {
  host: string;
  port: number;
  /** False: the default port, which may give way to the next free one. */
  portIsSet: boolean;
  /** Of the links host: the one after `port`, unless it is set. */
  linksPort: number;
  linksPortIsSet: boolean;
  logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  /** Addresses or networks whose X-Forwarded-For is believed. Empty: the socket's address is the caller's. */
  trustedProxies: string[];
  /** An engine without a URL is embedded: found running, or started. */
  urls: {
    postgres: string | undefined;
    redis: string | undefined;
    elasticsearch: string | undefined;
    clickhouse: string | undefined;
  };
  /** The ClickHouse cluster that tables are replicated on; undefined: one server. */
  clickhouseCluster: string | undefined;
  /** Credits of one `GET /v1/creators/{pk}` with a data key. */
  creatorLookupCredits: number;
  /** The Elasticsearch alias of the creator directory. */
  directoryAlias: string;
  /** A worker that is silent for so long counts as dead, and another goes on with its import. */
  workerLostAfterMs: number;
  /** Workers ask for what moved of late, and as often as this for all, whatever the hosts' clocks say. */
  workerSweepEveryMs: number;
  /** Who knows the public profile of a handle that the directory lacks. The operator's own, so it may be private. */
  profileProviderUrl: string | undefined;
  profileProviderToken: string | undefined;
  /** Who knows where a parcel is, in AfterShip's protocol. */
  trackingProviderUrl: string | undefined;
  trackingProviderKey: string | undefined;
  /** Who knows the figures of a post. */
  contentProviderUrl: string | undefined;
  contentProviderToken: string | undefined;
  /** The installation's one secret, 32 bytes; `readSecret` says where it comes from when it is not set. */
  secret: Buffer | undefined;
  /** The one before it: what it sealed still opens, and links that it signed still work. */
  previousSecret: Buffer | undefined;
  /** Host names under which agents reach /mcp, besides addresses and localhost: a foreign name is a browser led astray. */
  mcpHosts: string[];
  /** The links host, without a slash at the end; short URLs begin with it. */
  linksUrl: string;
  /** False: links are on the address that the links host listens on. */
  linksUrlIsSet: boolean;
  /** Whether the clock may be put ahead, by `cli clock advance`. */
  isSandbox: boolean;
  /** The server that takes our mails; undefined: they are written to files. */
  smtpUrl: string | undefined;
  /** The address that mails come from. */
  mailFrom: string;
  /** How many mails go out in an hour. */
  mailLimits: {
    /** Of one brand to an address that has never answered it. */
    stranger: number;
    /** Of all brands to one address. */
    recipient: number;
    /** Of one brand in its first 30 days. */
    brand: number;
    /** Of one brand after that, or that the operator trusts. */
    establishedBrand: number;
    /** Invitations to the web app, of one brand. */
    invitations: number;
  };
  /** The API's own address, where answers must name it in full. */
  apiUrl: string | undefined;
  /** The host of the older interface; undefined: both interfaces are on every host. */
  legacyUrl: string | undefined;
  /** Where a visitor of an unknown or inactive link is sent; undefined: a page of our own. */
  unknownLinkUrl: string | undefined;
  /** The server and the brand's key that commands which call by REST use. */
  rest: { url: string | undefined; brandKey: string | undefined };
  /** Addresses or networks that calls to a brand's own hosts may reach although they are private. */
  outboundAllow: string[];
  /** The S3-compatible storage of assets; undefined: a folder of this machine. */
  assetsUrl: string | undefined;
  maxAssetBytes: number;
  /** Absolute path of the folder that holds embedded engines, their data and the demo's keys. */
  directory: string;
  /** Where to look for Java, in order, besides the usual folders. */
  java: { homes: string[]; searchPath: string };
  cores: number;
}
