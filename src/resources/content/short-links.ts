import { callOutside } from '../../engines/http/outside.ts';
import type { Config } from '../../values/config.ts';
import { type AddressProblem, type Post, readPostAddress } from './post-address.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 16 * 1024;
/** A short link may lead to the phone's page first. */
const MAX_HOPS = 3;

/** Where a platform's short link leads: its answer's `location`. */
async function locationOf({ tiktokLinksUrl, outboundAllow }: Config, shortUrl: string): Promise<string | undefined> {
  const at = new URL(shortUrl);
  const url = tiktokLinksUrl === undefined ? at : new URL(`${tiktokLinksUrl.replace(/\/$/, '')}${at.pathname}`);
  const answer = await callOutside({
    ...{ url, method: 'GET', headers: { accept: 'text/html' }, allow: outboundAllow },
    ...{ timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, answerAt: 'head' },
  });
  if (answer.outcome !== 'answered' || answer.status < 300 || answer.status > 399) return undefined;
  const { location } = answer.headers;
  return location !== undefined && URL.canParse(location, at.href) ? new URL(location, at).href : undefined;
}

/**
 * Reads a post's address, and asks the platform where its short link leads. Only hosts of known platforms are called. To be
 * called before a transaction opens.
 */
export async function resolvePost(config: Config, text: string): Promise<Post | AddressProblem | 'unresolved_link'> {
  let post = readPostAddress(text);
  for (let hop = 0; typeof post !== 'string' && post.isShort; hop += 1) {
    const location = hop < MAX_HOPS ? await locationOf(config, post.url) : undefined;
    if (location === undefined) return 'unresolved_link';
    post = readPostAddress(location);
  }
  return post;
}
