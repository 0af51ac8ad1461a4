import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { parquetReadObjects } from 'hyparquet';
import { STORED } from '../../../src/interfaces/links-host/row.ts';
import { NO_UTM } from '../../../src/interfaces/links-host/utm.ts';
import { insertOnce } from '../../../src/kit/engines/clickhouse/insert.ts';
import type { Context } from '../../../src/kit/operation/context.ts';
import { newId } from '../../../src/kit/values/ids.ts';
import { runDeliveries, runTurns } from '../../../src/platform/jobs/turns.ts';
import { type Answer, send, type TestApp, unique } from '../app.ts';
import { here } from '../platform/uploading.ts';

/** Starts an export, and returns its job. */
export async function startExport({ url }: TestApp, key: string, body: object): Promise<Answer['body']> {
  const { status, body: answer } = await send(`${url}/v1/exports`, key, 'POST', body);
  if (status !== 202) throw new Error(`POST /v1/exports answered ${status}: ${JSON.stringify(answer)}`);
  return answer.data;
}

/** Reads a job, and tries again after a 429 or 503. */
export async function jobOf({ url }: TestApp, key: string, id: string): Promise<Answer['body']> {
  for (;;) {
    const { status, body } = await send(`${url}/v1/jobs/${id}`, key, 'GET');
    if (status === 200) return body.data;
    if (status !== 503 && status !== 429) throw new Error(`A job answered ${status}: ${JSON.stringify(body)}`);
    await pause(500);
  }
}

/** Does everything that is due, as a worker would; or so many turns, one after the other. Returns the turns. */
export async function runJobs({ context }: TestApp, most?: number): Promise<number> {
  const next = async () => (await runTurns.run(context, 1)) || (await runDeliveries.run(context, 1));
  if (most === undefined) return (await runTurns.run(context)) + (await runDeliveries.run(context));
  for (let turns = 0; ; turns += 1) if (turns >= most || (await next()) === 0) return turns;
}

/** So many clicks of a brand, each recorded a second after it happened. */
export async function storeClicks({ clickhouse }: Context, brandId: string, count: number, at: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, i) => {
    const [clicked, recorded] = [at + i, at + i + 1_000].map((ms) =>
      new Date(ms).toISOString().replace('T', ' ').slice(0, 23),
    );
    const link = `lnk_${brandId.slice(4)}`;
    const facts = [newId('clk', at + i), brandId, link, newId('crt', 1), 'USD', clicked, i + 1];
    return `${[...facts, 'DE', i % 2 === 0 ? 'mobile' : '', 'photo.example', '', NO_UTM, 'counted', recorded].join('\t')}\n`;
  });
  await insertOnce(clickhouse, 'clicks_v1', STORED, rows.join(''), unique('clicks'));
}

export async function bytesOf(app: TestApp, file: { url: string }): Promise<Buffer> {
  const answer = await fetch(here(app, file.url));
  if (!answer.ok || !answer.body) throw new Error(`${file.url} answered ${answer.status}.`);
  return await buffer(Readable.fromWeb(answer.body));
}

export type ReadRow = Record<string, unknown>;

const plain = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number(value);
  return value instanceof Date ? value.toISOString() : (value ?? null);
};

/** The rows of a Parquet file, with numbers and times as JSON has them. */
export async function parquetRows(bytes: Buffer): Promise<ReadRow[]> {
  const file = new Uint8Array(bytes).buffer;
  const rows = await parquetReadObjects({ file });
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])));
}

export const ndjsonRows = (bytes: Buffer): ReadRow[] =>
  bytes
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** All rows of a job that is done, by its format. */
export async function rowsOf(app: TestApp, job: Answer['body']): Promise<ReadRow[]> {
  const rows: ReadRow[] = [];
  for (const file of job.files) {
    if (file.name === 'manifest.json') continue;
    const bytes = await bytesOf(app, file);
    rows.push(...(job.request.format === 'parquet' ? await parquetRows(bytes) : ndjsonRows(bytes)));
  }
  return rows;
}
