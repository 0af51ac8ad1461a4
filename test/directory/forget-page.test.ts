import { afterAll, beforeAll, expect, it } from 'vitest';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import { sendForgetMails } from '../../src/directory/opt-out/requests.ts';
import { call, keysInTurn, makeBrand, startApp, type TestApp, until } from '../harness/app.ts';
import { creator } from '../harness/directory/directory.ts';
import { FORCED, makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';
import { startSmtp, type TestSmtp } from '../harness/kit/mail.ts';
import { BEHIND_PROXY, someAddress } from '../harness/workflow/applying.ts';

let directory: TestDirectory;
let app: TestApp;
let smtp: TestSmtp;
let key: () => string;

const EMAIL = 'dana@leaving.example';
const dana = creator(920_001, { username: 'danaleaves', extracted_email: EMAIL });

beforeAll(async () => {
  [directory, smtp] = await Promise.all([makeDirectory(), startSmtp()]);
  const rows = [dana, creator(920_002)].map((row) => `${JSON.stringify(row)}\n`).join('');
  await importDirectory(directory.engines, {
    source: await openFiles([await directory.file('creators.ndjson', rows)]),
    ...FORCED,
  });
  const { alias } = directory.engines;
  const urls = { postgres: directory.env.DATABASE_URL ?? '' };
  app = await startApp({
    alias,
    urls,
    env: { ...BEHIND_PROXY, SMTP_URL: smtp.url, MAIL_FROM: 'rollcall@mail.example' },
  });
  key = await keysInTurn(await makeBrand(app.context), 3);
});
afterAll(async () => {
  await app?.close();
  await Promise.all([directory?.close(), smtp?.close()]);
});

async function visit(path: string, body?: Record<string, string>, address = someAddress()) {
  const headers = { 'x-forwarded-for': address };
  const response = await fetch(`${app.links}${path}`, {
    redirect: 'manual',
    headers,
    ...(body && { method: 'POST', body: new URLSearchParams(body) }),
  });
  const { status, headers: answered } = response;
  return { status, location: answered.get('location'), page: await response.text() };
}

/** The path of the link in the newest mail to an address. */
async function linkTo(email: string): Promise<string> {
  await sendForgetMails.run(app.context);
  const mail = smtp.received.findLast(({ to }) => to.includes(email));
  const text = mail?.raw.replace(/=\r?\n/g, '') ?? '';
  return /https:\/\/go\.example(\/forget\/\w+)/.exec(text)?.[1] ?? '';
}

const statusOf = async () => (await call(`${app.url}/v1/creators/${dana.pk}`, key())).status;

it('The page removes an address by a mailed link and its button, and opening the link alone does nothing', async () => {
  expect((await visit('/forget')).page).toContain('Leave the creator directory');
  expect(await visit('/forget', { email: ` ${EMAIL} ` })).toMatchObject({ status: 303, location: '/forget/sent' });
  const link = await linkTo(EMAIL);
  const opened = await visit(link);
  expect(opened).toMatchObject({ status: 200, page: expect.stringContaining('Remove me') });
  expect(await visit(link)).toMatchObject({ status: 200, page: opened.page });
  expect(await statusOf()).toBe(200);
  expect(await visit(link, {})).toMatchObject({ status: 200, page: expect.stringContaining('You are out') });
  await until('her to be out', async () => (await statusOf()) === 404);
  expect(await visit(`${link.slice(0, -1)}${link.endsWith('A') ? 'B' : 'A'}`)).toMatchObject({ status: 404 });
});

it('The answers are the same for an address that the directory does not know, and so is the mail', async () => {
  const [stranger, known] = ['nobody@nowhere.example', 'second@known.example'];
  const answers = await Promise.all([stranger, known].map((email) => visit('/forget', { email })));
  expect(answers[0]).toEqual(answers[1]);
  const [first, second] = [await linkTo(stranger), await linkTo(known)];
  expect(await visit(first)).toMatchObject({ status: 200 });
  const done = [await visit(first, {}), await visit(second, {})];
  expect(done[0]).toEqual(done[1]);
  expect(done[0]).toMatchObject({ status: 200 });
});

it('An address gets at most three mails while its links work, and a network ten requests a minute', async () => {
  const [address, email] = [someAddress(), 'often@entered.example'];
  const answers = [];
  for (let i = 0; i < 11; i += 1)
    answers.push((await visit('/forget', { email: i % 2 ? email : email.toUpperCase() }, address)).status);
  expect(answers).toEqual([...Array.from({ length: 10 }, () => 303), 429]);
  await sendForgetMails.run(app.context);
  expect(smtp.received.filter(({ to }) => to.join().toLowerCase() === email)).toHaveLength(3);
  expect((await visit('/forget', { email: 'not an address' })).status).toBe(422);
});
