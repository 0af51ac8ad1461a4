import { olderPath } from './declare.ts';

/** Of every answer under /api/v1, errors too: RFC 9745 and RFC 8288. `/v1` took its place on 2026-11-22. */
const DEPRECATED_AT = Date.UTC(2026, 10, 22) / 1000;

const PREFIX = olderPath('/v1/');

export const isLegacy = (url: string): boolean => url.startsWith(PREFIX) || url === PREFIX.slice(0, -1);

/** `apiUrl`: where the current interface is, when not on the same host. */
export function deprecationHeaders(url: string, apiUrl: string | undefined): Record<string, string> {
  const [path = ''] = url.split('?', 1);
  const successor = `${apiUrl ?? ''}/v1/${path.slice(PREFIX.length)}`.replace(/[<>"\s]/g, encodeURIComponent);
  return { deprecation: `@${DEPRECATED_AT}`, link: `<${successor}>; rel="successor-version"` };
}
