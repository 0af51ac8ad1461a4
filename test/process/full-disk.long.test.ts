import path from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openRedis } from '../../src/kit/engines/redis/open.ts';
import { engineFolder } from '../../src/local/engines/folder.ts';
import { type EmbeddedEngines, startEmbedded } from '../../src/local/engines/start.ts';
import { canMount, mountSmallDisk, type SmallDisk } from '../chaos/small-disk.ts';
import { ENGINE_PATIENCE, removeEngineData } from '../harness/kit/own-engines.ts';
import { deadlineMs } from '../run/deadline.ts';

const isMountable = await canMount();
if (!isMountable) process.stderr.write('A full disk is not tested: this process may not mount a file system.\n');

const { directory, java } = readConfig();
const dataName = `test-${process.pid}-full-disk`;
let disk: SmallDisk | undefined;
let engines: EmbeddedEngines | undefined;

afterAll(async () => {
  await engines?.stop();
  await disk?.close();
  await removeEngineData(dataName);
});

describe.skipIf(!isMountable)('an embedded Redis whose disk is full', () => {
  it('is restarted until there is room, and has everything that it acknowledged', async () => {
    disk = await mountSmallDisk(path.join(engineFolder(directory), dataName, 'redis'), 16);
    const said: string[] = [];
    engines = await startEmbedded({
      ...{
        directory,
        java,
        dataName,
        only: ['redis'],
        elasticsearchHeapMb: 512,
        patience: ENGINE_PATIENCE,
        revives: true,
      },
      report: (line) => void said.push(line),
    });
    const redis = openRedis(engines.urls.redis ?? '');
    await redis.ready();
    let acknowledged = 0;
    const write = async () => {
      await redis.client.set(`key${acknowledged + 1}`, 'x'.repeat(1_000));
      acknowledged += 1;
    };
    const writeOn = () => write().catch(() => undefined);
    for (let i = 0; i < 200; i += 1) await write();

    await disk.fill();
    const again = () => said.filter((line) => /AOF write error[\s\S]*is started again in/.test(line));
    await vi.waitFor(
      async () => {
        await writeOn();
        expect(again().length, said.join('\n')).toBeGreaterThanOrEqual(2);
      },
      { timeout: deadlineMs },
    );
    await disk.makeRoom();
    await vi.waitFor(() => write(), { timeout: deadlineMs });
    const keys = Array.from({ length: acknowledged }, (_, i) => `key${i + 1}`);
    expect(await redis.client.exists(...keys)).toBe(acknowledged);
    await redis.close();
  });
});
