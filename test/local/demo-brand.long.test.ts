import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { engineFolder } from '../../src/local/engines/folder.ts';
import { ORDERS } from '../../src/local/sample-brand/store.ts';
import { call, startScript, unique, until } from '../harness/app.ts';
import { linkClient } from '../harness/kit/offered.ts';
import { runCommand } from '../harness/process/command.ts';
import { longDeadlineMs } from '../run/deadline.ts';

describe('a first start', () => {
  it(
    'fills the brand demo, and a start with --empty takes the sample away and keeps the keys',
    async () => {
      const directory = await mkdtemp(path.join(tmpdir(), 'rollcall-first-'));
      await linkClient(directory);
      const own = { DATABASE_URL: '', REDIS_URL: '', CLICKHOUSE_URL: '', ROLLCALL_DIR: directory };
      const start = (...args: string[]) =>
        startScript('src/server.ts', { ...own, DIRECTORY_ALIAS: unique('none') }, ['--port', '0', ...args]);
      const file = path.join(directory, 'demo.env');
      const env = async () => {
        const text = await readFile(file, 'utf8');
        return (name: string) => new RegExp(`^ROLLCALL_${name}=(.*)$`, 'm').exec(text)?.[1] ?? '';
      };
      const isOver = (said: () => string) => said().includes('Ctrl-C stops everything.');
      const server = start();
      try {
        await until('the first start', () => isOver(server.said), longDeadlineMs);
        expect(server.said()).toMatch(/Rollcall.* listens on[\s\S]*Filling the demo brand with a sample of 90 days \(/);
        const read = await env();
        const orders = await call(`${read('URL')}/v1/orders?limit=1`, read('BRAND_KEY'));
        expect([orders.status, orders.body.pagination.total]).toEqual([200, ORDERS]);
        const oldest = await call(`${read('URL')}/v1/orders?sort=oldest&limit=1`, read('BRAND_KEY'));
        const keys = await runCommand('src/cli.ts', ['key', 'list', '--brand', 'demo', '--json'], {
          ROLLCALL_DIR: directory,
        });
        for (const { created_at } of JSON.parse(keys.out)) {
          expect(created_at < oldest.body.data[0].occurred_at).toBe(true);
        }
        const verified = await runCommand('src/cli.ts', ['ledger', 'verify', '--brand', 'demo'], {
          ROLLCALL_DIR: directory,
        });
        expect([verified.status, verified.out]).toEqual([0, expect.stringMatching(/\tok\t/)]);
        const filled = await call(`${read('URL')}/v1/brand`, read('BRAND_KEY'));
        expect(filled.body.data).toMatchObject({ name: 'Lumen Skin', has_sample: true });
        await server.stop();
        const empty = start('--empty');
        await until('a start with --empty', () => isOver(empty.said), longDeadlineMs);
        const now = await env();
        expect(now('BRAND_KEY')).toBe(read('BRAND_KEY'));
        const left = await call(`${now('URL')}/v1/orders?limit=1`, now('BRAND_KEY'));
        expect([left.status, left.body.pagination.total]).toEqual([200, 0]);
        const { body } = await call(`${now('URL')}/v1/brand`, now('BRAND_KEY'));
        expect(body.data).toMatchObject({ name: 'demo', logo: null, website: null, has_sample: false });
        await empty.stop();
      } finally {
        await server.stop();
        for (const one of new Set([directory, engineFolder(directory)])) {
          await rm(one, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
        }
      }
      expect(existsSync(directory)).toBe(false);
    },
    longDeadlineMs,
  );
});
