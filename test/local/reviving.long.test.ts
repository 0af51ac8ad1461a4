import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openPostgres } from '../../src/kit/engines/postgres/open.ts';
import { isPidAlive } from '../../src/local/engines/alive.ts';
import { engineFolder } from '../../src/local/engines/folder.ts';
import { type EmbeddedEngines, type EmbeddedOptions, startEmbedded } from '../../src/local/engines/start.ts';
import { ENGINE_PATIENCE } from '../harness/kit/own-engines.ts';
import { deadlineMs } from '../run/deadline.ts';

const { directory, java } = readConfig();
const dataNameOf = (name: string) => `test-${process.pid}-${name}`;

const options = (name: string, more: Partial<EmbeddedOptions>): EmbeddedOptions => ({
  ...{
    directory,
    java,
    dataName: dataNameOf(name),
    elasticsearchHeapMb: 512,
    patience: ENGINE_PATIENCE,
    report: () => {},
    ...more,
  },
});

describe('a stack', () => {
  let started: EmbeddedEngines | undefined;
  afterEach(async () => {
    await started?.stop();
    for (const name of ['revive', 'blocked', 'later']) {
      rmSync(path.join(engineFolder(directory), dataNameOf(name)), { recursive: true, force: true });
    }
  });

  it('restarts an engine that ends by itself, each time after a longer pause, and shows the end of its log', async () => {
    const said: string[] = [];
    const report = (line: string) => void said.push(line);
    started = await startEmbedded(options('revive', { only: ['redis'], revives: true, report }));
    const stack = started;
    const count = (text: string) => said.filter((line) => line.includes(text)).length;
    for (const times of [1, 2, 3, 4]) {
      process.kill(stack.pids.redis ?? 0, 'SIGKILL');
      await vi.waitFor(() => expect(count('started (')).toBe(times + 1), { timeout: deadlineMs });
    }
    const again = said.filter((line) => line.includes('is started again'));
    expect(again.map((line) => line.replace(/[\s\S]*is started again/, ''))).toEqual([
      ' ...',
      ' in 1 s ...',
      ' in 2 s ...',
      ' in 4 s ...',
    ]);
    expect(again[0]).toMatch(/The log of Redis \(Valkey\) ends with:\n[\s\S]*Ready to accept connections/);
    expect(isPidAlive(stack.pids.redis ?? 0)).toBe(true);
  });

  it('keeps restarting an engine that the start does not wait for, says why it fails, and has it once it works', async () => {
    const said: string[] = [];
    const folder = path.join(engineFolder(directory), dataNameOf('blocked'));
    const obstacle = path.join(folder, 'redis', 'appendonlydir');
    mkdirSync(path.dirname(obstacle), { recursive: true });
    writeFileSync(obstacle, 'no folder');
    const report = (line: string) => void said.push(line);
    started = await startEmbedded(options('blocked', { only: ['redis'], later: ['redis'], revives: true, report }));
    const why = /ended while starting[\s\S]*appendonlydir[\s\S]*is started again in 1 s/;
    await vi.waitFor(() => expect(said.some((line) => why.test(line))).toBe(true), { timeout: deadlineMs });
    rmSync(obstacle);
    await started.started('redis');
    expect(isPidAlive(started.pids.redis ?? 0)).toBe(true);
  });

  it('gives the URLs of engines that the start does not wait for, and says when they are up', async () => {
    const requested = { only: ['redis', 'postgres'], later: ['postgres'] } as const;
    started = await startEmbedded(options('later', requested));
    const postgres = openPostgres(started.urls.postgres ?? '', { max: 1 });
    await started.started('postgres');
    await postgres.ping();
    await postgres.close();
  });
});
