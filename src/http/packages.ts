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

/** Names without a version, which stand for the newest package of their kind. */
const NEWEST: ReadonlyMap<string, string> = new Map([
  ['typescript.tgz', '.tgz'],
  ['python.whl', '.whl'],
]);
const byVersion = new Intl.Collator('en', { numeric: true });

const Params = z.object({ name: z.string() });

/** Serves the client packages under `/clients/`, once `node clients/build.ts` has made them in `folder`. */
export function packageRoutes(app: FastifyInstance, folder: string): void {
  async function read(name: string): Promise<Buffer | undefined> {
    return await readFile(path.join(folder, name)).catch(ignoreFailure('not built'));
  }

  async function listPackages(): Promise<string[]> {
    const names = (await readdir(folder).catch(ignoreFailure('not built'))) ?? [];
    return names.filter((name) => typeOf(name) !== undefined).sort();
  }

  app.get('/clients/', async () => {
    const data = (await listPackages()).map(async (name) => {
      const bytes = (await read(name)) ?? Buffer.alloc(0);
      return { url: `/clients/${name}`, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
    });
    return { data: await Promise.all(data) };
  });

  app.get('/clients/:name', async (request, reply) => {
    const params = Params.parse(request.params);
    const ending = NEWEST.get(params.name);
    const versions = ending === undefined ? [] : (await listPackages()).filter((name) => name.endsWith(ending));
    const newest = versions.sort(byVersion.compare).at(-1);
    const name = newest ?? params.name;
    const type = typeOf(name);
    const bytes = type === undefined ? undefined : await read(name);
    if (bytes === undefined) {
      throw new ApiError(
        'NOT_FOUND',
        'No such package: GET /clients/ lists the packages that `node clients/build.ts` built.',
      );
    }
    return await reply
      .type(type ?? '')
      .header('cache-control', 'no-cache')
      // pip reads the version from the file's name.
      .header('content-disposition', `attachment; filename="${name}"`)
      .send(bytes);
  });
}
