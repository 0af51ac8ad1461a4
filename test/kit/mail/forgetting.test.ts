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
