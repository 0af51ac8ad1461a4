import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queueMail } from '../../../src/kit/mail/queue.ts';
import { inWork } from '../../../src/kit/operation/work.ts';
import { newId } from '../../../src/kit/values/ids.ts';
import { makeBrand, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { mailsOf } from '../../harness/kit/mail.ts';

const at = '2027-03-01T09:00:00.000Z';
let app: TestApp;
let brand: TestBrand;

beforeAll(async () => {
  app = await startApp({ clock: { now: () => new Date(at) } });
  brand = await makeBrand(app.context);
});
afterAll(() => app?.close());

describe('a mail', () => {
  it('shows times with the date, the time and the zone', async () => {
    const { postgres, clock } = app.context;
    const actor = { brandId: brand.id, keyId: null, operation: 'test', requestId: null };
    const work = { link_version: 1, title: 'Spring' };
    await inWork(postgres.db, clock, actor, async (change) => {
      const to = 'ann@mail.example';
      const signed = { title: 'Spring', signed_at: at, signer_name: 'Ann', sha256: 'ab' };
      const webhook = { webhook_id: 'whk_1', url: 'https://hooks.example', since: at };
      const sent = { contract_id: newId('ctr', Date.parse(at)), link_expires_at: at, ...work };
      await queueMail(change, {
        kind: 'sign_in',
        to,
        subjectRow: '1',
        params: { link_id: newId('sil', Date.parse(at)), expires_at: at },
      });
      await queueMail(change, { kind: 'webhook_failing', to, subjectRow: '2', params: webhook });
      await queueMail(change, { kind: 'webhook_disabled', to, subjectRow: '3', params: webhook });
      await queueMail(change, { kind: 'contract_sent', to, subjectRow: '4', params: sent });
      await queueMail(change, { kind: 'contract_signed_brand', to, subjectRow: '5', params: signed });
      await queueMail(change, { kind: 'mail_test', to, subjectRow: '6', params: { at } });
    });
    const mails = await mailsOf(app.context, brand.id);
    expect(mails).toHaveLength(6);
    for (const { kind, text, html } of mails) {
      for (const form of [text, html]) expect(form, kind).toContain('March 1, 2027 at 9:00 AM UTC');
      expect(text, kind).not.toMatch(/\d{4}-\d\d-\d\d[T ]\d\d:/);
    }
  });
});
