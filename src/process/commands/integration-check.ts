import { openStore, renewToken, type StoreContext } from '../../affiliates/stores/connections/access.ts';
import { toIntegration, toWebhookUrl } from '../../affiliates/stores/connections/connections.shapes.ts';
import { getIntegrationWithHealth } from '../../affiliates/stores/connections/connections.ts';
import { listAddressWarnings, listWarnings } from '../../affiliates/stores/connections/warnings.ts';
import { getClient } from '../../affiliates/stores/formats/clients.ts';
import { keepWebhooksNow, LOOKED_AT_EVERY_MS } from '../../affiliates/stores/webhooks.ts';
import { callJson } from '../../kit/engines/http/client.ts';
import { ApiError } from '../../kit/values/errors.ts';

/** One line of the check: what was looked at, and what to do where it fails. */
export interface Step {
  what: string;
  passed: boolean;
  said: string;
}

type Row = Awaited<ReturnType<typeof getIntegrationWithHealth>>;

const CALL_MS = 8_000;
const MAX_BYTES = 64 * 1024;

/** The reason behind an answer, on one line: a store has a part in its words. */
export function explain(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const why = cause instanceof Error ? ` ${cause.message}` : '';
  return `${message}${why}`.replace(/[\p{Cc}\s]+/gu, ' ').trim();
}

async function step(what: string, look: () => Promise<string>, fix: string): Promise<Step> {
  try {
    return { what, passed: true, said: await look() };
  } catch (error) {
    return { what, passed: false, said: `${explain(error)} ${fix}`.trim() };
  }
}

const RECONNECT = 'Connect the store again (`integration connect`), which keeps its id and its orders.';

async function lookAtAddress(row: Row, linksUrl: string): Promise<string> {
  const [warning] = listAddressWarnings(row, linksUrl);
  if (warning) throw new Error(warning.message);
  const url = new URL(toWebhookUrl(linksUrl, row));
  const call = { url, name: url.host, method: 'POST', headers: {}, body: {}, timeoutMs: CALL_MS, maxBytes: MAX_BYTES };
  const { status } = await callJson({ ...call, method: 'POST' });
  // The delivery is unsigned, so 401 proves that the address leads to this installation.
  if (status !== 401) throw new Error(`${url.href} answered ${status} instead of 401.`);
  return url.href;
}

async function lookAtWebhooks(asking: StoreContext, row: Row): Promise<string> {
  const { topics } = getClient(row.provider);
  const dueBy = new Date(asking.clock.now().getTime() + LOOKED_AT_EVERY_MS);
  const webhookCheck = await keepWebhooksNow(asking, row, dueBy);
  const { webhookState, missing, problem } = webhookCheck ?? { webhookState: 'manual', missing: [], problem: null };
  if (webhookState === 'active') return `all ${topics.length} are on`;
  if (missing.length > 0) throw new Error(`${missing.join(', ')} not on. ${problem ?? ''}`);
  return `created by hand: ${topics.join(', ')}`;
}

function lookAtDeliveries({ webhook_health: health }: ReturnType<typeof toIntegration>): string {
  const last = health.last_received_at ?? 'never';
  if (health.status === 'ok') return `the last one came ${last}`;
  throw new Error(
    `Webhooks are ${health.status}; the last delivery came ${last}, ${health.failures_24h} were refused in 24 hours.`,
  );
}

/** Everything that a connection lives on, in the order in which it breaks. */
export async function checkIntegration(asking: StoreContext, brandId: string, id: string): Promise<Step[]> {
  const { config, clock, postgres } = asking;
  const readStore = () => getIntegrationWithHealth(postgres.db, brandId, id, clock.now());
  const row = await readStore();
  if (row.status === 'disconnected') throw new ApiError('CONFLICT', 'The store is disconnected.');
  const client = getClient(row.provider);
  const steps = [
    await step('token', () => renewToken(asking, row), RECONNECT),
    await step(
      'store',
      async () => {
        const { name, currency, storefrontUrl } = await client.connect(await openStore(asking, row));
        return `${name}, ${currency}, ${storefrontUrl}; coupons can be read`;
      },
      RECONNECT,
    ),
    await step(
      'orders',
      async () => {
        const orderPage = await client.listOrders(await openStore(asking, row), { since: clock.now(), cursor: null });
        return orderPage ? 'can be listed' : 'are told by webhooks alone: this store lists none';
      },
      'Give the key or app the right to read orders.',
    ),
    await step('webhooks', () => lookAtWebhooks(asking, row), ''),
    await step(
      'address',
      () => lookAtAddress(row, config.linksUrl),
      'Start the server, and set LINKS_URL to its address.',
    ),
  ];
  const now = await readStore();
  const [warning] = listWarnings(now, config.linksUrl).filter(({ code }) => code === 'api_version');
  const version = async () => {
    if (warning) throw new Error(warning.message);
    return now.apiVersion ?? 'not versioned';
  };
  const item = toIntegration(now, clock.now(), config);
  return [
    ...steps,
    await step('version', version, ''),
    await step('deliveries', async () => lookAtDeliveries(item), 'Place a test order, then check again.'),
  ];
}
