/**
 * The API with one part changed, to measure its cost: `node altered-api.ts <change>…`.
 *   request-cache   pages are requested from Elasticsearch with its request cache on
 *   unmetered       counting and debiting happen in this process, without Redis
 *   unrecorded      what keys call is not recorded
 *   unchanged       nothing, to compare with
 */

import { readConfig } from '../src/config.ts';
import { openDirectory } from '../src/directory/search/directory.ts';
import { openLiveIndex } from '../src/kit/engines/elastic/live-index.ts';
import type { Context } from '../src/kit/operation/context.ts';
import { buildApps } from '../src/process/apps.ts';
import { configuredUrls } from '../src/process/engine-urls.ts';
import { listen } from '../src/process/listen.ts';
import { openContext } from '../src/process/open-context.ts';
import { answerInProcess } from './unmetered.ts';

function withRequestCache(context: Context): Context {
  const elastic: Context['elastic'] = {
    ...context.elastic,
    post: (path, body, type) => context.elastic.post(`${path}&request_cache=true`, body, type),
  };
  const live = openLiveIndex(elastic, context.config.directoryAlias);
  const { admission } = context.directory;
  const directory = openDirectory({ elastic, live, db: context.postgres.db, redis: context.redis, admission });
  return { ...context, elastic, directory };
}

function withoutRecord(context: Context): Context {
  return { ...context, calls: { ...context.calls, end: () => undefined } };
}

const CHANGES = new Map([
  ['request-cache', withRequestCache],
  ['unrecorded', withoutRecord],
  ['unchanged', (context: Context): Context => context],
  ['unmetered', (context: Context): Context => ({ ...context, redis: answerInProcess(context.redis) })],
]);

const changes = process.argv.slice(2).map((name) => CHANGES.get(name));
if (changes.length === 0 || changes.includes(undefined)) {
  throw new Error(`Usage: node altered-api.ts ${[...CHANGES.keys()].join('|')}…`);
}
const config = readConfig();
const { context } = openContext(config, configuredUrls(config));
const apps = await buildApps(changes.reduce((changed, change) => change?.(changed) ?? changed, context));
await listen(apps, config);
