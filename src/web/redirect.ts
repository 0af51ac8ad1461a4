import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from '../context.ts';
import type { Metrics } from '../metrics.ts';
import { type Destination, openDestinations } from '../resources/clicks/destinations.ts';
import { openRecorder } from '../resources/clicks/recorder.ts';
import { rowOf } from '../resources/clicks/row.ts';
import { mint } from '../resources/clicks/token.ts';
import { type Asked, openVisits } from '../resources/clicks/visit.ts';
import { CONTENT_SECURITY_POLICY } from './page.ts';
import { laterPage, unknownLinkPage } from './unknown-link-page.ts';

/** Where short links begin. */
export const REDIRECTS = '/r/';

export interface Sender {
  address: string;
  /** Whether the socket's other end is one of the operator's own proxies. */
  isTrusted: boolean;
}

export type Redirect = (request: IncomingMessage, response: ServerResponse, sender: Sender) => void;

function slugOf(url: string): string {
  const query = url.indexOf('?', REDIRECTS.length);
  return query === -1 ? url.slice(REDIRECTS.length) : url.slice(REDIRECTS.length, query);
}

/** Any method with a body or an effect of its own is refused; HEAD and GET are answered alike. */
const isRead = (method: string | undefined) => method === 'GET' || method === 'HEAD';

function sendPage(response: ServerResponse, status: number, page: string, headers: Record<string, string> = {}): void {
  const length = { 'content-length': Buffer.byteLength(page) };
  const always = { 'content-security-policy': CONTENT_SECURITY_POLICY, 'cache-control': 'no-store' };
  response.writeHead(status, { ...always, ...length, 'content-type': 'text/html; charset=utf-8', ...headers });
  response.end(page);
}

function sendTo(response: ServerResponse, url: string, cookie: string | undefined, isRecorded: boolean): void {
  const headers = ['Location', url, 'Cache-Control', 'no-store', 'Content-Length', '0'];
  if (cookie !== undefined) headers.push('Set-Cookie', cookie);
  if (!isRecorded) headers.push('X-Click-Recorded', 'false');
  response.writeHead(302, headers);
  response.end();
}

/** Links of creators: the visitor is sent on as soon as the click is durable, or after a second without Redis. */
export function openRedirect(context: Context, metrics: Metrics): Redirect {
  const { clock, config, secrets, redis, log } = context;
  const clickKey = secrets.key('click');
  const destinations = openDestinations(context);
  const visitOf = openVisits(secrets.key('visitor'), config.linksUrl.startsWith('https:'));
  const recorder = openRecorder(redis, (clicks) => metrics.lostClicks.inc(clicks));

  function sendUnknown(response: ServerResponse): void {
    if (config.unknownLinkUrl === undefined) sendPage(response, 404, unknownLinkPage());
    else {
      response.writeHead(302, { location: config.unknownLinkUrl, 'cache-control': 'no-store', 'content-length': 0 });
      response.end();
    }
  }

  function sendOn(response: ServerResponse, asked: Asked, { linkId, mark, fields, before, after }: Destination): void {
    const { atMs } = asked;
    const visit = visitOf(asked);
    const { id, token } = mint(clickKey, { linkId, atMs });
    recorder.record({
      row: rowOf(id, fields, atMs, visit),
      visitors: visit.kind === 'counted' ? visit.knownAs.map((known) => known + mark) : [],
      onSettled: (isRecorded) => sendTo(response, before + token + after, visit.setCookie, isRecorded),
    });
  }

  return (request, response, { address, isTrusted }) => {
    const { method, headers } = request;
    if (!isRead(method)) return sendPage(response, 405, unknownLinkPage(), { allow: 'GET, HEAD' });
    const answer = (destination: Destination | undefined) => {
      if (!destination) sendUnknown(response);
      else sendOn(response, { atMs: clock.now().getTime(), method, headers, address, isTrusted }, destination);
    };
    const found = destinations.find(slugOf(request.url ?? ''));
    if (!(found instanceof Promise)) return answer(found);
    found.then(answer, (error: unknown) => {
      log.warn({ err: error }, 'a link cannot be looked up');
      sendPage(response, 503, laterPage(), { 'retry-after': '2' });
    });
  };
}
