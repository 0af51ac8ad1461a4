import { isIP } from 'node:net';
import { isPublic } from '../../../kit/engines/http/addresses.ts';
import { getClient } from '../formats/clients.ts';
import type { IntegrationRow } from './connections.ts';

type WarningCode = 'api_version' | 'webhook_port' | 'webhook_address';
export interface Warning {
  code: WarningCode;
  message: string;
}

type Reachable = Pick<IntegrationRow, 'provider' | 'baseUrl' | 'apiVersion' | 'status'>;

/** Ports that WordPress calls. */
const WOOCOMMERCE_PORTS = [80, 443, 8080];

/** True if only this machine or its network finds the host. */
function isPrivate(url: URL): boolean {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0) return !isPublic(host);
  return /^localhost$|\.(?:localhost|local|internal|lan)$/i.test(host) || !host.includes('.');
}

/** Lists reasons why a store at `baseUrl` would not reach the address of its webhooks. */
export function listAddressWarnings(
  { provider, baseUrl }: Pick<Reachable, 'provider' | 'baseUrl'>,
  linksUrl: string,
): Warning[] {
  const links = new URL(linksUrl);
  const port = Number(links.port) || (links.protocol === 'https:' ? 443 : 80);
  const warnings: Warning[] = [];
  if (provider === 'woocommerce' && !WOOCOMMERCE_PORTS.includes(port)) {
    const message = `WooCommerce delivers webhooks to the ports 80, 443 and 8080 only, and this address has port ${port}. Set LINKS_URL to an address without a port, behind a proxy.`;
    warnings.push({ code: 'webhook_port', message });
  }
  if (isPrivate(links) && !isPrivate(new URL(baseUrl))) {
    const message = `The store cannot reach ${links.host}, an address of this machine or network alone. Set LINKS_URL to an address on the internet.`;
    warnings.push({ code: 'webhook_address', message });
  } else if (provider === 'shopify' && links.protocol === 'http:' && !isPrivate(new URL(baseUrl))) {
    const message = 'Shopify delivers webhooks over https only. Set LINKS_URL to an address that begins with https://.';
    warnings.push({ code: 'webhook_address', message });
  }
  return warnings;
}

/** Lists problems that may keep a connection from working. */
export function listWarnings(row: Reachable, linksUrl: string): Warning[] {
  if (row.status === 'disconnected') return [];
  const { version } = getClient(row.provider);
  const isOther = version !== undefined && row.apiVersion !== null && row.apiVersion !== version;
  const message = `The store answers with version ${row.apiVersion} of its API instead of ${version}. Orders are still read; update Rollcall.`;
  return [...(isOther ? [{ code: 'api_version' as const, message }] : []), ...listAddressWarnings(row, linksUrl)];
}
