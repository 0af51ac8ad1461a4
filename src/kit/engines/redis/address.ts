export interface RedisNode {
  host: string;
  port: number;
}

interface Access {
  username?: string;
  password?: string;
  tls?: Record<string, never>;
}

/** The target of a URL: one server, the nodes of a Redis Cluster, or the sentinels that know the primary of a name. */
export type RedisAddress = { nodes: RedisNode[]; access: Access } & (
  | { kind: 'server'; url: string }
  | { kind: 'cluster' }
  | { kind: 'sentinel'; name: string }
);

const FORM = /^(rediss?)(\+cluster|\+sentinel)?:\/\/(?:([^@/]*)@)?([^/?]+)(?:\/([^?]*))?$/;
const HOST = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/;
const PORT = 6379;
const SENTINEL_PORT = 26_379;

function parseNode(text: string, usualPort: number): RedisNode | undefined {
  const [, six, name = six, port = String(usualPort)] = HOST.exec(text) ?? [];
  return name === undefined || Number(port) > 65_535 ? undefined : { host: name, port: Number(port) };
}

/** Reads a URL of Redis. Throws an error that says what is wrong with it and what would be right. */
export function readAddress(url: string): RedisAddress {
  const [, scheme = '', kind = '', credentials, hosts = '', path = ''] = FORM.exec(url) ?? [];
  const refuse = (why: string) => new Error(`${JSON.stringify(url.replace(/\/\/[^@/]*@/, '//…@'))} ${why}`);
  if (scheme === '') {
    if (!kind && /^rediss?:\/\/[^,]*\?/.test(url) && URL.canParse(url)) return parseServer(url);
    throw refuse(
      'must be redis://host:6379, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/name',
    );
  }
  const hostTexts = hosts.split(',');
  if (kind === '' && hostTexts.length > 1) {
    throw refuse(
      'has several addresses: write redis+cluster:// for a Redis Cluster, or redis+sentinel://…/name for Sentinel',
    );
  }
  const nodes = hostTexts.map((text) => {
    const node = parseNode(text, kind === '+sentinel' ? SENTINEL_PORT : PORT);
    if (!node) throw refuse(`has ${JSON.stringify(text)} where a host:port belongs`);
    return node;
  });
  if (kind === '') return parseServer(url);
  const [user, password] = (credentials ?? '').split(':').map(decodeURIComponent);
  const access = {
    ...(user && { username: user }),
    ...(password && { password }),
    ...(scheme === 'rediss' && { tls: {} }),
  };
  if (kind === '+cluster') {
    if (path !== '' && path !== '0') throw refuse(`has database ${path}: a Redis Cluster has only 0`);
    return { kind: 'cluster', nodes, access };
  }
  if (path === '') throw refuse('lacks the name of the primary: redis+sentinel://host:port,host:port/name');
  return { kind: 'sentinel', nodes, access, name: decodeURIComponent(path) };
}

function parseServer(url: string): RedisAddress {
  const { hostname, port } = new URL(url);
  return { kind: 'server', url, nodes: [{ host: hostname, port: Number(port || PORT) }], access: {} };
}

/** A client connects to the URL that it is given, or finds its server by sentinels. */
export function describeAddress(address: Exclude<RedisAddress, { kind: 'cluster' }>) {
  if (address.kind === 'server') return {};
  const { nodes, access, name } = address;
  return { ...access, sentinels: nodes, name, enableTLSForSentinelMode: access.tls !== undefined };
}

/** A primary that became a replica keeps its connections; only a new connection leads to the new primary. */
export const isReplica = (error: Error): boolean => error.message.startsWith('READONLY');
