import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { prebuild } from '../http/openapi/prebuilt.ts';
import { MANUAL_HEADERS, renderHits, renderMissing, renderPage, renderStart, renderSubshelf } from './layout.ts';
import { readPicture } from './pictures.ts';
import { openSearch } from './search.ts';
import { ENTRIES, SUBSHELVES } from './shelves.ts';

const MAX_QUERY = 200;
const Query = z.object({ q: z.string().catch('') }).catch({ q: '' });

/** Serves the README and `docs/` at `/manual`. A page is rendered for its first reader, and kept. */
export function manualRoutes(app: FastifyInstance): void {
  const serve = (url: string, render: () => string) => {
    const send = prebuild('text/html', render);
    app.get(url, (request, reply) => send(request, reply.headers(MANUAL_HEADERS)));
  };
  const sendStart = prebuild('text/html', renderStart);
  app.get('/manual', (request, reply) => {
    const { q } = Query.parse(request.query);
    if (q !== '') return reply.redirect(`/manual/search?q=${encodeURIComponent(q)}`, 302);
    return sendStart(request, reply.headers(MANUAL_HEADERS));
  });
  for (const entry of ENTRIES) serve(`/manual/${entry.name}`, () => renderPage(entry));
  for (const subshelf of SUBSHELVES) serve(`/manual/${subshelf.name}`, () => renderSubshelf(subshelf));

  let search: ReturnType<typeof openSearch> | undefined;
  app.get('/manual/search', async (request, reply) => {
    const query = Query.parse(request.query).q.trim().slice(0, MAX_QUERY);
    search ??= openSearch();
    const hits = (await search)(query);
    return reply.headers(MANUAL_HEADERS).type('text/html; charset=utf-8').send(renderHits(query, hits));
  });
  const sendMissing = (reply: FastifyReply) =>
    reply.code(404).headers(MANUAL_HEADERS).type('text/html; charset=utf-8').send(renderMissing());
  app.get<{ Params: { name: string } }>('/manual/pictures/:name', ({ params }, reply) => {
    const picture = readPicture(params.name);
    if (picture === undefined) return sendMissing(reply);
    return reply.type('image/webp').header('cache-control', 'public, max-age=3600').send(picture);
  });
  app.get('/manual/*', (_request, reply) => sendMissing(reply));
}
