import { isIP } from 'node:net';
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import { ApiError } from '../../kit/values/errors.ts';

/** The IP address in a Host header, in the form that the SDK compares; empty if it is a name. */
function parseAddress(host: string | undefined): string[] {
  const name = URL.parse(`http://${host}`)?.hostname ?? '';
  return isIP(name.replace(/^\[|\]$/g, '')) === 0 ? [] : [name];
}

/**
 * Prevents DNS rebinding, by which a foreign page makes a browser call a local address under the page's own host name.
 * The Host must be an IP address, localhost or a name that the operator configured, and so must a browser's Origin.
 */
export function assertKnownHost(host: string | undefined, origin: string | undefined, names: readonly string[]): void {
  if (!validateHostHeader(host, [...localhostAllowedHostnames(), ...names, ...parseAddress(host)]).ok) {
    throw new ApiError('FOREIGN_HOST', 'This Host is unknown; the operator can add it to MCP_HOSTS.');
  }
  if (!validateOriginHeader(origin, [...localhostAllowedOrigins(), ...names]).ok) {
    throw new ApiError('FOREIGN_HOST', 'Pages of this Origin may not call; the operator can add it to MCP_HOSTS.');
  }
}
