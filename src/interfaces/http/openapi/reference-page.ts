import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { html } from '../../../kit/html/html.ts';
import { FAVICON, LOGO } from '../../../kit/html/logo.ts';
import { COLOURS } from '../../../kit/html/page.ts';
import { ApiError } from '../../../kit/values/errors.ts';
import { prefersGzip } from '../accepted.ts';

const STYLE = COLOURS + readFileSync(new URL('./reference.css', import.meta.url), 'utf8');

/** Only our own scripts run, without eval; the page uses inline styles. It makes no requests to other hosts. */
const contentSecurityPolicy = (scripts: readonly string[]) =>
  [
    "default-src 'self'",
    `script-src 'self' ${scripts.map((script) => `'sha256-${hash('sha256', script, 'base64')}'`).join(' ')}`,
    "img-src 'self' data:",
    "style-src 'self' 'unsafe-inline'",
    "object-src 'none'",
    "base-uri 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

const INLINE_SCRIPT = /<script(?: type="text\/javascript")?>([\s\S]*?)<\/script>/g;

/** Languages without a sample, and clients of the others: each language has one. */
const HIDDEN_CLIENTS: Record<string, true | string[]> = {
  ...Object.fromEntries(
    'c clojure dart fsharp http julia kotlin node objc ocaml powershell r rust swift'
      .split(' ')
      .map((name) => [name, true]),
  ),
  shell: ['httpie', 'wget'],
  js: ['axios', 'jquery', 'ofetch', 'xhr'],
  python: ['aiohttp', 'httpx_async', 'httpx_sync', 'python3'],
  php: ['curl', 'laravel'],
  java: ['asynchttp', 'nethttp', 'unirest'],
  csharp: ['restsharp'],
};

/** The bar above the reference, which is the manual's. */
const renderBar = (prefix: string) => {
  const link = (href: string, label: string) =>
    html`<a href="${href}"${href === `${prefix}/` ? html` aria-current="page"` : html``}>${label}</a>`;
  return html`<header class="rollcall-bar"><a href="/docs/">${LOGO}<span>Rollcall API</span></a>
<nav aria-label="Rollcall">${link('/manual', 'Manual')}${link('/docs/', 'API')}${link('/app', 'Web app')}</nav></header>
`.html;
};

export interface DocsPage {
  prefix: `/${string}`;
  title: string;
  document: string;
}

/** The pages as their package has them. It is five megabytes, so it is loaded for the first visitor and not at the start. */
export async function openScalar(pages: readonly DocsPage[]): Promise<FastifyInstance> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = Fastify({ routerOptions: { ignoreTrailingSlash: true } });
  for (const { prefix, title, document } of pages) {
    await app.register(scalar, {
      routePrefix: prefix,
      configuration: {
        url: document,
        pageTitle: title,
        favicon: FAVICON,
        // Fonts, telemetry and assistants would call other hosts.
        withDefaultFonts: false,
        telemetry: false,
        agent: { disabled: true },
        mcp: { disabled: true },
        theme: 'none',
        customCss: STYLE,
        // The page follows the system, as the manual does.
        hideDarkModeToggle: true,
        hiddenClients: HIDDEN_CLIENTS,
        featuredClients: ['shell/curl', 'js/fetch', 'python/requests', 'php/guzzle', 'ruby/native', 'go/native'],
        defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
        documentDownloadType: 'json',
        hideModels: true,
        hideClientButton: true,
        showDeveloperTools: 'never',
        persistAuth: false,
        defaultOpenFirstTag: true,
        authentication: { preferredSecurityScheme: 'apiKey' },
      },
    });
  }
  return app;
}

/** A page for trying the operations of a document with a key. */
export function docsPage(app: FastifyInstance, prefix: string, scalar: () => Promise<FastifyInstance>): void {
  let program: Promise<Buffer> | undefined;
  // The package builds a URL from the Host header, and fails if that is invalid.
  app.addHook('onRequest', async ({ protocol, host }) => {
    if (!URL.canParse(`${protocol}://${host}`))
      throw new ApiError('BAD_REQUEST', 'The Host header is not a valid host name.');
  });
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string') return payload;
    if (!request.url.includes('/js/')) {
      const scripts = [...payload.matchAll(INLINE_SCRIPT)].map(([, script = '']) => script);
      reply.header('content-security-policy', contentSecurityPolicy(scripts));
      return payload.replace('<html>', '<html lang="en">').replace('<body>', `<body>\n${renderBar(prefix)}`);
    }
    // The package would send its five megabytes uncompressed and uncached.
    reply.headers({ vary: 'accept-encoding', 'cache-control': 'public, max-age=86400' });
    if (!prefersGzip(request.headers['accept-encoding'])) return payload;
    program ??= promisify(gzip)(payload);
    reply.header('content-encoding', 'gzip').removeHeader('content-length');
    return await program;
  });
  for (const path of [`${prefix}/`, `${prefix}/js/scalar.js`]) {
    app.get(path, async ({ url }, reply) => {
      const { statusCode, headers, body } = await (await scalar()).inject({ url });
      const { 'content-type': type, location } = headers;
      if (location !== undefined) return await reply.redirect(location, statusCode);
      return await reply.type(`${type}`).send(body);
    });
  }
}
