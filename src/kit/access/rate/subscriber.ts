import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

const GROUPS_OF_PREFIX = 4;

/** The subscriber that an address belongs to: for IPv6 the /64, because one subscriber has that many addresses. */
export function toSubscriber(text: string): string {
  if (isIPv4(text) || isIP(text) === 0) return text;
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const prefix = address.parts.slice(0, GROUPS_OF_PREFIX).map((group) => group.toString(16));
  return `${prefix.join(':')}::/64`;
}
