import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ImportPhase, type ImportReport, importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { generateCreators } from '../../src/directory/imports/indexing/sample.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import { call, keysInTurn, makeBrand, startApp, type TestApp } from '../harness/app.ts';
import { makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';
import { describeCluster } from '../harness/kit/cluster.ts';
import { type ElasticCluster, startElasticCluster, untilNodes } from '../harness/kit/elastic-cluster.ts';

const CREATORS = 20_000;
const LAYOUT = { shards: 3, replicas: 1 };
/** How long an import waits for a node that does not come back. */
const NODE_PATIENCE_MS = 10_000;
/** A search may be 503 only if no node answered in this time, which happens on a busy machine. */
const SEARCH_PATIENCE_MS = 4_000;
/** Between two searches, and keys enough that none reaches its limit of 100 calls a minute. */
const THINK_MS = 50;
const KEYS = 60;

describeCluster('Elasticsearch of three nodes', () => {
  let cluster: ElasticCluster;
  let divided: TestDirectory;
  let whole: TestDirectory;
  let apps: TestApp[];
  let keys: (() => string)[];
  let file: string;
  let live: ImportReport;

  async function importOn({ engines }: TestDirectory, layout: typeof LAYOUT, request: object = {}) {
    const source = await openFiles([file]);
    return await importDirectory({ ...engines, layout }, { source, nodePatienceMs: NODE_PATIENCE_MS, ...request });
  }

  beforeAll(async () => {
    cluster = await startElasticCluster();
    const own = { elasticsearch: cluster.urls };
    [divided, whole] = await Promise.all([makeDirectory(own), makeDirectory(own)]);
    const rows = [...generateCreators(CREATORS, 7)].map((row) => `${JSON.stringify(row)}\n`);
    file = await divided.file('creators.ndjson', rows.join(''));
    live = await importOn(divided, LAYOUT);
    await importOn(whole, { shards: 1, replicas: 1 });
    apps = await Promise.all(
      [whole, divided].map(({ engines: { alias } }) => startApp({ alias, urls: { elasticsearch: cluster.urls } })),
    );
    keys = await Promise.all(apps.map(async ({ context }) => await keysInTurn(await makeBrand(context), KEYS)));
  });
  afterAll(async () => {
    for (const app of apps ?? []) await app.close();
    await Promise.all([divided?.close(), whole?.close()]);
    await cluster?.stop();
  });

  const search = async (i: number, path: string) =>
    await call(`${apps[i]?.url}/v1/creators/${path}`, keys[i]?.() ?? '');

  it('answers totals, pages, deep pages, facets and sorts of three shards like those of one', async () => {
    const paths = [
      'search?limit=100',
      'search?limit=100&page=2',
      'search?limit=100&page=57',
      'search?limit=100&page=200',
      'search?limit=100&page=201',
      'search?limit=100&page=150&sort=engagement',
      'search?limit=50&sort=engagement&min_followers=5000',
      'search?limit=90&min_followers=5000&max_followers=60000&page=10',
      'search?limit=50&q=fitness',
      'search?limit=50&metro=NYC&page=2',
      'search?preview=true',
      'search?preview=true&metro=LA',
      'search?preview=true&min_followers=8000',
      'dictionary/niches?limit=100',
      'dictionary/states?limit=100',
      'autocomplete?q=a',
    ];
    const shown = async (i: number, path: string) => {
      const { status, body } = await search(i, path);
      return [status, JSON.stringify(body).replaceAll(/"(directory_version|request_id)":"[^"]*"/g, '')];
    };
    for (const path of paths) {
      const [one, three] = await Promise.all([shown(0, path), shown(1, path)]);
      expect(one[0], path).toBe(200);
      expect(three, path).toEqual(one);
    }
  });

  /** Searches a directory of three shards until `work` ends: every answer must be 200 with the exact total. */
  async function whileSearching(title: string, work: () => Promise<void>): Promise<void> {
    const answers = new Set<string>();
    const took: number[] = [];
    let late = 0;
    let isOver = false;
    const searches = (async () => {
      for (let i = 1; !isOver; i += 1) {
        const from = performance.now();
        // Every second search is a new one, which no cache answers.
        const filter = i % 2 === 0 ? '' : `&min_followers=0&max_followers=${2_000_000_000 - i}`;
        const { status, body } = await search(1, `search?limit=1${filter}`);
        const ms = performance.now() - from;
        took.push(ms);
        if (status === 503 && ms >= SEARCH_PATIENCE_MS) late += 1;
        else answers.add(`${status} ${body.pagination?.total}`);
        await pause(THINK_MS);
      }
    })();
    await work().finally(() => {
      isOver = true;
    });
    await searches;
    const p99 = took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? 0;
    process.stderr.write(`${title}: ${took.length} searches, p99 ${Math.round(p99)} ms, ${late} late ones refused\n`);
    expect([...answers]).toEqual([`200 ${CREATORS}`]);
  }

  it('answers every search while a node is killed and comes back', async () => {
    await whileSearching('a killed node', async () => {
      cluster.nodes[0]?.kill();
      await untilNodes(divided.elastic, 2);
      await cluster.nodes[0]?.restart();
      await untilNodes(divided.elastic, 3);
    });
  });

  it.each<[number, ImportPhase]>([
    [1, 'bulk'],
    [2, 'merge'],
    [0, 'replicas'],
  ])(
    'ends an import that loses node %i in its phase %s, with every creator and every copy, and the live directory serves meanwhile',
    async (node, phase) => {
      await untilNodes(divided.elastic, 3);
      let isKilled = false;
      const notices: string[] = [];
      let report: ImportReport | undefined;
      await whileSearching(`${phase} without a node`, async () => {
        report = await importOn(divided, LAYOUT, {
          restart: true,
          onNotice: (notice: string) => void notices.push(notice),
          onProgress: ({ phase: now, rows }: { phase: ImportPhase; rows: number }) => {
            if (isKilled || now !== phase || rows < 5_000) return;
            isKilled = true;
            cluster.nodes[node]?.kill();
          },
        });
      });
      process.stderr.write(`${phase}: ${notices.join(' | ')}\n`);
      expect(isKilled).toBe(true);
      expect(report).toMatchObject({ documents: CREATORS, previousIndex: live.index });
      expect(report?.index).not.toBe(live.index);
      if (report) live = report;
      const copies = await divided.elastic.client.cluster.health({ index: live.index });
      expect(copies).toMatchObject({ status: 'green', active_shards: 6 });
      // The last phase needs no third node any more.
      if (phase !== 'replicas') await cluster.nodes[node]?.restart();
    },
  );
});
