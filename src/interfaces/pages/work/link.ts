import type { PageLinks } from '../../../kit/access/page-tokens.ts';

const LIVES_MS = 365 * 24 * 60 * 60 * 1_000;

/** The page on this host where a deliverable, and the rest of its contract, is handed in. */
export function workLink(
  links: PageLinks,
  { id, linkVersion }: { id: string; linkVersion: number },
  now: Date,
): string {
  const link = { kind: 'work' as const, rowId: id, version: linkVersion };
  return new URL(links.urlOf({ ...link, expiresAt: new Date(now.getTime() + LIVES_MS) })).pathname;
}
