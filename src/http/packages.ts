import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ApiError, ignoreFailure } from '../values/errors.ts';

/** What clients/build.ts makes: an npm package, a wheel, and its source distribution. */
const TYPES: readonly [RegExp, string][] = [
  [/^rollcall-client-[\w.]+\.tgz$/, 'application/gzip'],
  [/^rollcall_client-[\w.]+-py3-none-any\.whl$/, 'application/zip'],
  [/^rollcall_client-[\w.]+\.tar\.gz$/, 'application/gzip'],
];

const typeOf = (name: string) => TYPES.find(([pattern]) => pattern.test(name))?.[1];
const Params = z.object({ name: z.string() });

/** Serves the client packages under `/clients/`, once `node clients/build.ts` has made them in `folder`. */
export function packageRoutes(app: FastifyInstance, folder: string): void {
  async function read(name: string): Promise<Buffer | undefined> {
    return await readFile(path.join(folder, name)).catch(ignoreFailure('not built'));
  }

  app.get('/clients/', async () => {
    const names = (await readdir(folder).catch(ignoreFailure('not built'))) ?? [];
    const packages = names.filter((name) => typeOf(name) !== undefined).sort();
    const data = packages.map(async (name) => {
      const bytes = (await read(name)) ?? Buffer.alloc(0);
      return { url: `/clients/${name}`, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
    });
    return { data: await Promise.all(data) };
  });

  app.get('/clients/:name', async (request, reply) => {
    const { name } = Params.parse(request.params);
    const type = typeOf(name);
    const bytes = type === undefined ? undefined : await read(name);
    if (bytes === undefined) {
      throw new ApiError(
        'NOT_FOUND',
        'There is no such package: GET /clients/ lists what `node clients/build.ts` made.',
      );
    }
    return await reply
      .type(type ?? '')
      .header('cache-control', 'no-cache')
      .send(bytes);
  });
}
