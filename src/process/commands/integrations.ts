import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Provider } from '../../engines/postgres/attribution-tables.ts';
import { inWork } from '../../operation/work.ts';
import { askWhoItIs, connectStore, disconnectStore } from '../../resources/integrations/actions.ts';
import { findBrandOfIntegration, integrations } from '../../resources/integrations/queries.ts';
import { integrationOf, PROVIDERS, webhookUrlOf } from '../../resources/integrations/schema.ts';
import { ApiError } from '../../values/errors.ts';
import { hasLogin } from '../../values/web-address.ts';
import { filled } from './arguments.ts';
import { getBrand } from './brands.ts';
import { readTextFile } from './files.ts';
import { type CommandEngines, withEngines } from './open.ts';
import { jsonOption, printList } from './table.ts';

const TOPICS: Readonly<Record<Provider, string>> = {
  shopify: 'orders/create, orders/paid, orders/updated, orders/cancelled, orders/delete, refunds/create',
  woocommerce: 'order.created, order.updated, order.deleted, order.restored',
  generic: 'order.created, order.paid, order.updated, order.cancelled, order.refunded',
};

interface ConnectOptions {
  brand: string;
  provider: Provider;
  url: string;
  tokenFile?: string;
  webhookSecretFile?: string;
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
  process.stderr.write(`${what}: `);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

/**
 * Reads secrets from a file, from stdin (`-`, one per line) or from a prompt, never from an argument, which every
 * process can read.
 */
async function readSecrets({ tokenFile, webhookSecretFile }: ConnectOptions) {
  const piped = [tokenFile, webhookSecretFile].includes('-') ? (await text(process.stdin)).split('\n') : [];
  const read = async (what: string, file: string | undefined) => {
    if (file === undefined && !process.stdin.isTTY) throw new Error(`Give the ${what} in a file, or - for stdin.`);
    const value = file === undefined ? await ask(what) : file === '-' ? piped.shift() : readTextFile(file);
    if (!value?.trim()) throw new Error(`The ${what} is empty.`);
    return value.trim();
  };
  const token = await read('access token', tokenFile);
  return { token, webhookSecret: await read('webhook secret', webhookSecretFile) };
}

/** On a terminal, the cause of an error helps more than an API's message. It may contain the store's own words. */
function explained(error: unknown): never {
  if (!(error instanceof ApiError) || !(error.cause instanceof Error)) throw error;
  const what = error.code === 'SERVICE_UNAVAILABLE' ? 'The store was not connected.' : error.message;
  const why = error.cause.message.replace(/[^\P{Cc}\n]+/gu, ' ');
  throw new Error(`${what} ${why}`, { cause: error });
}

async function connect({ db, clock, config, secrets }: CommandEngines, options: ConnectOptions): Promise<void> {
  const { provider, url } = options;
  const brand = await getBrand(db, options.brand);
  const entry = { provider, baseUrl: url, ...(await readSecrets(options)) };
  const store = await askWhoItIs({ config, clock }, entry).catch(explained);
  const actor = { brandId: brand.id, keyId: null, operation: 'connect_affiliate_store', requestId: null };
  const { id } = await inWork(db, clock, actor, (work) => connectStore(work, secrets(), store));
  process.stdout.write(`${id}\n`);
  process.stderr.write(`${store.facts.name} (${store.facts.storefrontUrl}, ${store.facts.currency}) is connected. In the store, send
  ${TOPICS[provider]}
to ${webhookUrlOf(config.linksUrl, { provider, id })}\n`);
}

const COLUMNS = ['id', 'provider', 'status', 'webhooks', 'storefront_url', 'name'] as const;

async function list({ db, clock, config }: CommandEngines, options: { brand: string; json?: boolean }): Promise<void> {
  const { id: brandId } = await getBrand(db, options.brand);
  const items = [];
  const now = clock.now();
  for (let page = 1, seen = 0; ; page += 1) {
    const window = { page, limit: 100, offset: seen };
    const { rows, total } = await integrations.list(db, brandId, { sort: 'newest', now }, window);
    for (const row of rows) {
      const { id, provider, status, webhook_health, storefront_url, name } = integrationOf(row, now, config);
      items.push({ id, provider, status, webhooks: webhook_health.status, storefront_url, name });
    }
    seen += rows.length;
    if (rows.length === 0 || seen >= total) break;
  }
  printList(COLUMNS, items, options.json);
}

async function disconnect({ db, clock }: CommandEngines, id: string): Promise<void> {
  const brandId = await findBrandOfIntegration(db, id);
  if (!brandId) throw new Error(`No integration ${JSON.stringify(id)}.`);
  const actor = { brandId, keyId: null, operation: 'disconnect_affiliate_store', requestId: null };
  await inWork(db, clock, actor, (work) => disconnectStore(work, id));
  process.stdout.write(`${id}\n`);
}

export function integrationCommands(program: Command): void {
  const integration = program.command('integration').description('stores of a brand');
  integration
    .command('connect')
    .description("connect a store; prints the integration's id, and on stderr the URL for its webhooks")
    .requiredOption('--brand <id or name>', 'the brand', filled)
    .addOption(new Option('--provider <provider>', 'the kind of store').choices(PROVIDERS).makeOptionMandatory())
    .requiredOption('--url <url>', "the base of the store's API, such as https://name.myshopify.com", baseUrl)
    .option('--token-file <file>', 'access token; for WooCommerce consumer key:consumer secret; - for stdin', filled)
    .option(
      '--webhook-secret-file <file>',
      'the secret that the store signs its webhooks with; - for stdin, after the token',
      filled,
    )
    .action((options: ConnectOptions) => withEngines((engines) => connect(engines, options)));
  integration
    .command('list')
    .description('the stores of a brand')
    .requiredOption('--brand <id or name>', 'the brand', filled)
    .addOption(jsonOption())
    .action((options: { brand: string; json?: boolean }) => withEngines((engines) => list(engines, options)));
  integration
    .command('disconnect')
    .description("refuse a store's deliveries from now on and delete its secrets; prints its id")
    .argument('<id>', "the integration's id", filled)
    .action((id: string) => withEngines((engines) => disconnect(engines, id)));
}
