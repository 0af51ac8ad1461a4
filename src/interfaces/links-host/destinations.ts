import { LRUCache } from 'lru-cache';
import type { Context } from '../../kit/operation/context.ts';
import { ignoreFailure, unavailable } from '../../kit/values/errors.ts';
import { whole } from '../../kit/values/text.ts';
import { within } from '../../kit/values/within.ts';
import { CLICK_ID, mergeParameters, type Parameter, readParameters } from './forwarding.ts';
import { fingerprintLink, linkFields } from './row.ts';
import { type ClickedLink, listChangedLinks } from './waiting-clicks.ts';

/** A changed link takes effect everywhere within this time. */
const FRESH_MS = 1_000;
/** A clicked link older than this is read again, while the known version still serves. */
const REFRESH_MS = 500;
/** A link that cannot be read again keeps redirecting this long. */
const KEPT_MS = 3_600_000;
/** A known link waits this long to be read again, and no read takes longer. */
const KEEPS_WITHIN_MS = 1_000;
const READ_WITHIN_MS = 2_000;
/** For so long after a read that took too long no other is waited for where a link is known. */
const HANGS_MS = 5_000;
const KNOWN_SLUGS = 50_000;
/** A separate cache, so that invented slugs evict no real links. */
const UNKNOWN_SLUGS = 10_000;
const MAX_REFRESHED = 1_000;
const SLUG = /^[\w.~-]{1,200}$/;

/** The destination of a link, ready for a click id. */
export interface Destination {
  linkId: string;
  /** The key under which its clicks are noted for a while; see `linkFingerprintOf`. */
  fingerprint: string;
  fields: string;
  /** Its attribution window. */
  days: number;
  /** The address without its query. */
  page: string;
  /** Its own parameters. */
  own: readonly Parameter[];
  /** Takes the parameters of a click along. */
  forwards: boolean;
  before: string;
  after: string;
}

export const NO_PARAMETERS: readonly Parameter[] = [];

function writeBefore(page: string, parameters: readonly Parameter[]): string {
  let before = `${page}?`;
  for (const { text } of parameters) before += `${text}&`;
  return `${before}${CLICK_ID}=`;
}

/** The address up to the click id, with the parameters of the click. */
export function addForwarded(
  { page, own, before }: Pick<Destination, 'page' | 'own' | 'before'>,
  forwarded: readonly Parameter[],
): string {
  return forwarded.length === 0 ? before : writeBefore(page, mergeParameters(own, forwarded));
}

/** Cuts the URL where the click id goes; one that is there already gives way. Undefined: not a web address. */
export function cutDestination(
  destinationUrl: string,
): Pick<Destination, 'page' | 'own' | 'before' | 'after'> | undefined {
  const url = URL.parse(destinationUrl);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined;
  const { hash, search } = url;
  const own = search === '' ? NO_PARAMETERS : readParameters(search.slice(1));
  url.hash = '';
  url.search = '';
  return { page: url.href, own, before: writeBefore(url.href, own), after: hash };
}

function readDestination(link: ClickedLink | undefined): Destination | undefined {
  if (!link?.active || link.destinationUrl === null) return undefined;
  const parts = cutDestination(link.destinationUrl);
  return (
    parts && {
      linkId: link.id,
      fingerprint: fingerprintLink(link.id),
      fields: whole(linkFields(link)),
      days: link.attributionDays,
      ...parts,
      before: whole(parts.before),
      forwards: link.forwardParameters ?? true,
    }
  );
}

interface CachedDestination {
  /** A separate string: a slug as requested is a slice of everything the visitor sent. */
  slug: string;
  destination: Destination | undefined;
  version: string | null;
  readAtMs: number;
  /** Clicked since it was read. */
  isUsed: boolean;
}

const UNKNOWN = { destination: undefined, version: null };

const tooLate = () => unavailable('PostgreSQL', new Error(`Links were not read within ${READ_WITHIN_MS} ms.`));

interface LookupBatch {
  slugs: string[];
  entries: Promise<Map<string, CachedDestination>>;
}

export interface Destinations {
  /** Undefined: no link of this slug is active. At once when it is known, else as soon as PostgreSQL has answered. */
  find(slug: string): Destination | undefined | Promise<Destination | undefined>;
}

/** Active links by slug, at most a second old while PostgreSQL answers, and up to an hour while it does not. */
export function openDestinations({ postgres }: Pick<Context, 'postgres'>): Destinations {
  /** Clicked since they were read. */
  const usedSlugs = new Set<string>();
  // Read again, by whichever way, or forgotten.
  const dispose = (_entry: CachedDestination, slug: string) => void usedSlugs.delete(slug);
  const leading = new LRUCache<string, CachedDestination>({ max: KNOWN_SLUGS, dispose });
  const missing = new LRUCache<string, CachedDestination>({ max: UNKNOWN_SLUGS, dispose });
  const find = (slug: string) => leading.get(slug) ?? missing.get(slug);

  function keep(entry: CachedDestination): void {
    const [into, outOf] = entry.version === null ? [missing, leading] : [leading, missing];
    into.set(entry.slug, entry);
    outOf.delete(entry.slug);
  }

  const reading = new Map<string, Promise<CachedDestination>>();
  let batch: LookupBatch | undefined;
  let isRefreshing = false;
  /** Until when PostgreSQL is taken to hang. */
  let hangsUntilMs = 0;

  async function readAll(slugs: readonly string[]): Promise<Map<string, CachedDestination>> {
    const readAtMs = performance.now();
    const before = new Map(slugs.map((slug) => [slug, leading.peek(slug) ?? missing.peek(slug) ?? UNKNOWN]));
    const changedLinks = await within(READ_WITHIN_MS, listChangedLinks(postgres.db, before), tooLate);
    hangsUntilMs = 0;
    const entries = new Map<string, CachedDestination>();
    for (const [slug, { destination, version }] of before) {
      const link = changedLinks.get(slug);
      const now = link ? { destination: readDestination(link), version: link.version } : { destination, version };
      entries.set(slug, { slug, ...now, readAtMs, isUsed: false });
    }
    for (const entry of entries.values()) keep(entry);
    return entries;
  }

  /** Links that are requested in one turn of the event loop are read by one statement: after a pause all of them are outdated. */
  function openBatch(): LookupBatch {
    const slugs: string[] = [];
    const entries = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      batch = undefined;
      return readAll(slugs);
    });
    return { slugs, entries };
  }

  async function readNow(slug: string): Promise<CachedDestination> {
    batch ??= openBatch();
    batch.slugs.push(slug);
    const entry = (await batch.entries).get(slug);
    if (!entry) throw new Error(`${slug} was not read.`);
    return entry;
  }

  function read(slug: string): Promise<CachedDestination> {
    const underWay = reading.get(slug);
    if (underWay) return underWay;
    const pendingRead = readNow(slug).finally(() => reading.delete(slug));
    reading.set(slug, pendingRead);
    return pendingRead;
  }

  /** All that was clicked since, in one statement: one for each of 200 links clicked was 400 a second. */
  async function refresh(): Promise<void> {
    isRefreshing = true;
    try {
      await readAll([...usedSlugs].slice(0, MAX_REFRESHED));
    } finally {
      isRefreshing = false;
    }
  }

  async function readFirst(slug: string): Promise<Destination | undefined> {
    return (await read(slug)).destination;
  }

  async function readOrKeep(old: CachedDestination): Promise<Destination | undefined> {
    const latest = read(old.slug).catch(() => old);
    const entry = await within(KEEPS_WITHIN_MS, latest).catch(() => {
      hangsUntilMs = performance.now() + HANGS_MS;
      return old;
    });
    return entry.destination;
  }

  function serveOld(old: CachedDestination, ageMs: number): Destination | undefined | Promise<Destination | undefined> {
    if (ageMs >= KEPT_MS) return readFirst(old.slug);
    return performance.now() < hangsUntilMs ? old.destination : readOrKeep(old);
  }

  function serve(cached: CachedDestination): Destination | undefined | Promise<Destination | undefined> {
    if (!cached.isUsed) {
      cached.isUsed = true;
      usedSlugs.add(cached.slug);
    }
    const ageMs = performance.now() - cached.readAtMs;
    if (ageMs >= FRESH_MS) return serveOld(cached, ageMs);
    if (ageMs >= REFRESH_MS && !isRefreshing) refresh().catch(ignoreFailure('each is read by itself when too old'));
    return cached.destination;
  }

  return {
    find: (slugAsWritten) => {
      // Tries the slug as written first. A slug in a different case is still found.
      const asWritten = find(slugAsWritten);
      if (asWritten) return serve(asWritten);
      if (!SLUG.test(slugAsWritten)) return undefined;
      const slug = whole(slugAsWritten.toLowerCase());
      const cached = find(slug);
      return cached ? serve(cached) : readFirst(slug);
    },
  };
}
