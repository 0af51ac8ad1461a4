import { BlockList, isIP } from 'node:net';

/** RFC 6890 and IANA's special-purpose registry: nothing of the public internet is behind these. */
const PRIVATE_4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** Of IPv6 only global unicast is public, and of that not what carries another address inside or is for documents. */
const PUBLIC_6 = ['2000::/3'];
const PRIVATE_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const NETWORK = /^([^/]+)(?:\/(\d{1,3}))?$/;

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [, address = '', prefix] = NETWORK.exec(network) ?? [];
    const family = isIP(address);
    if (family === 0) throw new Error(`${JSON.stringify(network)} is no address or network.`);
    const bits = prefix === undefined ? (family === 4 ? 32 : 128) : Number(prefix);
    list.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

const private4 = blockListOf(PRIVATE_4);
const public6 = blockListOf(PUBLIC_6);
const private6 = blockListOf(PRIVATE_6);

const isIn = (list: BlockList, address: string) => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Whether an address belongs to the public internet. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !isIn(private4, address);
  return isIP(address) === 6 && isIn(public6, address) && !isIn(private6, address);
}

const lists = new Map<string, BlockList>();

/** Whether the operator lets calls reach this address although it may be private. */
export function isAllowed(address: string, allow: readonly string[]): boolean {
  const key = allow.join(',');
  const list = lists.get(key) ?? blockListOf(allow);
  lists.set(key, list);
  return isIP(address) !== 0 && isIn(list, address);
}
