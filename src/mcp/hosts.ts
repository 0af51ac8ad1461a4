import { isIP } from 'node:net';
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import { ApiError } from '../values/errors.ts';

/** The address that a Host header is, in the form that the SDK compares; nothing where it is a name. */
function addressOf(host: string | undefined): string[] {
  const name = URL.parse(`http://${host}`)?.hostname ?? '';
  return isIP(name.replace(/^\[|\]$/g, '')) === 0 ? [] : [name];
}

/**
 * A page of a stranger can make a browser ask an address of the local network under the stranger's own name. So the Host
 * must be an address, localhost, or a name that the operator gave; and a browser's Origin must be one of these, too.
 */
export function assertKnownHost(host: string | undefined, origin: string | undefined, names: readonly string[]): void {
  if (!validateHostHeader(host, [...localhostAllowedHostnames(), ...names, ...addressOf(host)]).ok) {
    throw new ApiError('FOREIGN_HOST', 'This Host is not known here; the operator names it in MCP_HOSTS.');
  }
  if (!validateOriginHeader(origin, [...localhostAllowedOrigins(), ...names]).ok) {
    throw new ApiError('FOREIGN_HOST', 'Pages of this Origin may not call; the operator names theirs in MCP_HOSTS.');
  }
}
