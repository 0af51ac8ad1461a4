import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** Only global unicast is public in IPv6: addresses outside the special ranges of ipaddr.js may still be unassigned. */
const PUBLIC_6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** True if an address is on the public internet, outside IANA's special-purpose ranges. */
export function isPublic(text: string): boolean {
  // ipaddr.js also accepts `10.1` and `0x7f.1`.
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return !(address instanceof ipaddr.IPv6) || address.match(PUBLIC_6);
}

function toNetwork(text: string): Network {
  const [address = '', ...prefix] = text.split('/');
  const family = isIP(address);
  if (family === 0) throw new Error(`${JSON.stringify(text)} is not an address or network.`);
  if (prefix.length > 0) return ipaddr.parseCIDR(text);
  return [ipaddr.parse(address), family === 4 ? 32 : 128];
}

const lists = new Map<string, Network[]>();

/** True if a text is an IP address or a network such as `203.0.113.0/24`. */
export function isNetwork(text: string): boolean {
  try {
    toNetwork(text);
    return true;
  } catch {
    return false;
  }
}

const networks = new WeakMap<readonly string[], Network[]>();

/** True if an address lies in one of the networks, which are parsed once. An IPv4-mapped IPv6 address counts as the IPv4 address. */
export function isInNetworks(address: string, texts: readonly string[]): boolean {
  const parsedNetworks = networks.get(texts) ?? texts.map(toNetwork);
  networks.set(texts, parsedNetworks);
  return isIP(address) !== 0 && ipaddr.subnetMatch(ipaddr.process(address), { in: parsedNetworks }, 'out') === 'in';
}

/** True if the operator allows calls to this address even if it is private. */
export function isAllowed(text: string, allow: readonly string[]): boolean {
  const key = allow.join(',');
  const networks = lists.get(key) ?? allow.map(toNetwork);
  lists.set(key, networks);
  // An IPv4-mapped IPv6 address counts as the IPv4 address.
  return isIP(text) !== 0 && ipaddr.subnetMatch(ipaddr.process(text), { allowed: networks }, 'none') === 'allowed';
}
