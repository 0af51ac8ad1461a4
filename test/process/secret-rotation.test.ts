import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { queueMail } from '../../src/kit/mail/queue.ts';
import { inWork } from '../../src/kit/operation/work.ts';
import { mintClick, readClick } from '../../src/kit/values/click-token.ts';
import {
  forgetPreviousSecretFile,
  makeSecretOnce,
  openSecrets,
  readSecrets,
  replaceSecretFile,
} from '../../src/kit/values/secrets.ts';
import { SEALED } from '../../src/process/reseal.ts';
import { openShop, type Shop } from '../harness/affiliates/shop.ts';
import { deliver, signedDelivery, WEBHOOK_SECRET } from '../harness/affiliates/store.ts';
import { SECRET, send, startApp, type TestApp } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { mailsOf, pathOf } from '../harness/kit/mail.ts';
import { runCli } from '../harness/process/cli.ts';

const NEW = 'decade00'.repeat(8);
let database: TestDatabase;
let shop: Shop;
/** The installation under the old secret, under the new one beside the old, and under the new one alone. */
let before: TestApp;
let both: TestApp;
let after: TestApp;

beforeAll(async () => {
  database = await makeDatabase('secrets');
  const at = (env: NodeJS.ProcessEnv) => startApp({ urls: { postgres: database.url }, env });
  before = await at({});
  [both, after] = await Promise.all([
    at({ ROLLCALL_SECRET: NEW, ROLLCALL_PREVIOUS_SECRET: SECRET }),
    at({ ROLLCALL_SECRET: NEW }),
  ]);
  shop = await openShop(before, 'generic');
});
afterAll(async () => {
  await shop?.store.close();
  for (const app of [before, both, after]) await app?.close();
  await database?.drop();
});

const report = async ({ url }: TestApp) =>
  (await deliver(url, 'generic', shop.id, signedDelivery('generic', WEBHOOK_SECRET, 'x', {}))).status;
const rotate = (env: NodeJS.ProcessEnv) =>
  runCli(['secret', 'rotate', '--json'], { DATABASE_URL: database.url, ...env });

describe('a new secret', () => {
  it('opens what the old one sealed and signed while both are set, and alone what was resealed', async () => {
    const { postgres, clock } = before.context;
    const actor = { brandId: shop.brand.id, keyId: null, operation: 'test', requestId: null };
    const mail = {
      kind: 'mail_test' as const,
      to: 'ann@mail.example',
      subjectRow: 'one',
      params: { at: '2027-01-01T00:00:00Z' },
    };
    await inWork(postgres.db, clock, actor, (work) => queueMail(work, mail));
    const [{ links: [link = ''] = [] } = {}] = await mailsOf(before.context, shop.brand.id);
    const page = async ({ url }: TestApp) => (await fetch(url + pathOf(link))).status;
    const key = await shop.brand.key('brand');
    const hook = { url: 'https://hooks.example/a', events: ['payout.created'] };
    const made = await send(`${before.url}/v1/webhooks`, key, 'POST', hook);
    expect(made.status).toBe(201);
    // Its shop has no secrets.
    const order = { source: 'pop-up', order_id: '1', currency: 'USD', amount: 5, placed_at: '2026-03-02T09:30:00Z' };
    expect((await send(`${before.url}/v1/orders`, key, 'POST', order)).status).toBe(200);

    expect([await report(before), await report(both), await report(after)]).toEqual([200, 200, 503]);
    expect([await page(before), await page(both), await page(after)]).toEqual([200, 200, 404]);

    const customerOf = async (app: TestApp, order_id: string, email: string) => {
      const paid = {
        order_id,
        currency: 'USD',
        amount: 5,
        placed_at: '2026-03-01T00:00:00Z',
        paid_at: '2026-03-01T00:00:00Z',
      };
      const order = { source: 'shop', ...paid, updated_at: paid.placed_at, customer_email: email };
      const { status, body } = await send(`${app.url}/v1/orders`, key, 'POST', order);
      expect(status, JSON.stringify(body)).toBeLessThan(300);
      return body.data.customer;
    };
    expect(await customerOf(before, 'o-1', 'jane@mail.example')).toBe('new');

    const one = await rotate({ ROLLCALL_SECRET: NEW, ROLLCALL_PREVIOUS_SECRET: SECRET });
    expect([one.status, one.said]).toEqual([0, expect.stringContaining('ROLLCALL_PREVIOUS_SECRET')]);
    const counts = (out: string) =>
      Object.fromEntries(
        JSON.parse(out).map((row: { what: string; resealed: number; current: number; lost: number }) => [
          row.what,
          [row.resealed, row.current, row.lost],
        ]),
      );
    expect(counts(one.out)).toMatchObject({
      'integrations.secrets': [2, 0, 0],
      'webhook_subscriptions.secret': [1, 0, 0],
    });
    const again = await rotate({ ROLLCALL_SECRET: NEW, ROLLCALL_PREVIOUS_SECRET: SECRET });
    expect(counts(again.out)).toMatchObject({
      'integrations.secrets': [0, 2, 0],
      'webhook_subscriptions.secret': [0, 1, 0],
    });

    expect([await report(both), await report(after)]).toEqual([200, 200]);
    const { secret } = await after.context.postgres.db
      .selectFrom('webhookSubscriptions')
      .select('secret')
      .where('id', '=', made.body.data.id)
      .executeTakeFirstOrThrow();
    expect(after.context.secrets.open(secret, made.body.data.id)).toBe(made.body.data.secret);

    expect(await customerOf(both, 'o-2', 'Jane+1@mail.example')).toBe('returning');
    expect(await customerOf(after, 'o-3', 'jane@mail.example')).toBe('returning');
    expect(await customerOf(after, 'o-4', 'jan@mail.example')).toBe('new');
  });

  it('needs both variables, and reports a value that neither secret opens', async () => {
    const { status, said } = await rotate({ ROLLCALL_SECRET: NEW });
    expect([status, said]).toEqual([1, expect.stringContaining('ROLLCALL_PREVIOUS_SECRET to the old one')]);
    const strange = await rotate({ ROLLCALL_SECRET: 'ab'.repeat(32), ROLLCALL_PREVIOUS_SECRET: 'cd'.repeat(32) });
    expect([strange.status, strange.said]).toEqual([1, expect.stringContaining('open under neither secret')]);
    expect(await report(after)).toBe(200);
  });

  it('reads the clicks that the old one signed', () => {
    const old = openSecrets(Buffer.from(SECRET, 'hex'));
    const now = openSecrets(Buffer.from(NEW, 'hex'), Buffer.from(SECRET, 'hex'));
    const token = mintClick(old.key('click'), { linkId: 'lnk_0Tb5wZk3aBcDeFgHiJkL', atMs: 1_700_000_000_000 });
    expect(readClick(now.key('click'), token)).toBeUndefined();
    expect(readClick(now.previousKey('click') ?? now.key('click'), token)).toMatchObject({
      linkId: 'lnk_0Tb5wZk3aBcDeFgHiJkL',
    });
  });

  it('is a file in the embedded folder, next to which the old one stays until it is deleted', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'secret-'));
    const config = readConfig({ ROLLCALL_DIR: folder });
    makeSecretOnce(config, false);
    const sealed = readSecrets(config).seal('token', 'one');
    const old = readFileSync(path.join(folder, 'secret.hex'), 'utf8');
    replaceSecretFile(config);
    expect(readFileSync(path.join(folder, 'secret.hex'), 'utf8')).not.toBe(old);
    expect(readFileSync(path.join(folder, 'secret.previous.hex'), 'utf8')).toBe(old);
    expect(statSync(path.join(folder, 'secret.hex')).mode & 0o777).toBe(0o600);
    expect([readSecrets(config).open(sealed, 'one'), readSecrets(config).stateOf(sealed, 'one')]).toEqual([
      'token',
      'previous',
    ]);
    forgetPreviousSecretFile(config);
    expect(existsSync(path.join(folder, 'secret.previous.hex'))).toBe(false);
    expect(readSecrets(config).stateOf(sealed, 'one')).toBe('lost');
    rmSync(folder, { recursive: true });
  });
});

it('every column of bytes is either sealed, and resealed with a new secret, or not secret at all', async () => {
  /** Digests, public keys and hashes. */
  const PLAIN = [
    'access_tokens.hash',
    'agent_grants.client_hash',
    'agent_grants.code_hash',
    'agent_grants.refresh_hash',
    'agent_grants.spent_refresh_hash',
    'api_keys.hash',
    'contracts.content_hash',
    'directory_forget_requests.address_hash',
    'directory_forgotten_hashes.hash',
    'idempotency_keys.request_hash',
    'imports.sha256',
    'ledger_entries.hash',
    'ledger_verifications.ledger_hash',
    'ledger_verifications.seal_hash',
    'orders.customer_hash',
    'orders.customer_id_hash',
    'outbox_numbers.ledger_hash',
    'outbox_numbers.seal_hash',
    'passkeys.public_key',
    'seal_conversions.new_hash',
    'seal_conversions.old_hash',
    'seals.hash',
    'seals.ledger_hash',
    'statements.ledger_hash',
    'sign_in_links.hash',
    'spent_refresh_tokens.hash',
    // Sealed under the token that was sent, for ten minutes: a new secret does not concern it.
    'spent_refresh_tokens.sealed_next',
    'store_authorizations.token_hash',
    'assets.sha256',
    'credit_months.sha256',
    'credit_sums.sha256',
    'job_files.sha256',
  ];
  const { rows } = await sql<{ name: string }>`select table_name || '.' || column_name as name
    from information_schema.columns where table_schema = 'public' and data_type = 'bytea'`.execute(
    before.context.postgres.db,
  );
  const known = new Set([...PLAIN, ...SEALED.map(({ table, column }) => `${table}.${column}`)]);
  expect(rows.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
});
