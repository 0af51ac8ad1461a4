import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { findVulnerabilities } from '../check/vulnerabilities.ts';

const BULK = '/-/npm/v1/security/advisories/bulk';
const Versions = z.record(z.string(), z.array(z.string()));

/** A registry that knows advisories: what was asked about, and what it answers. */
let server: Server;
let asked: z.output<typeof Versions>[] = [];
let answer: { status: number; body: string };
beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const isBulk = request.method === 'POST' && request.url === BULK;
      if (isBulk) {
        const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
        asked.push(Versions.parse(JSON.parse(text.toString('utf8'))));
      }
      // It has no package, so that npm looks up nothing more about those that are named.
      response.writeHead(isBulk ? answer.status : 404, { 'content-type': 'application/json' });
      response.end(isBulk ? answer.body : '{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port }: Partial<AddressInfo> = Object(server.address());
  vi.stubEnv('npm_config_registry', `http://127.0.0.1:${port}/`);
  vi.stubEnv('npm_config_fetch_retries', '0');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function find(isAsked: boolean) {
  const said: string[] = [];
  const found = await findVulnerabilities(isAsked, (line) => void said.push(line));
  return { found, said };
}

const advise = (id: number, title: string, severity: string, vulnerable_versions: string) => ({
  ...{ id, title, severity, vulnerable_versions, url: `https://advisories.example/${id}` },
  ...{ cwe: [], cvss: { score: 0, vectorString: null } },
});

const Lock = z.object({ packages: z.record(z.string(), z.object({ version: z.string().optional() })) });

describe('known vulnerabilities', () => {
  it('are those that the registry’s list names for versions of the lock files, if they are severe', async () => {
    const advisories = {
      fastify: [
        advise(1, 'Requests are smuggled', 'high', '<999.0.0'),
        advise(2, 'Of a version before', 'high', '<0.1.0'),
      ],
      react: [advise(3, 'Pages run what they show', 'critical', '<999.0.0')],
      zod: [advise(4, 'It is slow', 'moderate', '<999.0.0')],
    };
    answer = { status: 200, body: JSON.stringify(advisories) };
    const { found, said } = await find(true);
    expect(said).toEqual([]);
    expect(found).toContainEqual(expect.stringMatching(/^\.: fastify .*is high: Requests are smuggled$/));
    expect(found).toContainEqual(expect.stringMatching(/^web: react .*is critical: Pages run what they show$/));
    expect(found.filter((line) => /Of a version before|: zod /.test(line))).toEqual([]);
    const { packages } = Lock.parse(JSON.parse(await readFile('package-lock.json', 'utf8')));
    expect(asked[0]?.fastify).toEqual([packages['node_modules/fastify']?.version]);
  });

  it('are none if the list names none of them', async () => {
    answer = { status: 200, body: '{}' };
    expect(await find(true)).toEqual({ found: [], said: [] });
    expect(asked.length).toBeGreaterThan(0);
  });

  it('are off unless they are asked for, and say so', async () => {
    expect(await find(false)).toEqual({ found: [], said: [expect.stringContaining('off: --vulnerabilities')] });
    expect(asked).toEqual([]);
  });

  it('are off, and say so, where the list cannot be fetched', async () => {
    const off = ['.', 'web', 'clients/typescript'].map(
      (folder) => `${folder}: off, because the list could not be fetched`,
    );
    answer = { status: 503, body: '<html>' };
    expect(await find(true)).toEqual({ found: [], said: off });
    vi.stubEnv('npm_config_registry', 'http://127.0.0.1:1/');
    expect(await find(true)).toEqual({ found: [], said: off });
  });
});
