import type { Config } from '../values/config.ts';
import { olderPath } from './declare.ts';

/** Of every answer under /api/v1, errors too: RFC 9745 and RFC 8288. `/v1` took its place on 2026-11-22. */
const DEPRECATED_AT = Date.UTC(2026, 10, 22) / 1000;

const PREFIX = olderPath('/v1/');

const isLegacy = (url: string): boolean => url.startsWith(PREFIX) || url === PREFIX.slice(0, -1);

/** `apiUrl`: where the current interface is, when not on the same host. */
function deprecationHeaders(url: string, apiUrl: string | undefined): Record<string, string> {
  const [path = ''] = url.split('?', 1);
  const successor = `${apiUrl ?? ''}/v1/${path.slice(PREFIX.length)}`.replace(/[<>"\s]/g, encodeURIComponent);
  return { deprecation: `@${DEPRECATED_AT}`, link: `<${successor}>; rel="successor-version"` };
}

/** Which of the two interfaces a host has: both, unless the older one has a host of its own. */
function hosts(legacyUrl: string | undefined): (host: string, url: string) => boolean {
  if (legacyUrl === undefined) return () => true;
  const older = new URL(legacyUrl).host;
  return (host, url) => (host === older) === isLegacy(url);
}

/** What the API's server must know of the older interface beside its operations. */
export function olderInterface({ legacyUrl, apiUrl }: Pick<Config, 'legacyUrl' | 'apiUrl'>) {
  return {
    headersOf: (url: string) => (isLegacy(url) ? deprecationHeaders(url, apiUrl) : {}),
    isServed: hosts(legacyUrl),
  };
}
