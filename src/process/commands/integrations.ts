import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { StoreContext } from '../../affiliates/stores/connections/access.ts';
import {
  connectStore,
  disconnectStore,
  identifyStore,
  type StoreEntry,
} from '../../affiliates/stores/connections/connect.ts';
import { toIntegration, toWebhookUrl } from '../../affiliates/stores/connections/connections.shapes.ts';
import {
  findBrandOfIntegration,
  type IntegrationRow,
  integrations,
} from '../../affiliates/stores/connections/connections.ts';
import { listAddressWarnings } from '../../affiliates/stores/connections/warnings.ts';
import { getClient } from '../../affiliates/stores/formats/clients.ts';
import { AppRefused, PROVIDERS, type Provider } from '../../affiliates/stores/formats/provider.ts';
import { findBackfill, startBackfill } from '../../affiliates/stores/sweeps/backfills.ts';
import { toBackfill } from '../../affiliates/stores/sweeps/sweeps.api.ts';
import { keepWebhooksNow } from '../../affiliates/stores/webhooks.ts';
import { inWork } from '../../kit/operation/work.ts';
import { ApiError } from '../../kit/values/errors.ts';
import { hasLogin } from '../../kit/values/web-address.ts';
import { brandOption, filled } from './arguments.ts';
import { around } from './around.ts';
import { getBrand } from './brands.ts';
import { readTextFile } from './files.ts';
import { checkIntegration, explain } from './integration-check.ts';
import { type CommandEngines, withEngines } from './open.ts';
import { jsonOption, printList } from './table.ts';

interface ConnectOptions {
  brand?: string;
  provider: Provider;
  url: string;
  tokenFile?: string;
  webhookSecretFile?: string;
  clientId?: string;
  clientSecretFile?: string;
}

function baseUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError('must be a URL such as https://a.example.');
  if (hasLogin(url)) throw new InvalidArgumentError('must not contain a user name or password; pass those in files.');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** Prompts on the terminal without echoing the input. */
async function ask(what: string): Promise<string> {
  around().err.write(`${what}: `);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: around().input, output: nowhere, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    around().err.write('\n');
  }
}

/** Asks on the terminal for what is not secret. */
async function askOpenly(what: string): Promise<string> {
  const lines = createInterface({ input: around().input, output: around().err });
  try {
    return (await lines.question(`${what}: `)).trim();
  } finally {
    lines.close();
  }
}

const HOW_TO_MAKE_AN_APP = `Create an app for the shop, signed in as the shop's owner:
  1. In the shop's admin, open Settings, Apps, Develop apps, Build apps in Dev Dashboard (https://dev.shopify.com).
  2. Choose Create app. Give it a name and, under Access, the scopes read_orders, read_discounts. Choose Release.
  3. On the app's Home, choose Install app, and select the shop. The app must belong to the shop's organization.
  4. The app's Settings show its client ID and client secret.
`;

/**
 * Reads secrets from a file, from stdin (`-`, one per line) or from a prompt, never from an argument, which every
 * process can read.
 */
async function openReader(files: readonly (string | undefined)[]) {
  const pipedLines = files.includes('-') ? (await text(around().input)).split('\n') : [];
  return async (what: string, file: string | undefined): Promise<string> => {
    if (file === undefined && !around().input.isTTY) throw new Error(`Give the ${what} in a file, or - for stdin.`);
    const value = file === undefined ? await ask(what) : file === '-' ? pipedLines.shift() : readTextFile(file);
    if (!value?.trim()) throw new Error(`The ${what} is empty.`);
    return value.trim();
  };
}

/** A Shopify app's client ID; undefined where an access token is entered instead. */
async function readClientId({ provider, clientId, tokenFile, clientSecretFile }: ConnectOptions) {
  if (clientId !== undefined || provider !== 'shopify' || tokenFile !== undefined || !around().input.isTTY) {
    if (clientSecretFile !== undefined && clientId === undefined) throw new Error('Give --client-id as well.');
    return clientId;
  }
  around().err.write(HOW_TO_MAKE_AN_APP);
  return (await askOpenly('client ID (empty: enter an access token of an older custom app)')) || undefined;
}

async function readSecrets(options: ConnectOptions): Promise<Pick<StoreEntry, 'token' | 'webhookSecret' | 'app'>> {
  const { tokenFile, webhookSecretFile, clientSecretFile } = options;
  const id = await readClientId(options);
  const readSecret = await openReader([tokenFile, webhookSecretFile, clientSecretFile]);
  if (id !== undefined) return { app: { id, secret: await readSecret('client secret', clientSecretFile) } };
  const token = await readSecret('access token', tokenFile);
  return { token, webhookSecret: await readSecret('webhook secret', webhookSecretFile) };
}

/** On a terminal, the cause of an error helps more than an API's message. It may contain the store's own words. */
function explained(error: unknown): never {
  if (!(error instanceof ApiError) || !(error.cause instanceof Error)) throw error;
  const what = error.code === 'SERVICE_UNAVAILABLE' ? 'The store was not connected.' : error.message;
  const why = error.cause.message.replace(/[^\P{Cc}\n]+/gu, ' ');
  throw new Error(`${what} ${why}`, { cause: error });
}

/** The engines that calls to a store need. */
const toStoreClient = ({ db, clock, config, secrets }: CommandEngines): StoreContext => ({
  postgres: { db },
  clock,
  config,
  secrets: secrets(),
  log: { warn: () => undefined },
});

function explainedStore(error: unknown): never {
  if (error instanceof AppRefused)
    throw new Error(`The ${error.field.replace('_', ' ')} ${error.message}`, { cause: error });
  explained(error);
}

/** The way to switch the webhooks on by hand, in the words of the shop's own admin. */
const BY_HAND: Readonly<Record<Provider, string>> = {
  shopify: 'In the shop: Settings, Notifications, Webhooks, Create webhook, with the format JSON, for',
  woocommerce: 'In WooCommerce: Settings, Advanced, Webhooks, Add webhook, with the status Active and your secret, for',
  generic: 'In the store, send',
};

async function switchWebhooksOn(asking: StoreContext, row: IntegrationRow): Promise<string> {
  const { topics, webhooks } = getClient(row.provider);
  const webhookCheck = await keepWebhooksNow(asking, row, asking.clock.now()).catch((error: unknown) => ({
    webhookState: 'manual' as const,
    problem: `They could not be looked at yet: ${explain(error)}`,
  }));
  if (!webhookCheck && webhooks && row.webhookState === 'pending') return 'A worker creates its webhooks.\n';
  const { webhookState, problem } = webhookCheck ?? { webhookState: 'manual', problem: null };
  if (webhookState === 'active')
    return 'Its webhooks are on: Rollcall created them and checks them every 15 minutes.\n';
  // Shopify signs an admin's webhooks with another secret than an app's.
  if (row.provider === 'shopify' && problem !== null) return `${problem}\nRollcall tries again every 15 minutes.\n`;
  const url = toWebhookUrl(asking.config.linksUrl, row);
  return `${problem === null ? '' : `${problem}\n`}${BY_HAND[row.provider]}\n  ${topics.join(', ')}\nto ${url}\n`;
}

async function connect(engines: CommandEngines, options: ConnectOptions): Promise<void> {
  const { db, clock, config, secrets } = engines;
  const { provider, url } = options;
  const brand = await getBrand(db, options.brand);
  const entry = { provider, baseUrl: url, ...(await readSecrets(options)) };
  for (const { message } of listAddressWarnings({ provider, baseUrl: url }, config.linksUrl)) {
    around().err.write(`Warning: ${message}\n`);
  }
  const store = await identifyStore({ config, clock }, entry).catch(explainedStore);
  const actor = { brandId: brand.id, keyId: null, operation: 'connect_affiliate_store', requestId: null };
  const row = await inWork(db, clock, actor, (work) => connectStore(work, secrets(), store));
  around().out.write(`${row.id}\n`);
  around().err.write(`${store.facts.name} (${store.facts.storefrontUrl}, ${store.facts.currency}) is connected.\n`);
  around().err.write(await switchWebhooksOn(toStoreClient(engines), row));
}

async function check(engines: CommandEngines, id: string): Promise<void> {
  const steps = await checkIntegration(toStoreClient(engines), await findBrand(engines, id), id);
  for (const { what, passed, said } of steps) around().out.write(`${passed ? 'pass' : 'FAIL'}  ${what}: ${said}\n`);
  if (steps.some(({ passed }) => !passed)) around().exitCode = 1;
}

async function findBrand({ db }: Pick<CommandEngines, 'db'>, id: string): Promise<string> {
  const brandId = await findBrandOfIntegration(db, id);
  if (!brandId) throw new Error(`No integration ${JSON.stringify(id)}.`);
  return brandId;
}

const COLUMNS = ['id', 'provider', 'status', 'webhooks', 'storefront_url', 'name'] as const;

async function list({ db, clock, config }: CommandEngines, options: { brand?: string; json?: boolean }): Promise<void> {
  const { id: brandId } = await getBrand(db, options.brand);
  const items = [];
  const now = clock.now();
  for (let page = 1, offset = 0; ; page += 1) {
    const window = { page, limit: 100, offset };
    const { rows, total } = await integrations.list(db, brandId, { sort: 'newest', now }, window);
    for (const row of rows) {
      const { id, provider, status, webhook_health, storefront_url, name } = toIntegration(row, now, config);
      items.push({ id, provider, status, webhooks: webhook_health.status, storefront_url, name });
    }
    offset += rows.length;
    if (rows.length === 0 || offset >= total) break;
  }
  printList(COLUMNS, items, options.json);
}

async function disconnect(engines: CommandEngines, id: string): Promise<void> {
  const { db, clock, secrets } = engines;
  const brandId = await findBrand(engines, id);
  const actor = { brandId, keyId: null, operation: 'disconnect_affiliate_store', requestId: null };
  await inWork(db, clock, actor, (work) => disconnectStore(work, id, secrets()));
  around().out.write(`${id}\n`);
}

/** Starts reading in, or reports how far it is. */
async function backfill({ db, clock }: CommandEngines, id: string): Promise<void> {
  const brandId = await findBrand({ db }, id);
  const running = await findBackfill(db, brandId, id);
  const actor = { brandId, keyId: null, operation: 'start_store_backfill', requestId: null };
  const row =
    running && running.dueAt !== null ? running : await inWork(db, clock, actor, (work) => startBackfill(work, id));
  const { status, before, reached_at, orders_read, orders_recorded, orders_unread, problem } = toBackfill(row);
  const far = reached_at === null ? 'nothing read yet' : `read up to ${reached_at}`;
  around().out.write(
    `${status}: ${far} of orders that changed before ${before}; ${orders_read} read, ${orders_recorded} recorded, ` +
      `${orders_unread} unreadable\n`,
  );
  if (problem !== null) around().err.write(`${problem}\n`);
}

export function integrationCommands(program: Command): void {
  const integration = program.command('integration').description('stores of a brand');
  integration
    .command('connect')
    .description("connect a store; prints the integration's id, and on stderr the URL for its webhooks")
    .addOption(brandOption())
    .addOption(new Option('--provider <provider>', 'the kind of store').choices(PROVIDERS).makeOptionMandatory())
    .requiredOption('--url <url>', "the base of the store's API, such as https://name.myshopify.com", baseUrl)
    .option('--token-file <file>', 'access token; for WooCommerce consumer key:consumer secret; - for stdin', filled)
    .option(
      '--webhook-secret-file <file>',
      'the secret that the store signs its webhooks with; - for stdin, after the token',
      filled,
    )
    .option('--client-id <id>', "Shopify only: the client ID of an app of the shop's organization", filled)
    .option('--client-secret-file <file>', 'the client secret of that app; - for stdin', filled)
    .addHelpText('after', `\nShopify. ${HOW_TO_MAKE_AN_APP}`)
    .action((options: ConnectOptions) => withEngines((engines) => connect(engines, options)));
  integration
    .command('list')
    .description('the stores of a brand')
    .addOption(brandOption())
    .addOption(jsonOption())
    .action((options: { brand?: string; json?: boolean }) => withEngines((engines) => list(engines, options)));
  integration
    .command('check')
    .description("check everything that a store's connection depends on; each step passes, or fails with its fix")
    .argument('<id>', "the integration's id", filled)
    .action((id: string) => withEngines((engines) => check(engines, id)));
  integration
    .command('backfill')
    .description('let the worker read what a store sold before it was connected; run it again to see the progress')
    .argument('<id>', "the integration's id", filled)
    .action((id: string) => withEngines((engines) => backfill(engines, id)));
  integration
    .command('disconnect')
    .description("refuse a store's deliveries from now on and delete its secrets; prints its id")
    .argument('<id>', "the integration's id", filled)
    .action((id: string) => withEngines((engines) => disconnect(engines, id)));
}
