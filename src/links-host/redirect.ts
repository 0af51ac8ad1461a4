import type { IncomingMessage } from 'node:http';
import type { Context } from '../api/context.ts';
import { openSenders } from '../api/http/sender.ts';
import type { Metrics } from '../api/metrics.ts';
import { contentPolicy } from '../pages/kit/page.ts';
import { openRepeatedFailures } from '../values/repeated-failures.ts';
import { type Destination, openDestinations } from './destinations.ts';
import { openRecorder } from './recorder.ts';
import { rowOf } from './row.ts';
import { mint } from './token.ts';
import { laterPage, unknownLinkPage } from './unknown-link-page.ts';
import { openVisits, type VisitHeaders, type VisitRequest } from './visit.ts';

/** Where short links begin. */
export const REDIRECTS = '/r/';

/** What is read of a request for a short link, whoever has parsed it. */
export interface LinkRequest extends Pick<IncomingMessage, 'method' | 'url' | 'socket'> {
  headers: VisitHeaders & NodeJS.Dict<string | string[]>;
}

/** Answers it, once. `fields` are the headers' lines as they are sent, each with its end: cheaper than what is put together. */
export type Send = (status: number, fields: string, body?: string) => void;

export type Redirect = (request: LinkRequest, send: Send) => void;

function slugOf(url: string): string {
  const query = url.indexOf('?', REDIRECTS.length);
  return query === -1 ? url.slice(REDIRECTS.length) : url.slice(REDIRECTS.length, query);
}

/** Any method with a body or an effect of its own is refused; HEAD and GET are answered alike. */
const isRead = (method: string | undefined) => method === 'GET' || method === 'HEAD';

const LINE_END = '\r\n';
const EMPTY = 'Cache-Control: no-store\r\nContent-Length: 0\r\n';

function sendPage(send: Send, status: number, page: string, ...more: string[]): void {
  const lines = [
    'Content-Type: text/html; charset=utf-8',
    `Content-Security-Policy: ${contentPolicy()}`,
    'Cache-Control: no-store',
    `Content-Length: ${Buffer.byteLength(page)}`,
    ...more,
  ];
  send(status, lines.map((line) => line + LINE_END).join(''), page);
}

function sendTo(send: Send, url: string, cookie: string | undefined, isRecorded: boolean): void {
  let fields = `Location: ${url}\r\n${EMPTY}`;
  if (cookie !== undefined) fields += `Set-Cookie: ${cookie}\r\n`;
  if (!isRecorded) fields += 'X-Click-Recorded: false\r\n';
  send(302, fields);
}

/** Links of creators: the visitor is sent on as soon as the click is durable, or after a second without Redis. */
export function openRedirect(context: Context, metrics: Metrics): Redirect {
  const { clock, config, secrets, redis, log } = context;
  const senderOf = openSenders(config.trustedProxies);
  const failures = openRepeatedFailures(log, clock);
  const clickKey = secrets.key('click');
  const destinations = openDestinations(context);
  const visitOf = openVisits(secrets.key('visitor'), config.linksUrl.startsWith('https:'));
  const { redirects } = metrics;
  const recorder = openRecorder(redis, (clicks) => metrics.lostClicks.inc(clicks));

  // Written anew by URL, so that it is plain ASCII in one line.
  const elsewhere = config.unknownLinkUrl && new URL(config.unknownLinkUrl).href;

  function sendUnknown(send: Send): void {
    redirects.unknown += 1;
    if (elsewhere === undefined) sendPage(send, 404, unknownLinkPage());
    else send(302, `Location: ${elsewhere}\r\n${EMPTY}`);
  }

  function sendOn(
    send: Send,
    visitRequest: VisitRequest,
    { linkId, fingerprint, fields, before, after }: Destination,
  ): void {
    const { atMs } = visitRequest;
    redirects.sent_on += 1;
    const visit = visitOf(visitRequest);
    const { id, token } = mint(clickKey, { linkId, atMs });
    recorder.record({
      row: rowOf(id, fields, atMs, visit),
      visitors: visit.kind === 'counted' ? visit.knownAs.map((known) => known + fingerprint) : [],
      onSettled: (isRecorded) => sendTo(send, before + token + after, visit.setCookie, isRecorded),
    });
  }

  const redirect: Redirect = (request, send) => {
    const { method, url = '', headers } = request;
    if (!isRead(method)) {
      redirects.not_allowed += 1;
      return sendPage(send, 405, unknownLinkPage(), 'Allow: GET, HEAD');
    }
    const { address, isTrusted } = senderOf(request);
    const answer = (destination: Destination | undefined) => {
      if (!destination) sendUnknown(send);
      else sendOn(send, { atMs: clock.now().getTime(), method, headers, address, isTrusted }, destination);
    };
    const found = destinations.find(slugOf(url));
    if (!(found instanceof Promise)) return answer(found);
    found.then(answer, (error: unknown) => {
      redirects.unavailable += 1;
      failures.failed('looking up links', error);
      sendPage(send, 503, laterPage(), 'Retry-After: 2');
    });
  };

  return (request, send) => {
    try {
      redirect(request, send);
    } catch (error) {
      log.error({ err: error }, 'a redirect failed');
      request.socket.destroy();
    }
  };
}
