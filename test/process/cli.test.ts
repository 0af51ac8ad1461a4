import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateCommand } from '../../indexer/generate.ts';
import { importCommand } from '../../indexer/import.ts';
import { pruneCommand } from '../../indexer/prune.ts';
import { runIndexer } from '../../indexer/run.ts';
import { verifyCommand } from '../../indexer/verify.ts';
import { writeCommands } from '../../indexer/write.ts';
import { listSubscriptions } from '../../src/platform/brands/brands.ts';
import { brandCommands } from '../../src/process/commands/brands.ts';
import { clockCommands } from '../../src/process/commands/clock.ts';
import { creditCommands } from '../../src/process/commands/credits.ts';
import { importCommands } from '../../src/process/commands/imports.ts';
import { integrationCommands } from '../../src/process/commands/integrations.ts';
import { keyCommands } from '../../src/process/commands/keys.ts';
import { ledgerCommands } from '../../src/process/commands/ledger.ts';
import { mailCommands } from '../../src/process/commands/mails.ts';
import { call, makeBrand, startApp, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase } from '../harness/database.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { runCli } from '../harness/process/cli.ts';
import { runHere } from '../harness/process/command.ts';

const alias = unique('cli');
let app: TestApp;

beforeAll(async () => {
  app = await startApp({ alias });
  await putDirectory(app.context.elastic, alias, [creator(1)]);
});
afterAll(() => app?.close());

/** A command that did what it was told: what it wrote to stdout. */
async function cli(...args: string[]): Promise<string> {
  const { status, out, said } = await runCli(args);
  expect([status, said]).toEqual([0, expect.any(String)]);
  return out;
}

const usage = (url: string, key: string) => call(`${url}/v1/usage`, key).then(({ status }) => status);

describe('commands for brands and keys', () => {
  it('print only the id of a new brand, and refuse its name from then on', async () => {
    const name = unique('acme');
    const made = await runCli(['brand', 'create', name, '--plan', 'growth']);
    expect([made.status, made.out, made.said]).toEqual([0, expect.stringMatching(/^brd_\w+\n$/), '']);
    const again = await runCli(['brand', 'create', name.toUpperCase()]);
    expect([again.status, again.out]).toEqual([1, '']);
    expect(again.said).toContain('already exists');
  });

  it('create a key, list it without its middle, and make it answer 401 within a second of its revocation', async () => {
    const name = unique('acme');
    const id = (await cli('brand', 'create', name)).trim();
    const made = await cli('key', 'create', '--brand', name, '--type', 'brand', '--name', 'search job');
    expect(made).toMatch(/^svk_\w{40}\n$/);
    const byKey = made.trim();
    const byId = (await cli('key', 'create', '--brand', id, '--type', 'brand')).trim();
    for (const key of [byKey, byId]) expect(await usage(app.url, key)).toBe(200);

    const list = await cli('key', 'list', '--brand', name);
    const lines = list.trim().split('\n');
    expect(lines).toHaveLength(2);
    expect(list).toContain('search job');
    expect(list).not.toContain(byKey.slice(10, 30));
    const idOf = (key: string) => lines.find((line) => line.includes(key.slice(-4)))?.split('\t')[0] ?? '';

    const asArgument = await runCli(['key', 'revoke', byKey]);
    expect([asArgument.status, asArgument.out, await usage(app.url, byKey)]).toEqual([1, '', 200]);
    expect(asArgument.said).not.toContain(byKey);
    expect(await runCli(['key', 'revoke', '-'], {}, `${byKey}\n`)).toMatchObject({ out: `${idOf(byKey)}\n` });
    await until('the revoked key is refused', async () => (await usage(app.url, byKey)) === 401);
    expect(await usage(app.url, byId)).toBe(200);
    expect(await cli('key', 'revoke', idOf(byId))).toBe(`${idOf(byId)}\n`);
    await until('the other one too', async () => (await usage(app.url, byId)) === 401);
    expect(await cli('key', 'list', '--brand', name)).toMatch(/revoked 20.*\n.*revoked 20/);
  });

  it('report an unknown key as an error', async () => {
    const { status, out, said } = await runCli(['key', 'revoke', 'key_none']);
    expect([status, out]).toEqual([1, '']);
    expect(said).toMatch(/no .*API key/i);
    expect(said).toContain('Read more in docs/administration.md, or at /manual/administration of a running server.\n');
  });
});

describe('plan set', () => {
  it('prints the subscriptions, and keeps negotiated credits until they or the plan change', async () => {
    const { id } = await makeBrand(app.context);
    const { db } = app.context.postgres;
    const set = async (...args: string[]) => {
      const printed = (await cli('plan', 'set', '--brand', id, ...args)).trim().split('\n');
      const rows = await listSubscriptions(db, id);
      expect(printed.every((printedId) => rows.some((row) => row.id === printedId))).toBe(true);
      return rows.find(({ kind }) => kind === 'data');
    };
    const agreed = { plan: 'enterprise', monthlyCredits: 5_000 };
    expect(await set('--plan', 'enterprise', '--credits', '5000')).toMatchObject({ ...agreed, status: 'active' });
    expect(await set('--plan', 'enterprise', '--status', 'trialing')).toMatchObject({ ...agreed, status: 'trialing' });
    expect(await set('--plan', 'enterprise', '--credits', '0')).toMatchObject({ ...agreed, monthlyCredits: 0 });
    expect(await set('--plan', 'scale', '--kind', 'data')).toMatchObject({ plan: 'scale', monthlyCredits: null });
  });
});

describe('credits refund', () => {
  it('refunds what a request paid, once, by the request’s or the charge’s id', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('data');
    const search = () => call(`${app.url}/v1/creators/search`, key);
    const left = async () => Number((await search()).headers.get('x-credits-remaining'));

    const paid = await search();
    const requestId = paid.headers.get('x-request-id') ?? '';
    const before = await left();
    const printed = await cli('credits', 'refund', requestId);
    expect(printed).toMatch(/^\S+\t10\n$/);
    expect(await left()).toBe(before);
    const again = await runCli(['credits', 'refund', printed.split('\t')[0] ?? '']);
    expect([again.status, again.out]).toEqual([1, '']);
    expect(again.said).toContain('was already refunded');
  });
});

/** What the parts of `src/cli.ts` add to its program. */
const CLI = [
  ...[brandCommands, keyCommands, creditCommands, ledgerCommands, integrationCommands],
  ...[mailCommands, clockCommands, importCommands],
];
const INDEXER = [importCommand, writeCommands, verifyCommand, pruneCommand, generateCommand];

const COMMANDS: readonly [command: string, needs: string][] = [
  ['plan set', '--plan'],
  ['key create', '--type'],
  ['key revoke', '<id>'],
  ['key rotate', '<id>'],
  ['brand show', '<id or name>'],
  ['mail show', '<id>'],
  ['mail test', '--to'],
  ['clock advance', '<duration>'],
  ['credits refund', '<request-or-charge-id>'],
  ['integration disconnect', '<id>'],
];
const CONNECT = ['integration', 'connect', '--brand', 'x', '--provider', 'generic'];
const words = (command: string) => command.split(' ').filter(Boolean);

function everyCommand(): Command[] {
  const [cli, indexer] = [new Command(), new Command()];
  for (const add of CLI) add(cli);
  for (const add of INDEXER) add(indexer);
  const below = (command: Command): Command[] => command.commands.flatMap((sub) => [sub, ...below(sub)]);
  return [...below(cli), ...below(indexer)];
}

type Attempt = (args: readonly string[]) => Promise<{ status: number | null; out: string; said: string }>;

async function expectHelpAndRefusals(attempt: Attempt, command: string, needs: string): Promise<void> {
  const help = await attempt([...words(command), '--help']);
  expect([help.status, help.said]).toEqual([0, '']);
  expect(help.out).toContain(needs);
  const unknown = await attempt([...words(command), '--nonsense']);
  expect([unknown.status, unknown.out]).toEqual([2, '']);
  expect(unknown.said).toMatch(/^error: [^\n]+\nAdd --help to see what it takes\.\n$/);
  const bare = needs ? await attempt(words(command)) : unknown;
  expect([bare.status, bare.out]).toEqual([2, '']);
}

describe('a command', () => {
  it('names a server that does not answer', async () => {
    const nowhere = {
      ROLLCALL_URL: 'http://127.0.0.1:1',
      ROLLCALL_BRAND_KEY: 'unused',
      ROLLCALL_DIR: '/dev/null/none',
    };
    const listed = await runCli(['webhook', 'list'], nowhere);
    expect(listed).toMatchObject({
      status: 1,
      out: '',
      said: 'The server at http://127.0.0.1:1 cannot be reached; is it running?\n',
    });
  });

  it('never takes several arguments, so that a name with a space is an error', () => {
    const commands = everyCommand();
    expect(commands.length).toBeGreaterThan(15);
    for (const command of commands) {
      expect(command.registeredArguments.length, command.name()).toBeLessThanOrEqual(1);
    }
  });

  it.each(COMMANDS)('shows help with %s --help; an unknown flag or a missing one is refused', (command, needs) =>
    expectHelpAndRefusals(runCli, command, needs),
  );

  it.each([
    [['brand', 'create', '']],
    [['brand', 'create', 'x'.repeat(201)]],
    [['plan', 'set', '--plan', 'scale', '--brand', ' ']],
    [['key', 'create', '--brand', 'x', '--type', 'data', '--name', '']],
    [['key', 'revoke', ' \t']],
    [['credits', 'refund', '']],
    [['key', 'rotate', 'key_x', '--overlap', '31d']],
    [['key', 'rotate', 'key_x', '--overlap', 'soon']],
    [['mail', 'test', '--brand', 'x', '--to', 'nobody']],
    [[...CONNECT, '--url', 'https://:pw@shop.example']],
    [[...CONNECT, '--url', 'https://me@shop.example']],
  ])('refuses a blank or impossible value with exit code 2: %j', async (args) => {
    const { status, out, said } = await runCli(args);
    expect([status, out]).toEqual([2, '']);
    expect(said).toMatch(/must (be|have|not)/);
  });

  it.each([[['import', 'a.ndjson', '']], [['verify', '']]])(
    'of the indexer refuses a blank value with exit code 2: %j',
    async (args) => {
      const { status, out, said } = await runHere(() => runIndexer(args), {});
      expect([status, out]).toEqual([2, '']);
      expect(said).toMatch(/must not be blank/);
    },
  );

  it('works for the only brand without --brand, and names the brands if there are several', async () => {
    const own = await makeDatabase('only');
    try {
      const env = { DATABASE_URL: own.url };
      expect(await runCli(['key', 'list'], env)).toMatchObject({
        status: 1,
        said: expect.stringContaining('no brand yet'),
      });
      await runCli(['brand', 'create', 'Acme'], env);
      expect((await runCli(['key', 'create', '--type', 'brand'], env)).out).toMatch(/^svk_/);
      await runCli(['brand', 'create', 'Birch'], env);
      const several = await runCli(['key', 'list'], env);
      expect([several.status, several.out]).toEqual([1, '']);
      expect(several.said).toMatch(/There are 2 brands: "Birch", "Acme"\.\nSay which one with --brand\.\n/);
    } finally {
      await own.drop();
    }
  });

  it('lists the events where the name of one is wrong', async () => {
    const env = { ROLLCALL_URL: 'http://127.0.0.1:1', ROLLCALL_BRAND_KEY: 'unused', ROLLCALL_DIR: '/dev/null/none' };
    const listened = await runCli(['listen', '--events', 'payout.made'], env);
    expect(listened.status).toBe(1);
    expect(listened.said).toMatch(
      /^payout\.made is not an event\. The events are:\n {2}application\.approved\n[\s\S]* {2}payout\.created\n/,
    );
  });
});
