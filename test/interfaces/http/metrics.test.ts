import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openJobRecorder } from '../../../src/process/metrics/jobs.ts';
import { call, startApp, type TestApp, unique } from '../../harness/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ isOwn: true });
});
afterAll(() => app?.close());

const scrape = async () => await (await fetch(`${app.url}/metrics`)).text();

it('every metric is in the manual, and every metric in the manual is scraped', async () => {
  const manual = readFileSync('docs/administration.md', 'utf8').match(/\brollcall_[a-z0-9_]+/g) ?? [];
  const scraped = [...(await scrape()).matchAll(/^# TYPE (rollcall_\w+) /gm)].map(([, name]) => name);
  expect([...new Set(manual)].sort()).toEqual(scraped.sort());
});

it('each door counts its requests and its errors by code', async () => {
  await fetch(`${app.url}/r/${unique('nobody')}`);
  await fetch(`${app.url}/r/${unique('nobody')}`, { method: 'POST' });
  await fetch(`${app.url}/ingest/shopify/int_missing`, { method: 'POST', body: '{}' });
  await fetch(`${app.url}/apply/cmp_missing`);
  await fetch(`${app.url}/s/missing`);
  await fetch(`${app.url}/files/missing`);
  await call(`${app.url}/v1/campaigns`);
  const text = await scrape();
  expect(text).toContain('rollcall_redirects_total{outcome="unknown"} 1');
  expect(text).toContain('rollcall_redirects_total{outcome="not_allowed"} 1');
  expect(text).toMatch(/^rollcall_request_duration_seconds_count\{operation="ingest",status="40\d"\} 1$/m);
  expect(text).toContain('rollcall_request_duration_seconds_count{operation="page_apply",status="404"} 1');
  expect(text).toContain('rollcall_request_duration_seconds_count{operation="page_share",status="404"} 1');
  expect(text).toContain('rollcall_request_duration_seconds_count{operation="files",status="404"} 1');
  expect(text).toContain('rollcall_refusals_total{door="files",code="NOT_FOUND"} 1');
  expect(text).toContain('rollcall_refusals_total{door="api",code="AUTH_REQUIRED"} 1');
  expect(text).toMatch(/^rollcall_refusals_total\{door="ingest",code="\w+"\} 1$/m);
});

it('requests that are not HTTP are counted too, on both listeners', async () => {
  const at = async () => Number(/door="unreadable",code="BAD_REQUEST"\} (\d+)/.exec(await scrape())?.[1] ?? 0);
  const before = await at();
  for (const url of [app.url, app.links]) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').resume();
    socket.write('GET / NONE\r\n\r\n');
    await once(socket, 'close');
  }
  expect(await at()).toBe(before + 2);
});

it('the API shows the summed job metrics of several workers', async () => {
  const job = unique('a job');
  for (const [outcome, seconds] of [
    [{}, 0.5],
    [{}, 0.25],
    [{ error: new Error('Carrier is away.') }, 1],
  ] as const) {
    const recorder = openJobRecorder(app.context.redis, { now: () => new Date(60_000) });
    recorder.ran(job, outcome, seconds);
    await recorder.report();
    await recorder.report();
  }
  const text = await scrape();
  expect(text).toContain(`rollcall_job_runs_total{job="${job}",outcome="done"} 2`);
  expect(text).toContain(`rollcall_job_runs_total{job="${job}",outcome="failed"} 1`);
  expect(text).toContain(`rollcall_job_seconds_total{job="${job}"} 1.75`);
  expect(text).toContain(`rollcall_job_last_done_timestamp_seconds{job="${job}"} 60`);
});
