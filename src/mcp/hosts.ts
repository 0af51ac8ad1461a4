import { isIP } from 'node:net';
import { ApiError } from '../values/errors.ts';

const LOCAL = ['localhost', '127.0.0.1', '[::1]'];

function nameOf(host: string): string | undefined {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname.toLowerCase() : undefined;
}

/**
 * A page of a stranger can make a browser ask an address of the local network under the stranger's own name. So the Host
 * must be an address, localhost, or a name that the operator gave; and a browser's Origin must be one of these, too.
 */
export function assertKnownHost(host: string | undefined, origin: string | undefined, names: readonly string[]): void {
  const isKnown = (name: string | undefined) =>
    name !== undefined && (LOCAL.includes(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0 || names.includes(name));
  if (!isKnown(nameOf(host ?? ''))) {
    throw new ApiError('FOREIGN_HOST', 'This Host is not known here; the operator names it in MCP_HOSTS.');
  }
  if (origin === undefined) return;
  const from = URL.canParse(origin) ? new URL(origin).hostname.toLowerCase() : undefined;
  if (from !== undefined && (LOCAL.includes(from) || names.includes(from))) return;
  throw new ApiError('FOREIGN_HOST', 'Pages of this Origin may not call; the operator names theirs in MCP_HOSTS.');
}
