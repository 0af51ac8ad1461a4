import { afterAll, beforeAll, expect, it } from 'vitest';
import { forgetMails, insertSuppression, listMails } from '../../../src/kit/mail/mails.ts';
import { queueMail } from '../../../src/kit/mail/queue.ts';
import { sendDueMails } from '../../../src/kit/mail/sender.ts';
import { inWork } from '../../../src/kit/operation/work.ts';
import { DAY_MS } from '../../../src/kit/values/duration.ts';
import { makeBrand, startApp, type TestApp, unique } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';
import { startSmtp, type TestSmtp } from '../../harness/kit/mail.ts';

/** A database of its own: mails of every brand are forgotten. */
let database: TestDatabase;
let smtp: TestSmtp;
let app: TestApp;
let clockMs = Date.parse('2027-03-01T09:00:00Z');
const clock = { now: () => new Date(clockMs) };

beforeAll(async () => {
  [database, smtp] = await Promise.all([makeDatabase('forgetting'), startSmtp()]);
  const env = { SMTP_URL: smtp.url, MAIL_FROM: 'mail@rollcall.example' };
  app = await startApp({ clock, urls: { postgres: database.url }, env });
});
afterAll(async () => {
  await app?.close();
  await smtp?.close();
  await database?.drop();
});

it('a sent or suppressed mail is deleted after 30 days; a failed, waiting or younger one stays', async () => {
  const { db } = app.context.postgres;
  const { id: brandId } = await makeBrand(app.context);
  const actor = { brandId, keyId: null, operation: 'test', requestId: null };
  const queue = (name: string, subjectRow = unique('row')) =>
    inWork(db, clock, actor, (work) => {
      const params = { at: '2027-03-01T09:00:00.000Z' };
      return queueMail(work, { kind: 'mail_test', to: `${name}@mail.example`, subjectRow, params });
    });
  const known = async () => (await listMails(db, brandId, 100)).map(({ toEmail }) => toEmail.replace(/@.*/, '')).sort();

  await queue('went', 'went');
  await sendDueMails(app.context);
  await queue('failed');
  smtp.answers.push(550);
  await sendDueMails(app.context);
  await insertSuppression(db, brandId, 'unwanted@mail.example', clock.now());
  expect(await queue('unwanted')).toBe('suppressed');
  await queue('waits');
  clockMs += 30 * DAY_MS;
  await forgetMails(db, clock.now());
  expect(await known()).toEqual(['failed', 'unwanted', 'waits', 'went']);
  expect(await queue('went', 'went')).toBe('already_sent');

  clockMs += 1;
  await queue('young');
  await forgetMails(db, clock.now());
  expect(await known()).toEqual(['failed', 'waits', 'young']);
  await sendDueMails(app.context);
  await forgetMails(db, clock.now());
  expect(await known()).toEqual(['failed', 'waits', 'young']);
});

it('the link that stops mails works for a year after its mail is deleted, also by one click', async () => {
  const { db } = app.context.postgres;
  const { id: brandId } = await makeBrand(app.context);
  const actor = { brandId, keyId: null, operation: 'test', requestId: null };
  const queue = (to: string) =>
    inWork(db, clock, actor, (work) =>
      queueMail(work, { kind: 'mail_test', to, subjectRow: unique('row'), params: { at: '2027-03-01T09:00:00.000Z' } }),
    );
  const [ann, bob] = ['Ann@mail.example', 'bob@mail.example'];
  for (const to of [ann, bob]) await queue(to);
  await sendDueMails(app.context);
  const rows = await listMails(db, brandId, 10);
  const linkTo = (to: string) => {
    const rowId = rows.find(({ toEmail }) => toEmail === to)?.id ?? '';
    const link = { kind: 'unsubscribe' as const, rowId, version: 0, expiresAt: new Date('2037-01-01') };
    return `${app.links}/unsubscribe/${app.context.pageLinks.signToken(link)}`;
  };
  clockMs += 31 * DAY_MS;
  await forgetMails(db, clock.now());
  clockMs += 366 * DAY_MS;
  await forgetMails(db, clock.now());
  expect(await listMails(db, brandId, 10)).toEqual([]);
  const page = await fetch(linkTo(ann));
  const text = await page.text();
  expect([page.status, text.includes('Stop these emails'), text.includes('sha256')]).toEqual([200, true, false]);
  expect(await queue(ann)).toBe('queued');

  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
  for (const _ of [1, 2]) expect((await fetch(linkTo(ann), { method: 'POST', body })).status).toBe(200);
  expect(await (await fetch(linkTo(ann))).text()).not.toContain('Stop these emails');
  expect(await queue(ann.toLowerCase())).toBe('suppressed');
  expect(await queue(bob)).toBe('queued');

  await insertSuppression(db, brandId, bob, clock.now());
  expect(await (await fetch(linkTo(bob))).text()).not.toContain('Stop these emails');
  clockMs += 60 * DAY_MS;
  await forgetMails(db, clock.now());
  expect((await fetch(linkTo(bob))).status).toBe(404);
});
