import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { prefersGzip } from '../accepted.ts';

export type SendPrebuilt = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

interface Prebuilt {
  plain: Buffer;
  zipped: Buffer;
  etag: string;
}

function built(text: string): Prebuilt {
  const plain = Buffer.from(text);
  const etag = `W/"${hash('sha256', plain, 'hex').slice(0, 32)}"`;
  return { plain, zipped: gzipSync(plain, { level: 9 }), etag };
}

/** Serves a text that is built and compressed once, at the first request. Responds 304 if the client has it. */
export function prebuild(type: string, textOf: () => string): SendPrebuilt {
  let cached: Prebuilt | undefined;
  return ({ headers }, reply) => {
    cached ??= built(textOf());
    const { plain, zipped, etag } = cached;
    reply.headers({ etag, vary: 'accept-encoding', 'cache-control': 'no-cache' });
    if (headers['if-none-match']?.split(',').some((one) => one.trim() === etag)) return reply.code(304).send();
    reply.type(`${type}; charset=utf-8`);
    return prefersGzip(headers['accept-encoding'])
      ? reply.header('content-encoding', 'gzip').send(zipped)
      : reply.send(plain);
  };
}
