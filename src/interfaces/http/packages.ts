import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ApiError, ignoreFailure } from '../../kit/values/errors.ts';

/** Files that clients/build.ts makes: an npm package, a wheel, and its source distribution. */
const TYPES: readonly [RegExp, string][] = [
  [/^rollcall-client-[\w.]+\.tgz$/, 'application/gzip'],
  [/^rollcall_client-[\w.]+-py3-none-any\.whl$/, 'application/zip'],
  [/^rollcall_client-[\w.]+\.tar\.gz$/, 'application/gzip'],
];

const getContentType = (name: string) => TYPES.find(([pattern]) => pattern.test(name))?.[1];

/** Names without a version, which stand for the newest package of their kind. */
const NEWEST: ReadonlyMap<string, { client: string; ending: string }> = new Map([
  ['typescript.tgz', { client: 'typescript', ending: '.tgz' }],
  ['python.whl', { client: 'python', ending: '.whl' }],
]);
const byVersion = new Intl.Collator('en', { numeric: true });

const Params = z.object({ name: z.string() });

export interface ClientBuilder {
  /** Makes the package of a client in the folder. */
  build(client: string): Promise<unknown>;
  /** The time of the last change of the API that a client is made for, in ms since 1970. */
  changedAt(): Promise<number>;
}

/**
 * Serves the client packages under `/clients/` that `node clients/build.ts` has made in `folder`. With a builder, the first
 * request of a package without a version waits for it, also after the API has changed; npm and pip wait longer than it takes.
 */
export function packageRoutes(app: FastifyInstance, folder: string, builder?: ClientBuilder): void {
  const building = new Map<string, Promise<unknown>>();

  async function built(client: string): Promise<void> {
    if (!builder) return;
    const turn = building.get(client) ?? builder.build(client).finally(() => building.delete(client));
    building.set(client, turn);
    try {
      await turn;
    } catch (error) {
      app.log.warn({ err: error }, 'the client package was not built');
      const message = 'The package could not be built. The log of the server says why.';
      throw new ApiError('SERVICE_UNAVAILABLE', message, { cause: error });
    }
  }

  async function read(name: string): Promise<Buffer | undefined> {
    return await readFile(path.join(folder, name)).catch(ignoreFailure('not built'));
  }

  async function listPackages(): Promise<string[]> {
    const names = (await readdir(folder).catch(ignoreFailure('not built'))) ?? [];
    return names.filter((name) => getContentType(name) !== undefined).sort();
  }

  /** The newest package of a kind, unless the API has changed since it was built. */
  async function current(ending: string): Promise<string | undefined> {
    const names = (await listPackages()).filter((name) => name.endsWith(ending));
    const name = names.sort(byVersion.compare).at(-1);
    if (!builder || name === undefined) return name;
    const { mtimeMs } = await stat(path.join(folder, name));
    return mtimeMs < (await builder.changedAt()) ? undefined : name;
  }

  async function newest({ client, ending }: { client: string; ending: string }): Promise<string> {
    // One that is being built is there before it is whole.
    const fileName = building.has(client) ? undefined : await current(ending);
    if (fileName === undefined) await built(client);
    return fileName ?? (await current(ending)) ?? '';
  }

  app.get('/clients/', async () => {
    const names = await listPackages();
    const data = names.map(async (name) => {
      const bytes = (await read(name)) ?? Buffer.alloc(0);
      return { url: `/clients/${name}`, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
    });
    const missing: string[] = [];
    for (const [name, { ending }] of NEWEST) {
      if (builder && (await current(ending)) === undefined) missing.push(`/clients/${name}`);
    }
    return { data: await Promise.all(data), ...(missing.length > 0 && { built_on_request: missing }) };
  });

  app.get('/clients/:name', async (request, reply) => {
    const params = Params.parse(request.params);
    const client = NEWEST.get(params.name);
    const name = client ? await newest(client) : params.name;
    const type = getContentType(name);
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
