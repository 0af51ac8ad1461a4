import { isIPv6 } from 'node:net';

const GROUPS = 8;
const OF_PREFIX = 4;
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The groups of an IPv6 address, those that `::` leaves out included. */
function groupsOf(address: string): string[] {
  const [before = '', after = ''] = address.split('::');
  const [head, tail] = [before, after].map((part) => (part === '' ? [] : part.split(':')));
  const known = (head?.length ?? 0) + (tail?.length ?? 0);
  return [...(head ?? []), ...Array<string>(Math.max(0, GROUPS - known)).fill('0'), ...(tail ?? [])];
}

/** Who an address belongs to: of IPv6 its /64, for a subscriber is given that many to choose from. */
export function subscriberOf(address: string): string {
  const mapped = MAPPED.exec(address)?.[1];
  if (mapped) return mapped;
  const [bare = ''] = address.split('%', 1);
  if (!isIPv6(bare)) return address;
  const prefix = groupsOf(bare).slice(0, OF_PREFIX);
  return `${prefix.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
