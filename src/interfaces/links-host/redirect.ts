import type { IncomingMessage, ServerResponse } from 'node:http';
import { contentPolicy } from '../../kit/html/page.ts';
import type { Context } from '../../kit/operation/context.ts';
import { mint } from '../../kit/values/click-token.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { openRepeatedFailures } from '../../kit/values/repeated-failures.ts';
import { openSenders } from '../http/sender.ts';
import { addForwarded, type Destination, NO_PARAMETERS, openDestinations } from './destinations.ts';
import { readForwarded } from './forwarding.ts';
import { openRecorder } from './recorder.ts';
import { toRow } from './row.ts';
import { laterPage, unknownLinkPage } from './unknown-link-page.ts';
import { NO_UTM, toUtmFields } from './utm.ts';
import { openVisits, type VisitRequest } from './visit.ts';

/** Path prefix of short links. */
export const REDIRECTS = '/r/';

export type Redirect = (request: IncomingMessage, response: ServerResponse) => void;

/** Any method with a body or a side effect is refused; HEAD and GET are answered alike. */
const isRead = (method: string | undefined) => method === 'GET' || method === 'HEAD';

/** Signs that mail programs, chats and people leave behind a link; none of them ends a slug. */
const BEHIND_LINK =
  /(?:[/.,;:!)\]}>'"*]|%20|%22|%27|%29|%5D|%7D|%3E|%C2%A0|%E2%80%(?:8B|8C|8D|8E|8F|99|9D|A6)|%EF%BB%BF)+$/i;

const LONGEST_SLUG = 250;

/** Names and values by turns: Node checks and joins a flat list faster than an object. */
const EMPTY = ['Cache-Control', 'no-store', 'Content-Length', '0'] as const;

function sendPage(response: ServerResponse, status: number, page: string, ...more: string[]): void {
  const headers = [
    'Content-Type',
    'text/html; charset=utf-8',
    'Content-Security-Policy',
    contentPolicy(),
    'Cache-Control',
    'no-store',
    'Content-Length',
    String(Buffer.byteLength(page)),
    ...more,
  ];
  response.writeHead(status, headers).end(page);
}

function sendTo(response: ServerResponse, url: string, cookie: string | undefined, isRecorded: boolean): void {
  const headers = ['Location', url, ...EMPTY];
  if (cookie !== undefined) headers.push('Set-Cookie', cookie);
  if (!isRecorded) headers.push('X-Click-Recorded', 'false');
  response.writeHead(302, headers).end();
}

/** Links of creators: the visitor is sent on as soon as the click is durable, or after a second without Redis. */
export function openRedirect(context: Context, metrics: Metrics): Redirect {
  const { clock, config, secrets, clicksRedis, log } = context;
  const senderOf = openSenders(config.trustedProxies);
  const failures = openRepeatedFailures(log, clock);
  const clickKey = secrets.key('click');
  const destinations = openDestinations(context);
  const visitOf = openVisits(secrets.key('visitor'), config.linksUrl.startsWith('https:'));
  const { redirects } = metrics;
  const recorder = openRecorder(clicksRedis, config.maxClicksBytes, (clicks) => metrics.lostClicks.inc(clicks));

  // Normalised by URL, so that it is plain ASCII on one line.
  const elsewhere = config.unknownLinkUrl && new URL(config.unknownLinkUrl).href;

  function sendUnknown(response: ServerResponse): void {
    redirects.unknown += 1;
    if (elsewhere === undefined) sendPage(response, 404, unknownLinkPage());
    else response.writeHead(302, ['Location', elsewhere, ...EMPTY]).end();
  }

  function sendOn(response: ServerResponse, visitRequest: VisitRequest, destination: Destination, query: string): void {
    const { linkId, fingerprint, fields, days, after } = destination;
    const { atMs } = visitRequest;
    redirects.sent_on += 1;
    const visit = visitOf(visitRequest);
    const parameters = query === '' || !destination.forwards ? NO_PARAMETERS : readForwarded(query);
    const utm = parameters.length === 0 ? NO_UTM : toUtmFields(parameters);
    const { id, token } = mint(clickKey, { linkId, atMs, days });
    recorder.record({
      row: toRow(id, fields, atMs, visit, utm),
      visitors: visit.kind === 'counted' ? visit.knownAs.map((known) => known + fingerprint) : [],
      onSettled: (isRecorded) => {
        // What a page loads for itself brings no buyer, so it gets no click to keep.
        const clickId = visit.kind === 'embedded' ? '' : token;
        sendTo(response, addForwarded(destination, parameters) + clickId + after, visit.setCookie, isRecorded);
      },
    });
  }

  /** A link as it stands in a text may have a slash, a bracket or the end of a sentence behind it. */
  function findLink(slug: string): Destination | undefined | Promise<Destination | undefined> {
    const findBare = () => {
      const bare = slug.length > LONGEST_SLUG ? slug : slug.replace(BEHIND_LINK, '');
      return bare === slug ? undefined : destinations.find(bare);
    };
    const found = destinations.find(slug);
    if (found instanceof Promise) return found.then((destination) => destination ?? findBare());
    return found ?? findBare();
  }

  const redirect: Redirect = (request, response) => {
    const { method, url = '', headers } = request;
    if (!isRead(method)) {
      redirects.not_allowed += 1;
      return sendPage(response, 405, unknownLinkPage(), 'Allow', 'GET, HEAD');
    }
    const { address, isTrusted } = senderOf(request);
    const slugEnd = url.indexOf('?', REDIRECTS.length);
    const slug = slugEnd === -1 ? url.slice(REDIRECTS.length) : url.slice(REDIRECTS.length, slugEnd);
    const query = slugEnd === -1 ? '' : url.slice(slugEnd + 1);
    const answer = (destination: Destination | undefined) => {
      if (!destination) sendUnknown(response);
      else sendOn(response, { atMs: clock.now().getTime(), method, headers, address, isTrusted }, destination, query);
    };
    const destination = findLink(slug);
    if (!(destination instanceof Promise)) return answer(destination);
    destination.then(answer, (error: unknown) => {
      redirects.unavailable += 1;
      failures.failed('looking up links', error);
      sendPage(response, 503, laterPage(), 'Retry-After', '2');
    });
  };

  return (request, response) => {
    try {
      redirect(request, response);
    } catch (error) {
      log.error({ err: error }, 'a redirect failed');
      request.socket.destroy();
    }
  };
}
