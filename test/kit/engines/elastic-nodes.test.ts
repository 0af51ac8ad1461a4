import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { createQuietIndex, deleteIndex, indexExists } from '../../../src/kit/engines/elastic/indices.ts';
import { openElastic } from '../../../src/kit/engines/elastic/open.ts';
import { call, engineUrls, keysInTurn, makeBrand, startApp, type TestApp, unique } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { type EngineProxy, startProxy } from '../../harness/kit/proxy.ts';

/** Three doors to one Elasticsearch, each of which can fail like a node. */
let nodes: EngineProxy[];
let app: TestApp;
let key: () => string;

const listOf = (urls: string[]) => urls.join(',');

beforeAll(async () => {
  nodes = await Promise.all([1, 2, 3].map(() => startProxy(engineUrls().elasticsearch)));
  const alias = unique('nodes');
  app = await startApp({ alias, urls: { elasticsearch: listOf(nodes.map(({ url }) => url)) } });
  await putDirectory(
    app.context.elastic,
    alias,
    Array.from({ length: 30 }, (_, i) => creator(i + 1)),
  );
  key = await keysInTurn(await makeBrand(app.context), 10);
});
afterAll(async () => {
  await app?.close();
  for (const node of nodes ?? []) await node.close();
});

/** Searches one after the other, four at a time, until `end` resolves. */
async function searchUntil(end: () => Promise<unknown>): Promise<number[]> {
  const statuses = new Set<number>();
  let isOver = false;
  let count = 0;
  async function search(): Promise<void> {
    while (!isOver) {
      count += 1;
      const { status } = await call(`${app.url}/v1/creators/search?limit=1&follower_min=${count}`, key());
      statuses.add(status);
    }
  }
  const searches = Promise.all([search(), search(), search(), search()]);
  await end();
  isOver = true;
  await searches;
  return [...statuses];
}

const untilSearched = async (searches: number) => {
  for (let i = 0; i < searches; i += 1)
    await call(`${app.url}/v1/creators/search?limit=1&follower_max=${2_000 + i}`, key());
};

describe('Searches with three nodes configured', () => {
  it('all succeed while a node is killed and comes back', async () => {
    const statuses = await searchUntil(async () => {
      await untilSearched(20);
      await nodes[0]?.cut();
      await untilSearched(20);
      await nodes[0]?.restore();
      await untilSearched(20);
    });
    expect(statuses).toEqual([200]);
  });

  it('go to another node if one hangs', async () => {
    nodes[1]?.freeze();
    const found = await Promise.all(
      nodes.map(() => app.context.elastic.post(`/${app.context.config.directoryAlias}/_search`, '{"size":1}')),
    );
    expect(found.map((bytes) => bytes.includes('"timed_out":false'))).toEqual([true, true, true]);
    await nodes[1]?.restore();
  });

  it('fail with 503 only when every node is away, and succeed once one is back', async () => {
    for (const node of nodes) await node.cut();
    const { status, body } = await call(`${app.url}/v1/creators/search?limit=1&q=away`, key());
    expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    await nodes[2]?.restore();
    // A search tries two of the nodes, so the first may not meet the one that is back.
    const search = async () => (await call(`${app.url}/v1/creators/search?limit=1&q=back`, key())).status;
    await expect.poll(search).toBe(200);
    for (const node of nodes) await node.restore();
  });
});

/** A node that takes each request and then breaks the connection. */
async function startBrokenNode(): Promise<{ url: string; requests: string[]; close(): Promise<void> }> {
  const requests: string[] = [];
  const server = createServer((request) => {
    requests.push(`${request.method} ${request.url?.replace(/\?.*/, '')}`);
    request.socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    requests,
    close: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

describe('A write whose answer is lost', () => {
  it('is not sent to another node, and a read is', async () => {
    const broken = await Promise.all([startBrokenNode(), startBrokenNode()]);
    const elastic = openElastic(listOf(broken.map(({ url }) => url)));
    await expect(elastic.post('/x/_bulk', '{}\n', { isWrite: true })).rejects.toThrow(/unavailable/);
    expect(broken.flatMap(({ requests }) => requests)).toEqual(['POST /x/_bulk']);
    await expect(elastic.post('/x/_search', '{}')).rejects.toThrow(/unavailable/);
    expect(broken.flatMap(({ requests }) => requests).sort()).toEqual([
      'POST /x/_bulk',
      'POST /x/_search',
      'POST /x/_search',
    ]);
    await elastic.close();
    for (const node of broken) await node.close();
  });

  it('is done once if it creates an index: the next node shows that it exists', async () => {
    const mute = await startProxy(engineUrls().elasticsearch);
    const elastic = openElastic(listOf([mute.url, engineUrls().elasticsearch]));
    const index = unique('created');
    for (let i = 0; i < 2; i += 1) {
      mute.freezeAnswers();
      const breaking = setTimeout(() => void mute.restore(), 300);
      await createQuietIndex(elastic, `${index}-${i}`, {
        settings: { index: { number_of_replicas: 0 } },
        mappings: {},
      });
      clearTimeout(breaking);
      expect(await indexExists(elastic, `${index}-${i}`)).toBe(true);
      await deleteIndex(elastic, `${index}-${i}`);
    }
    await elastic.close();
    await mute.close();
  });
});

describe('ELASTICSEARCH_URL', () => {
  it('may list nodes, with or without spaces', () => {
    const { urls } = readConfig({ ELASTICSEARCH_URL: ' http://es-1:9200, https://es-2:9200/path ,' });
    expect(urls.elasticsearch).toBe('http://es-1:9200,https://es-2:9200/path');
  });

  it.each([
    ['http://es-1:9200,es-2:9200', /ELASTICSEARCH_URL: "es-2:9200" is not the URL of a node; it must be like http:/],
    ['http://es-1:9200 http://es-2:9200', /is not the URL of a node.*several separated by commas/],
    ['redis://es-1:6379', /"redis:\/\/es-1:6379" is not the URL of a node/],
    [',', /ELASTICSEARCH_URL: lists no node/],
  ])('is refused if it is %s, with what would be right', (ELASTICSEARCH_URL, why) => {
    expect(() => readConfig({ ELASTICSEARCH_URL })).toThrow(why);
  });

  it('shows no password in the error', () => {
    expect(() => readConfig({ ELASTICSEARCH_URL: `https://elastic:${'geheim'}@:99999` })).toThrow(
      /"https:\/\/…@:99999"/,
    );
  });
});

/** A node that only says which cluster it belongs to. */
async function startNodeOf(cluster: string) {
  const server = createServer((_request, response) => {
    response.end(JSON.stringify({ cluster_name: 'rollcall', cluster_uuid: cluster }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`, server };
}

describe('Nodes of different clusters', () => {
  it('are refused at the start, and a node that is down is not', async () => {
    const [a, b, c] = [await startNodeOf('one'), await startNodeOf('one'), await startNodeOf('two')];
    const check = async (urls: string[]) => {
      const elastic = openElastic(listOf(urls));
      await elastic.assertOneCluster().finally(() => elastic.close());
    };
    await check([a.url, b.url, 'http://127.0.0.1:1']);
    await expect(check([a.url, c.url])).rejects.toThrow(/nodes of different clusters.*List the nodes of one cluster/);
    for (const { server } of [a, b, c]) {
      server.closeAllConnections();
      server.close();
    }
  });
});
