import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Db } from '../../../src/kit/engines/postgres/open.ts';
import { systemClock } from '../../../src/kit/values/clock.ts';
import { ERROR_CODES } from '../../../src/kit/values/errors.ts';
import { openJobRecorder } from '../../../src/process/metrics/jobs.ts';
import { call, made, makeBrand, send, type TestApp, unique } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { startAlone } from '../../harness/platform/webhooks.ts';

const Dashboard = z.object({
  uid: z.string(),
  panels: z.array(
    z.object({
      id: z.number(),
      title: z.string(),
      gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).default([]),
    }),
  ),
});
const Alerts = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          annotations: z.object({ summary: z.string() }),
        }),
      ),
    }),
  ),
});

const dashboard = Dashboard.parse(JSON.parse(readFileSync('docs/grafana/dashboard.json', 'utf8')));
const alerts = Alerts.parse(parse(readFileSync('docs/grafana/alerts.yml', 'utf8'))).groups.flatMap(
  ({ rules }) => rules,
);
/** Each expression with the labels that its text shows. */
const questions = [
  ...dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({ where: title, expr, shown: legendFormat.match(/(?<={{)\w+(?=}})/g) })),
  ),
  ...alerts.map(({ alert, expr, annotations }) => ({
    ...{ where: alert, expr, shown: annotations.summary.match(/(?<=\$labels\.)\w+/g) },
  })),
];

let app: TestApp;
/** Labels of each series that was scraped. */
let series: Map<string, Set<string>>;
/** Values of labels, as `name="value"`. */
let values: Set<string>;

beforeAll(async () => {
  const alias = unique('grafana');
  app = await startAlone(systemClock, { DIRECTORY_ALIAS: alias });
  await putDirectory(app.context.elastic, alias, [creator(1)]);
  await doSomethingOfEach();
  const text = await (await fetch(`${app.url}/metrics`)).text();
  const lines = [...text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)];
  series = new Map(lines.map(([, name = '']) => [name, new Set<string>()]));
  values = new Set();
  for (const [, name = '', labels = ''] of lines) {
    for (const [pair = '', label = ''] of labels.matchAll(/(\w+)="[^"]*"/g)) {
      series.get(name)?.add(label);
      values.add(pair);
    }
  }
});
afterAll(() => app?.close());

/** Many series begin with the first thing that they count. */
async function doSomethingOfEach(): Promise<void> {
  const { postgres, redis, clock } = app.context;
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  await call(`${app.url}/v1/creators/search`, await brand.key('data'));
  await call(`${app.url}/v1/creators/search`);
  const recorder = openJobRecorder(redis, clock);
  recorder.ran('a job', { error: new Error('away') }, 1);
  recorder.ran('a job', {}, 1);
  await recorder.report();
  const email = 'ana@mail.example';
  await made(`${app.url}/v1/roster`, key, { creator_email: email });
  await made(`${app.url}/v1/messages`, key, { creator_email: email, body: 'Hello', send_email: true });
  await made(`${app.url}/v1/payouts`, key, { creator_email: email, amount: 1, method: 'manual' });
  await putImports(postgres.db, clock.now());
  const webhook = await made(`${app.url}/v1/webhooks`, key, {
    url: 'https://example.com/hook',
    events: ['payout.created'],
  });
  const sent = await send(`${app.url}/v1/webhooks/${webhook.id}/test`, key, 'POST', { event: 'payout.created' });
  await postgres.db
    .insertInto('webhookAttempts')
    .values({ deliveryId: sent.body.data.id, n: 1, startedAt: clock.now(), durationMs: 20, outcome: 'answered' })
    .execute();
}

async function putImports(db: Db, at: Date): Promise<void> {
  const base = { alias: app.context.config.directoryAlias, files: ['a.ndjson'], maxRejects: '1%' };
  const counts = { position: 5, accepted: 0, rejected: 5, documents: null, progress: null };
  const ends = { startedAt: at, updatedAt: at, swappedAt: null, retiredAt: null };
  const facts = { indexName: null, identity: null, rejectsFile: 'r', enqueued: false, failure: 'too many' };
  const both = { ...base, ...counts, ...ends, ...facts };
  await db
    .insertInto('directoryImports')
    .values([
      { ...both, id: unique('imp'), state: 'failed' },
      { ...both, id: unique('imp'), state: 'live', fill: JSON.stringify({ city: 0.9 }) },
    ])
    .execute();
}

/** Every metric of an expression with the labels that it is selected by. */
const selected = (expr: string) =>
  [...expr.matchAll(/\b((?:rollcall|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', selector = '']) => ({
    name,
    pairs: [...selector.matchAll(/(\w+)(=~?)"([^"]*)"/g)].map(([, label = '', how, value = '']) => ({
      label,
      how,
      value,
    })),
  }));

/** What an expression groups by. */
const grouped = (expr: string) =>
  [...expr.matchAll(/\b(?:by|on|without) \(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(/,\s*/).filter(Boolean),
  );

/** Where an expression stops being PromQL; the grammar takes any text, and marks in its tree what does not belong there. */
function badAt(expr: string): string | undefined {
  let bad: string | undefined;
  parser.parse(expr).iterate({
    enter: ({ type, from }) => {
      if (type.isError) bad ??= expr.slice(from);
    },
  });
  return bad;
}

it('every expression of the dashboard and the alerts is PromQL', () => {
  const wrong = questions.flatMap(({ where, expr }) => {
    const bad = badAt(expr);
    return bad === undefined ? [] : [`${where}: ${expr} is no PromQL at ${JSON.stringify(bad)}`];
  });
  expect(wrong).toEqual([]);
  expect(badAt('sum(rate(rollcall_job_runs_total[5m]) by (job)')).toBe('by (job)');
  expect(badAt('sum by job (rate(rollcall_job_runs_total[5m]))')).toBeDefined();
});

it('the dashboard and the alerts only use metrics and labels that are scraped', () => {
  const wrong = questions.flatMap(({ where, expr, shown }) => {
    const metrics = selected(expr);
    const known = new Set(metrics.flatMap(({ name }) => [...(series.get(name) ?? [])]));
    const missing = metrics.filter(({ name }) => !series.has(name)).map(({ name }) => `${where}: no metric ${name}`);
    const labels = metrics.flatMap(({ name, pairs }) =>
      pairs
        .filter(({ label }) => !series.get(name)?.has(label))
        .map(({ label }) => `${where}: ${name} has no label ${label}`),
    );
    const others = [...grouped(expr), ...(shown ?? [])].filter((label) => !known.has(label) && label !== 'instance');
    return [
      ...(metrics.length === 0 ? [`${where}: asks for no metric`] : []),
      ...[...missing, ...labels, ...others.map((label) => `${where}: nothing has the label ${label}`)],
    ];
  });
  expect(wrong).toEqual([]);
  expect(questions.length).toBeGreaterThan(30);
});

it('every metric is on the dashboard', () => {
  const requested = questions.flatMap(({ expr }) =>
    selected(expr).map(({ name }) => name.replace(/_(?:bucket|count|sum)$/, '')),
  );
  const ours = [...series.keys()].filter((name) => name.startsWith('rollcall_'));
  const missing = new Set(
    ours.map((name) => name.replace(/_(?:bucket|count|sum)$/, '')).filter((name) => !requested.includes(name)),
  );
  expect([...missing]).toEqual([]);
});

it('an alert that selects one value of a label selects one that is scraped', () => {
  const wrong = alerts.flatMap(({ alert, expr }) =>
    selected(expr).flatMap(({ pairs }) =>
      pairs
        .filter(({ how, label, value }) => how === '=' && !isKnown(label, value))
        .map(({ label }) => `${alert}: ${label}`),
    ),
  );
  expect(wrong).toEqual([]);
});

/** Codes of errors are a list of their own: that none was answered yet is no mistake. */
const isKnown = (label: string, value: string) =>
  label === 'code' ? ERROR_CODES.some((code) => code === value) : values.has(`${label}="${value}"`);

it('panels of the dashboard do not overlap, and each has a title', () => {
  const places = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)}/${y + Math.floor(i / w)}`),
  );
  expect(new Set(places).size).toBe(places.length);
  expect(new Set(dashboard.panels.map(({ title }) => title)).size).toBe(dashboard.panels.length);
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
});
