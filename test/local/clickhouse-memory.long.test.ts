import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EmbeddedEngines } from '../../src/local/engines/start.ts';
import { removeEngineData, startOwnEngines } from '../harness/kit/own-engines.ts';

const ANSWERED = 300;
const DATA = `test-${process.pid}-clickhouse-memory`;

let engines: EmbeddedEngines;
beforeAll(async () => {
  engines = await startOwnEngines(DATA, ['clickhouse']);
});
afterAll(async () => {
  await engines?.stop();
  await removeEngineData(DATA);
});

const ask = async (sql: string): Promise<string> =>
  await (await fetch(engines.urls.clickhouse ?? '', { method: 'POST', body: sql })).text();

async function readMegabytes(): Promise<number> {
  return Number(await ask("SELECT intDiv(value, 1000000) FROM system.metrics WHERE metric = 'MemoryTracking'"));
}

it('The embedded ClickHouse releases the memory of each answered query while another one is running', async () => {
  const before = await readMegabytes();
  let isOver = false;
  const long = (async () => {
    while (!isOver) await ask('SELECT sum(sipHash64(number)) FROM numbers(200000000) SETTINGS max_threads = 1');
  })();
  for (let n = 0; n < ANSWERED; n += 1) {
    const sql = n % 3 === 0 ? 'SELECT nothing' : `SELECT uniqExact(number) FROM numbers(${n * 100})`;
    expect(await ask(sql)).toMatch(n % 3 === 0 ? /UNKNOWN_IDENTIFIER/ : /^\d+\n$/);
  }
  const after = await readMegabytes();
  isOver = true;
  await long;
  expect(after - before).toBeLessThan(100);
});
