import { readImportFigures as readFileFigures } from '../../affiliates/imports/tallies.ts';
import { readPayoutFigures } from '../../affiliates/payouts/payouts.ts';
import { readStoreFigures } from '../../affiliates/stores/connections/connections.ts';
import { DELIVERY_STATES } from '../../affiliates/stores/deliveries/deliveries.shapes.ts';
import { readInbox } from '../../affiliates/stores/deliveries/fold.ts';
import { getClient } from '../../affiliates/stores/formats/clients.ts';
import { readSweepFigures } from '../../affiliates/stores/sweeps/sweeps.ts';
import { readImportFigures } from '../../directory/imports/indexing/records.ts';
import { indexBehind, listIndices } from '../../kit/engines/elastic/indices.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Metrics } from '../../kit/values/metrics.ts';
import { openScraped } from './scraped.ts';

/** Counting goes over all payouts or stores, and few change within a minute. */
const COUNTS_KEPT_MS = 60_000;

/** Metrics of imports, and of the directory's size and age. */
export function meterDirectory(metrics: Metrics, { postgres, elastic, config, clock }: Context): void {
  const alias = config.directoryAlias;
  const imports = openScraped(metrics, () => readImportFigures(postgres.reads, alias));
  imports('rollcall_directory_imports', 'Imports of the directory by state.', ['state'], (one, known) => {
    for (const { state, count } of known.imports) one.set({ state }, count);
  });
  const help = 'Rows that imports in a state have accepted or rejected.';
  imports('rollcall_directory_import_rows', help, ['state', 'outcome'], (one, known) => {
    for (const { state, accepted, rejected } of known.imports) {
      one.set({ state, outcome: 'accepted' }, accepted);
      one.set({ state, outcome: 'rejected' }, rejected);
    }
  });
  imports(
    'rollcall_directory_age_seconds',
    'Time since the directory was last imported or written.',
    [],
    (one, known) => {
      one.set(known.changedAt ? (clock.now().getTime() - known.changedAt.getTime()) / 1_000 : Number.NaN);
    },
  );
  const heldHelp = 'Whether an import is held and waits for `indexer approve` or `discard`: 1 or 0.';
  imports('rollcall_directory_import_held', heldHelp, [], (one, known) => {
    one.set(known.imports.some(({ state }) => state === 'held') ? 1 : 0);
  });
  const fill = 'Share of the rows of the live import that have a value, by field.';
  imports('rollcall_directory_fill_ratio', fill, ['field'], (one, known) => {
    for (const [field, share] of Object.entries(known.fill)) one.set({ field }, share);
  });
  const size = openScraped(metrics, async () => {
    const live = await indexBehind(elastic, alias);
    return live === undefined ? undefined : (await listIndices(elastic, live)).find(({ name }) => name === live);
  });
  size('rollcall_directory_creators', 'Creators in the live directory.', [], (one, live) => {
    one.set(live?.documents ?? Number.NaN);
  });
  size('rollcall_directory_bytes', 'Bytes of the live directory.', [], (one, live) => {
    one.set(live?.bytes ?? Number.NaN);
  });
}

const RECENTLY_MS = 300_000;

/** Measures the deliveries of stores, received and waiting. Workers have no port for scraping. */
export function meterInbox(metrics: Metrics, { postgres, clock }: Context): void {
  const inbox = openScraped(metrics, () => {
    const now = clock.now();
    return readInbox(postgres.reads, now, new Date(now.getTime() - RECENTLY_MS));
  });
  const help = 'Deliveries of stores that wait to be folded: due now, or to be tried again later.';
  inbox('rollcall_store_deliveries_waiting', help, ['when'], (one, { waiting }) => {
    for (const [when, count] of Object.entries(waiting)) one.set({ when }, count);
  });
  const age = 'How long the oldest due delivery of a store waits; 0: none.';
  inbox('rollcall_store_deliveries_oldest_due_seconds', age, [], (one, { oldestDueAt }) => {
    one.set(oldestDueAt ? Math.max(0, (clock.now().getTime() - oldestDueAt.getTime()) / 1_000) : 0);
  });
  const states = 'Deliveries of stores that came within five minutes, by outcome.';
  inbox('rollcall_store_deliveries_5m', states, ['state'], (one, { received }) => {
    for (const state of DELIVERY_STATES) one.set({ state }, 0);
    for (const { state, count } of received) one.set({ state }, count);
  });
}

/** Metrics of the files that brands sent. */
export function meterImports(metrics: Metrics, { postgres }: Context): void {
  const imports = openScraped(metrics, () => readFileFigures(postgres.reads), COUNTS_KEPT_MS);
  imports('rollcall_imports', "Imports of brands' files by status.", ['of', 'status'], (one, known) => {
    for (const { of, status, imports: count } of known) one.set({ of, status }, count);
  });
  const help = "Records in brands' files by outcome.";
  imports('rollcall_import_records', help, ['of', 'status', 'outcome'], (one, known) => {
    for (const { of, status, records } of known)
      for (const [outcome, count] of Object.entries(records)) one.set({ of, status, outcome }, count);
  });
}

export function meterPayouts(metrics: Metrics, { postgres }: Context): void {
  const payouts = openScraped(metrics, () => readPayoutFigures(postgres.reads), COUNTS_KEPT_MS);
  payouts('rollcall_payouts', 'Payouts by status and method.', ['status', 'method'], (one, known) => {
    for (const { status, method, count } of known.payouts) one.set({ status, method }, count);
  });
  payouts(
    'rollcall_payouts_unallocated',
    'Payouts that are not fully allocated to commissions yet.',
    [],
    (one, known) => {
      one.set(known.unallocated);
    },
  );
}

/** Connected stores, by the version of the API that answers and by whether their webhooks are on. */
export function meterStores(metrics: Metrics, { postgres }: Context): void {
  const stores = openScraped(metrics, () => readStoreFigures(postgres.reads), COUNTS_KEPT_MS);
  const labels: ('provider' | 'version' | 'current')[] = ['provider', 'version', 'current'];
  stores('rollcall_store_api_versions', 'Connected stores by the API version that answers.', labels, (one, known) => {
    for (const { provider, apiVersion, count } of known.versions) {
      const current = String(apiVersion === getClient(provider).version);
      one.set({ provider, version: apiVersion, current }, count);
    }
  });
  const help = 'Connected stores by whether their webhooks are on.';
  stores('rollcall_store_webhooks', help, ['provider', 'state'], (one, known) => {
    for (const { provider, webhookState: state, count } of known.webhooks) one.set({ provider, state }, count);
  });
}

/** Metrics of what was read from stores directly, in addition to their webhooks. */
export function meterSweeps(metrics: Metrics, { postgres, clock }: Context): void {
  const sweeps = openScraped(metrics, () => readSweepFigures(postgres.reads, clock.now()), COUNTS_KEPT_MS);
  sweeps('rollcall_store_sweeps_total', 'Sweeps of stores by outcome.', ['outcome'], (one, known) => {
    one.set({ outcome: 'done' }, known.done);
    one.set({ outcome: 'failed' }, known.failed);
  });
  const help = 'Orders that sweeps read; `missed`: no webhook reported them; `unread`: they could not be read.';
  sweeps('rollcall_store_sweep_orders_total', help, ['kind'], (one, known) => {
    one.set({ kind: 'read' }, known.read);
    one.set({ kind: 'missed' }, known.missed);
    one.set({ kind: 'unread' }, known.unread);
  });
  sweeps('rollcall_store_sweep_lag_seconds', 'How long the most overdue sweep has been due.', [], (one, known) => {
    one.set(known.oldestDueAt ? (clock.now().getTime() - known.oldestDueAt.getTime()) / 1_000 : 0);
  });
}
