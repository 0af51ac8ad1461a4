import { rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openPostgres } from '../../src/engines/postgres/open.ts';
import { engineFolder } from '../../src/local/engines/folder.ts';
import { type EmbeddedEngines, type EmbeddedOptions, startEmbedded } from '../../src/local/engines/start.ts';

const { directory, java } = readConfig();
const dataNameOf = (name: string) => `test-${process.pid}-${name}`;

const options = (name: string, more: Partial<EmbeddedOptions>): EmbeddedOptions => ({
  ...{ directory, java, dataName: dataNameOf(name), elasticsearchHeapMb: 512, report: () => {}, ...more },
});

describe('a stack', () => {
  let started: EmbeddedEngines | undefined;
  afterEach(async () => {
    await started?.stop();
    for (const name of ['revive', 'later']) {
      rmSync(path.join(engineFolder(directory), dataNameOf(name)), { recursive: true, force: true });
    }
  });

  it('starts an engine again that ends by itself, and leaves it down the third time within a minute', async () => {
    const said: string[] = [];
    const report = (line: string) => void said.push(line);
    started = await startEmbedded(options('revive', { only: ['redis'], revives: true, report }));
    const stack = started;
    const count = (text: string) => said.filter((line) => line.includes(text)).length;
    for (const times of [1, 2]) {
      process.kill(stack.pids.redis ?? 0, 'SIGKILL');
      await vi.waitFor(() => expect(count('started (')).toBe(times + 1), { timeout: 20_000 });
    }
    process.kill(stack.pids.redis ?? 0, 'SIGKILL');
    await vi.waitFor(() => expect(count('ended 3 times within a minute and stays down')).toBe(1));
    expect(stack.pids.redis).toBeUndefined();
  });

  it('gives the URLs of engines that nobody waits for, and says when they are up', async () => {
    const requested = { only: ['redis', 'postgres'], later: ['postgres'] } as const;
    started = await startEmbedded(options('later', requested));
    const postgres = openPostgres(started.urls.postgres ?? '', { max: 1 });
    await started.started('postgres');
    await postgres.ping();
    await postgres.close();
  });
});
