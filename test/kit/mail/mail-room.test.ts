import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { listMails } from '../../../src/kit/mail/mails.ts';
import { queueMail } from '../../../src/kit/mail/queue.ts';
import { sendDueMails } from '../../../src/kit/mail/sender.ts';
import { inWork } from '../../../src/kit/operation/work.ts';
import { openRepeatedFailures } from '../../../src/kit/values/repeated-failures.ts';
import { call, makeBrand, startApp, type TestApp, type TestBrand, unique } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';
import { mailsOf, pathOf, startSmtp, type TestSmtp } from '../../harness/kit/mail.ts';
import { runCli } from '../../harness/process/cli.ts';

/** A database of its own: a sender sends the mails of every brand. */
let database: TestDatabase;
let smtp: TestSmtp;
let app: TestApp;
let brand: TestBrand;
let clockMs = Date.parse('2027-03-01T09:00:00Z');
const clock = { now: () => new Date(clockMs) };

beforeAll(async () => {
  [database, smtp] = await Promise.all([makeDatabase('mails'), startSmtp()]);
  app = await startApp({
    clock,
    urls: { postgres: database.url },
    env: { SMTP_URL: smtp.url, MAIL_FROM: 'mail@rollcall.example' },
  });
  brand = await makeBrand(app.context);
});
afterEach(async () => {
  smtp.answers.length = 0;
  await app.context.postgres.db.deleteFrom('mails').execute();
  smtp.received.length = 0;
});
afterAll(async () => {
  await app?.close();
  await smtp?.close();
  await database?.drop();
});

const at = '2027-03-01T09:00:00.000Z';
const actor = () => ({ brandId: brand.id, keyId: null, operation: 'test', requestId: null });
const queue = (to: string, subjectRow = unique('row')) =>
  inWork(app.context.postgres.db, clock, actor(), (work) =>
    queueMail(work, { kind: 'mail_test', to, subjectRow, params: { at } }),
  );
const rows = () => listMails(app.context.postgres.db, brand.id, 100);
const sendDue = () => sendDueMails(app.context);
async function only() {
  const [row, ...more] = await rows();
  if (!row || more.length > 0) throw new Error('There is not one mail.');
  return row;
}

describe('a mail', () => {
  it('is sent by SMTP with its headers, and names its brand and how to unsubscribe', async () => {
    expect(await queue('zoe@mail.example')).toBe('queued');
    await sendDue();
    const { id, state, sentAt, messageId } = await only();
    expect([state, sentAt, messageId]).toEqual(['sent', clock.now(), `<${id}@rollcall.example>`]);
    const [{ from = '', to = [], raw = '' } = {}] = smtp.received;
    expect([from, to]).toEqual(['mail@rollcall.example', ['zoe@mail.example']]);
    for (const line of [
      `Message-ID: <${id}@rollcall.example>`,
      'Auto-Submitted: auto-generated',
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
      'Content-Type: multipart/alternative',
    ]) {
      expect(raw).toContain(line);
    }
    expect(raw.replace(/\r\n(?=\s)/g, '')).toMatch(/List-Unsubscribe: <https:\/\/go\.example\/unsubscribe\/\w+>/);
    expect(raw).not.toContain('Reply-To');
  });

  it('of one kind, row and address is queued once, whatever the case of the address', async () => {
    expect([await queue('ann@mail.example', 'row-1'), await queue('Ann@mail.example', 'row-1')]).toEqual([
      'queued',
      'already_sent',
    ]);
    expect(await queue('ann@mail.example', 'row-1:2')).toBe('queued');
    await sendDue();
    await sendDue();
    expect(smtp.received).toHaveLength(2);
  });

  it('of a change that is rolled back is never sent', async () => {
    const change = inWork(app.context.postgres.db, clock, actor(), async (work) => {
      await queueMail(work, { kind: 'mail_test', to: 'ann@mail.example', subjectRow: 'gone', params: { at } });
      throw new Error('rolled back');
    });
    await expect(change).rejects.toThrow('rolled back');
    await sendDue();
    expect([await rows(), smtp.received]).toEqual([[], []]);
  });

  it('is sent once by ten senders at once', async () => {
    for (let i = 0; i < 25; i += 1) await queue(`person${i}@mail.example`);
    await Promise.all(Array.from({ length: 10 }, sendDue));
    expect(smtp.received).toHaveLength(25);
    expect(new Set(smtp.received.map(({ to }) => to[0]))).toHaveProperty('size', 25);
  });

  it('has no link and no token in its row', async () => {
    await queue('ann@mail.example');
    const { rows: kept } = await sql<{ line: string }>`select mails::text as line from mails`.execute(
      app.context.postgres.db,
    );
    expect(kept[0]?.line).toContain('ann@mail.example');
    expect(kept[0]?.line).not.toMatch(/http|unsubscribe/);
    const links = (await mailsOf(app.context, brand.id)).flatMap((mail) => mail.links);
    expect(links).toEqual([expect.stringMatching(/^https:\/\/go\.example\/unsubscribe\/\w{50,80}$/)]);
  });
});

describe('a delivery', () => {
  it('that fails temporarily is attempted five times within 24 hours, and then fails for good', async () => {
    await queue('ann@mail.example');
    const from = clockMs;
    const tries: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      smtp.answers.push(451);
      await sendDue();
      const { attempts, nextAttemptAt } = await only();
      tries.push(attempts);
      clockMs = nextAttemptAt?.getTime() ?? clockMs;
    }
    expect(tries).toEqual([1, 2, 3, 4, 5]);
    expect(clockMs - from).toBeLessThanOrEqual(24 * 3_600_000);
    const { state, error, nextAttemptAt } = await only();
    expect([state, nextAttemptAt]).toEqual(['failed', null]);
    expect(error).toContain('not now');
  });

  it('that fails temporarily is retried when it is due, and not before', async () => {
    await queue('ann@mail.example');
    smtp.answers.push(421);
    await sendDue();
    await sendDue();
    expect((await only()).attempts).toBe(1);
    clockMs += 60_000;
    await sendDue();
    expect([(await only()).state, smtp.received.length]).toEqual(['sent', 1]);
  });

  it('that fails permanently is not retried', async () => {
    await queue('nobody@mail.example');
    smtp.answers.push(550);
    await sendDue();
    const { state, attempts } = await only();
    expect([state, attempts]).toEqual(['failed', 1]);
  });

  it('to an unreachable server is retried until it responds', async () => {
    const closed = { ...app.context, mailer: (await closedApp()).context.mailer };
    await queue('ann@mail.example');
    await sendDueMails(closed);
    const { state, attempts, error } = await only();
    expect([state, attempts]).toEqual(['queued', 1]);
    expect(error).toContain('ECONNREFUSED');
  });

  it('that fails gives one log line a minute with all other failures, without addresses', async () => {
    const said: string[] = [];
    const note = (facts: object, text: string) => void said.push(`${text} ${JSON.stringify(facts)}`);
    const failures = openRepeatedFailures({ warn: note, info: note }, clock);
    const closed = { ...app.context, failures, mailer: (await closedApp()).context.mailer };
    for (const name of ['ann', 'ben', 'zoe']) await queue(`${name}@mail.example`);
    await sendDueMails(closed);
    clockMs += 61_000;
    await sendDueMails(closed);
    expect(said).toEqual([
      expect.stringMatching(/^failing: sending a mail .*"attempts":1/),
      expect.stringMatching(/^failing: sending a mail .*"attempts":2.*"times":3/),
    ]);
    expect(said.join()).not.toContain('@');
  });

  it('is taken over from a dead sender, whose late result changes nothing', async () => {
    await queue('ann@mail.example');
    const lost = {
      ...app.context,
      mailer: {
        send: () => new Promise<never>(() => undefined),
        remove: async () => undefined,
        close: () => undefined,
      },
    };
    void sendDueMails(lost);
    await expect.poll(async () => (await only()).attempts).toBe(1);
    await sendDue();
    expect(smtp.received).toHaveLength(0);
    clockMs += 200_000;
    await sendDue();
    expect([(await only()).state, smtp.received.length]).toEqual(['sent', 1]);
  });
});

let unreachable: TestApp | undefined;
async function closedApp(): Promise<TestApp> {
  unreachable ??= await startApp({ env: { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'mail@rollcall.example' } });
  return unreachable;
}
afterAll(() => unreachable?.close());

describe('an installation without a mail server', () => {
  it('writes each mail to a file that only its owner can read', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'mail-'));
    const local = await startApp({ clock, urls: { postgres: database.url }, env: { ROLLCALL_DIR: folder } });
    await queue('zoe@mail.example');
    await sendDueMails(local.context);
    const { id } = await only();
    const files = readdirSync(path.join(folder, 'mail'));
    expect(files).toEqual([expect.stringMatching(new RegExp(`^\\d{8}T\\d{6}Z-${id}\\.eml$`))]);
    const file = path.join(folder, 'mail', files[0] ?? '');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toContain(`Message-ID: <${id}@localhost>`);
    await local.close();
    rmSync(folder, { recursive: true });
  });

  it('requires MAIL_FROM if the environment names a server', async () => {
    await expect(startApp({ env: { SMTP_URL: smtp.url } })).rejects.toThrow('MAIL_FROM');
  });
});

describe('unsubscribing', () => {
  it('is offered by a mail’s page, takes effect with its button, and applies to this brand only', async () => {
    await queue('Zoe@mail.example');
    const [{ links: [link = ''] = [] } = {}] = await mailsOf(app.context, brand.id);
    const url = app.links + pathOf(link);
    const requested = await fetch(url);
    expect([requested.status, await requested.text()]).toEqual([200, expect.stringContaining('Stop these emails')]);
    expect(await queue('zoe@mail.example')).toBe('queued');

    const { status, body } = await call(url, undefined, { method: 'POST', body: 'List-Unsubscribe=One-Click' });
    expect([status, body]).toEqual([200, expect.stringContaining('You will get no more emails')]);
    expect(await queue('ZOE@mail.example')).toBe('suppressed');
    await sendDue();
    expect((await rows()).map(({ state }) => state)).toEqual(['suppressed', 'suppressed', 'suppressed']);
    expect(smtp.received).toHaveLength(0);

    const other = await makeBrand(app.context);
    const otherActor = { ...actor(), brandId: other.id };
    const answer = await inWork(app.context.postgres.db, clock, otherActor, (work) =>
      queueMail(work, { kind: 'mail_test', to: 'zoe@mail.example', subjectRow: 'other', params: { at } }),
    );
    expect(answer).toBe('queued');
  });
});

describe('cli mail', () => {
  const env = () => ({ DATABASE_URL: database.url, LINKS_URL: 'https://go.example' });

  it('queues a test, lists mails, and shows one with its links before it is sent', async () => {
    const test = await runCli(['mail', 'test', '--brand', brand.id, '--to', 'ops@mail.example'], env());
    expect([test.status, test.out]).toEqual([0, 'queued\n']);
    const listed = JSON.parse((await runCli(['mail', 'list', '--brand', brand.id, '--json'], env())).out);
    expect(listed).toEqual([expect.objectContaining({ kind: 'mail_test', to: 'ops@mail.example', state: 'queued' })]);
    const [{ id }] = listed;
    const shown = await runCli(['mail', 'show', id], env());
    expect(shown.out).toContain('To: ops@mail.example\nSubject: A test email from ');
    const opened = await runCli(['mail', 'open', id], env());
    expect(opened.out).toMatch(/^https:\/\/go\.example\/unsubscribe\/\w+\n$/);
    expect(shown.out).toContain(opened.out.trim());
    const lines = await runCli(['mail', 'list'], env());
    expect([lines.out, lines.said]).toEqual([
      expect.stringContaining(`${id}\tmail_test\t`),
      expect.stringMatching(/^ID\t/),
    ]);
  });

  it('reports an unknown mail by its id', async () => {
    const { status, said } = await runCli(['mail', 'show', 'mai_none'], env());
    expect([status, said]).toEqual([1, expect.stringContaining('No email "mai_none"')]);
  });
});

describe('metrics', () => {
  it('count mails by state and say how long the oldest has waited', async () => {
    await queue('ann@mail.example');
    clockMs += 90_000;
    const { body } = await call(`${app.url}/metrics`);
    expect(body).toContain('rollcall_mails_total{state="queued"} 1');
    expect(body).toContain('rollcall_mails_oldest_due_seconds 90');
  });
});
