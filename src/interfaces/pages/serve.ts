import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type AddressLimit, openAddressLimit } from '../../kit/access/rate-limit.ts';
import { type Form, readForm } from '../../kit/html/form.ts';
import { type Html, html } from '../../kit/html/html.ts';
import { type BrandFace, ownPageLink, page, pageHeaders } from '../../kit/html/page.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { FormPart } from '../../kit/operation/upload.ts';
import { inWork } from '../../kit/operation/work.ts';
import { ApiError, toApiError } from '../../kit/values/errors.ts';
import { logFailure } from '../../kit/values/log.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { isPerson } from '../../kit/values/visitor.ts';
import { findBrandFace } from '../../platform/brands/brands.ts';
import { isForm, readParts, takeForms } from '../http/form.ts';
import { unreadable } from '../http/request.ts';
import type { CreatorPage, OpenPage, PageAnswer, PageVisit } from './declare.ts';
import { creatorPages } from './pages.ts';

const POSTS_PER_MINUTE = 10;
const FORM_LIMIT_BYTES = 64 * 1024;

const Params = z.object({ token: z.string() });
const Query = z.record(z.string(), z.string().catch('')).catch({});

/** The same answer for unknown, revoked and expired links, so that callers cannot tell them apart. */
const MISSING = page(
  'Not found',
  html`<h1>Not found</h1>
<p>There is nothing at this address. The link may have ended. Check it, or ask the brand for a new one.</p>
<p>Everything between you and a brand is also on your own page.</p>
<p><a class="button" href="/me">Email me the link to it</a></p>`,
);

async function send(reply: FastifyReply, status: number, text: string, brand?: BrandFace): Promise<FastifyReply> {
  return await reply.code(status).headers(pageHeaders(brand)).type('text/html; charset=utf-8').send(text);
}

function explain({ status, headers }: Pick<ApiError, 'status' | 'headers'>): string {
  switch (status) {
    case 400:
      return 'What you sent arrived incomplete. Please try again.';
    case 403:
      return 'This was not sent from the page itself. Please open the link that you were given and try again.';
    case 408:
      return 'Your connection was too slow: what you sent did not arrive in time. Please try again.';
    case 409:
      return 'Something has changed in the meantime. Please open the link that you were given again.';
    case 413:
      return 'This is larger than we can accept.';
    case 415:
      return 'Please use the form on the page.';
    case 429:
      return `Too much was sent from your network. Please try again in ${headers['retry-after']} seconds.`;
    case 503:
      return 'We cannot accept this right now. Please try again in a minute.';
    default:
      return 'Something went wrong on our side. Please try again later.';
  }
}

const failure = (answer: Pick<ApiError, 'status' | 'headers'>): string =>
  page(
    'Not sent',
    html`<h1>Not sent</h1>
<p>${explain(answer)}</p>
<p>Go back with your browser to find what you typed.</p>`,
  );

/**
 * Browsers report where a post comes from. Other clients do not, but they have no user's cookies that could be misused.
 */
function isFromPage({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin';
}

function formOfRequest({ headers, body }: FastifyRequest): Form {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers['content-type'] ?? '')) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'This page accepts only its own form.');
  }
  return readForm(Buffer.isBuffer(body) ? body : Buffer.alloc(0));
}

function readFormParts(request: FastifyRequest, upload: Upload | undefined): AsyncIterable<FormPart> {
  if (!upload || !isForm(request)) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'This page accepts only its own form.');
  }
  return readParts(request, upload);
}

interface Upload {
  maxFiles: number;
  maxFileBytes: number;
}

const getUpload = ({ upload }: CreatorPage, { config }: Context): Upload | undefined =>
  upload && { ...upload, maxFileBytes: config.maxAssetBytes };

interface Opened {
  openPage: OpenPage;
  visit: Omit<PageVisit<unknown>, 'row'>;
}

/** The row behind a link and the facts of the visit; undefined if the link opens nothing. */
async function openVisit(context: Context, kind: CreatorPage, request: FastifyRequest): Promise<Opened | undefined> {
  const { postgres, clock, pageLinks } = context;
  const { token } = Params.parse(request.params);
  const now = clock.now();
  const link = pageLinks.read(kind.kind, token, now);
  const openPage = link && (await kind.open(context, link));
  const brand = openPage && (await findBrandFace(postgres.db, openPage.brandId));
  if (!link || !openPage || !brand) return undefined;
  const { id: requestId, headers, ip: address } = request;
  const actor = { brandId: openPage.brandId, keyId: null, operation: `page_${kind.kind}`, requestId };
  const visit = {
    context,
    brand,
    link,
    now,
    requestId,
    address,
    action: `/${kind.kind}/${token}`,
    query: Query.parse(request.query),
    // A HEAD shows nobody anything.
    isPerson: request.method !== 'HEAD' && isPerson(headers),
    userAgent: headers['user-agent'] ?? '',
    form: () => formOfRequest(request),
    parts: () => readFormParts(request, getUpload(kind, context)),
    inWork: <T>(change: Parameters<typeof inWork<T>>[3]) => inWork(postgres.db, clock, actor, change),
  };
  return { openPage, visit };
}

/** These lead to the creator’s own page by mail only: a creator may pass on the link to one page, and not everything. */
const PARTS: ReadonlySet<CreatorPage['kind']> = new Set([
  'brief',
  'parcel',
  'payment',
  'sign',
  'statement',
  'talk',
  'work',
]);
const renderBack = (
  brand: BrandFace,
): Html => html`<p class="hint back">${ownPageLink(brand, html`<span aria-hidden="true">← </span>Your page with ${brand.name}`)}</p>
`;

async function answer(
  reply: FastifyReply,
  { kind }: CreatorPage,
  pageAnswer: PageAnswer,
  brand: BrandFace,
): Promise<FastifyReply> {
  if ('seeOther' in pageAnswer) return reply.redirect(pageAnswer.seeOther, 303);
  if ('json' in pageAnswer) {
    const headers = { ...pageHeaders(), 'content-disposition': `attachment; filename="${pageAnswer.fileName}"` };
    return await reply
      .headers(headers)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(pageAnswer.json, null, 2));
  }
  const content = PARTS.has(kind) ? html`${renderBack(brand)}${pageAnswer.content}` : pageAnswer.content;
  return await send(
    reply,
    pageAnswer.status ?? 200,
    page(`${pageAnswer.title} – ${brand.name}`, content, brand),
    brand,
  );
}

interface Serving {
  context: Context;
  metrics: Metrics;
  addresses: AddressLimit;
}

function register(app: FastifyInstance, { context, metrics, addresses }: Serving, kind: CreatorPage): void {
  const url = `/${kind.kind}/:token`;
  const options = {
    bodyLimit: FORM_LIMIT_BYTES,
    errorHandler: async (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      const refusal = toApiError(unreadable(error));
      logFailure(context.log, refusal, request.id);
      metrics.refusals.inc({ door: `page_${kind.kind}`, code: refusal.code });
      await send(reply.headers(refusal.headers), refusal.status, failure(refusal));
    },
    onResponse: (_request: FastifyRequest, reply: FastifyReply, done: () => void) => {
      const labels = { operation: `page_${kind.kind}`, status: String(reply.statusCode) };
      metrics.requests.observe(labels, reply.elapsedTime / 1000);
      done();
    },
  };

  app.get(url, options, async (request, reply) => {
    const opening = await openVisit(context, kind, request);
    if (!opening) return await send(reply, 404, kind.ended ?? MISSING);
    return await answer(reply, kind, await opening.openPage.show(opening.visit), opening.visit.brand);
  });
  if (!kind.hasSubmit) return;
  app.post(url, options, async (request, reply) => {
    const refusal = await addresses.count(request.ip, () => undefined);
    if (refusal) throw refusal;
    if (!isFromPage(request)) return await send(reply, 403, failure({ status: 403, headers: {} }));
    const opening = await openVisit(context, kind, request);
    if (!opening) return await send(reply, 404, kind.ended ?? MISSING);
    return await answer(reply, kind, await opening.openPage.submit(opening.visit), opening.visit.brand);
  });
}

/** The pages that open with a link alone. They are not part of the API: HTML, no key, and a separate rate limit. */
export async function pageRoutes(app: FastifyInstance, context: Context, metrics: Metrics): Promise<void> {
  const allowance = { name: 'pages', limit: POSTS_PER_MINUTE };
  const serving = { context, metrics, addresses: openAddressLimit(context.redis, context.clock, metrics, allowance) };
  for (const kind of creatorPages) {
    const { upload } = kind;
    if (!upload) register(app, serving, kind);
    else {
      await app.register(async (scope) => {
        takeForms(scope);
        register(scope, serving, kind);
      });
    }
  }
}
