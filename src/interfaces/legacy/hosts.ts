import type { Config } from '../../kit/values/config.ts';
import { olderPath } from './declare.ts';

/** The date in the Deprecation header (RFC 9745) of every response under /api/v1, which `/v1` replaced on 2026-11-22. */
const DEPRECATED_AT = Date.UTC(2026, 10, 22) / 1000;

const PREFIX = olderPath('/v1/');

const isLegacy = (url: string): boolean => url.startsWith(PREFIX) || url === PREFIX.slice(0, -1);

/** `apiUrl` is the URL of the current interface, if it is on another host. */
function deprecationHeaders(url: string, apiUrl: string | undefined): Record<string, string> {
  const [path = ''] = url.split('?', 1);
  const successor = `${apiUrl ?? ''}/v1/${path.slice(PREFIX.length)}`.replace(/[<>"\s]/g, encodeURIComponent);
  return { deprecation: `@${DEPRECATED_AT}`, link: `<${successor}>; rel="successor-version"` };
}

/** Decides which of the two interfaces a host serves: both, unless the older one has a dedicated host. */
function hosts(legacyUrl: string | undefined): (host: string, url: string) => boolean {
  if (legacyUrl === undefined) return () => true;
  const older = new URL(legacyUrl).host;
  return (host, url) => (host === older) === isLegacy(url);
}

/** The older interface as the API's server needs it, besides its operations. */
export function olderInterface({ legacyUrl, apiUrl }: Pick<Config, 'legacyUrl' | 'apiUrl'>) {
  return {
    headersOf: (url: string) => (isLegacy(url) ? deprecationHeaders(url, apiUrl) : {}),
    isServed: hosts(legacyUrl),
  };
}
