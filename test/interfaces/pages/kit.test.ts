import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { creatorPage } from '../../../src/interfaces/pages/declare.ts';
import { checkbox, errorSummary, field, fileField, postForm } from '../../../src/kit/html/controls.ts';
import { html } from '../../../src/kit/html/html.ts';
import { contentPolicy, copyButton, page, printButton } from '../../../src/kit/html/page.ts';
import { localTimeTag, shortLocalTimeTag, timeTag } from '../../../src/kit/html/times.ts';
import { queueMail } from '../../../src/kit/mail/queue.ts';
import { inWork } from '../../../src/kit/operation/work.ts';
import { makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../../harness/app.ts';
import { mailsOf, pathOf } from '../../harness/kit/mail.ts';
import { BEHIND_PROXY, someAddress } from '../../harness/workflow/applying.ts';

let app: TestApp;
let brand: TestBrand;

beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY });
  brand = await makeBrand(app.context);
});
afterAll(() => app?.close());

/** The path of a page that a mail's link opens. */
async function makeLink(of = brand): Promise<string> {
  const { postgres, clock } = app.context;
  const actor = { brandId: of.id, keyId: null, operation: 'test', requestId: null };
  const params = { at: clock.now().toISOString() };
  const mail = { kind: 'mail_test' as const, to: `${unique('ann')}@mail.example`, subjectRow: unique('row'), params };
  await inWork(postgres.db, clock, actor, (work) => queueMail(work, mail));
  const [{ links: [link = ''] = [] } = {}] = await mailsOf(app.context, of.id);
  return pathOf(link);
}

async function visit(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const answer = await fetch(app.links + path, {
    method,
    headers: { 'x-forwarded-for': someAddress(), ...headers },
    redirect: 'manual',
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

describe('a page behind a link', () => {
  it('runs and loads nothing, sends no referrer, is not indexed, and carries no rate headers', async () => {
    const { status, headers, text } = await visit(await makeLink());
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^ ]+'; img-src data:;/,
    );
    expect([headers.get('referrer-policy'), headers.get('x-robots-tag')]).toEqual(['no-referrer', 'noindex']);
    expect([headers.get('cache-control'), headers.get('x-ratelimit-limit')]).toEqual(['no-store', null]);
    expect(text).toContain('<meta name="robots" content="noindex">');
    expect(text).not.toMatch(/<script|<img/);
  });

  it('answers the same 404, byte for byte, to an unknown, changed, foreign or expired link', async () => {
    const right = await makeLink();
    const token = right.split('/').at(-1) ?? '';
    const mailId = `mai_${token.slice(14, 34)}`;
    const of = (rowId: string, expiresAt: Date) =>
      `/unsubscribe/${app.context.pageLinks.signToken({ kind: 'unsubscribe', rowId, version: 0, expiresAt })}`;
    const later = new Date(Date.now() + 1e9);
    expect((await visit(of(mailId, later))).status).toBe(200);
    const answers = [
      await visit('/unsubscribe/x'),
      await visit(right.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))),
      await visit(of(`mai_${'0'.repeat(20)}`, later)),
      await visit(of(mailId, new Date(Date.now() - 1_000))),
      await visit('/unsubscribe/x', {}, 'POST'),
      await visit(of(mailId, new Date(Date.now() - 1_000)), {}, 'POST'),
    ];
    const [first] = answers;
    const facts = ({ status, headers, text }: (typeof answers)[number]) => [
      status,
      text,
      [...headers].filter(([name]) => !['date', 'x-request-id', 'keep-alive', 'connection'].includes(name)),
    ];
    expect(first?.status).toBe(404);
    for (const answer of answers) expect(first && facts(answer)).toEqual(first && facts(first));
  });

  it('stops working when the version of its row changes', async () => {
    const declared = creatorPage({
      kind: 'sign',
      find: () => Promise.resolve({ brandId: brand.id, linkVersion: 2 }),
      show: () => ({ title: 'Here', content: html`<p>Here</p>` }),
    });
    const link = { kind: 'sign' as const, rowId: 'ctr_', expiresAt: new Date() };
    expect(await declared.open(app.context, { ...link, version: 1 })).toBeUndefined();
    expect(await declared.open(app.context, { ...link, version: 2 })).toBeDefined();
  });

  it('accepts a form only from itself, by the origin that browsers send', async () => {
    const path = await makeLink();
    for (const site of ['cross-site', 'same-site', 'none']) {
      expect([site, (await visit(path, { 'sec-fetch-site': site }, 'POST')).status]).toEqual([site, 403]);
    }
    expect((await visit(path)).text).toContain('Stop these emails');
    expect((await visit(path, { 'sec-fetch-site': 'same-origin' }, 'POST')).status).toBe(200);
    expect((await visit(path)).text).not.toContain('Stop these emails');
  });

  it('accepts ten forms a minute from one network address', async () => {
    const path = await makeLink();
    const address = { 'x-forwarded-for': someAddress() };
    const statuses = [];
    for (let i = 0; i < 12; i += 1) statuses.push((await visit(path, address, 'POST')).status);
    expect(statuses).toEqual([...Array(10).fill(200), 429, 429]);
    expect((await visit(path, address)).status).toBe(200);
  });

  it('shows the logo of its brand and may load from its host alone', async () => {
    const shown = await makeBrand(app.context);
    const key = await shown.key('brand');
    const logo = 'https://cdn.example:8443/a%22b.png?x=<1>';
    expect((await send(`${app.url}/v1/brand`, key, 'PATCH', { logo })).status).toBe(200);
    const { headers, text } = await visit(await makeLink(shown));
    expect(headers.get('content-security-policy')).toContain('img-src data: https://cdn.example:8443;');
    expect(text).toContain('<img class="logo" src="https://cdn.example:8443/a%22b.png?x=%3C1%3E" alt=""');
  });

  it('shows a logo that is a picture within its address, and loads nothing for it', async () => {
    const logo = 'data:image/svg+xml;base64,PHN2Zy8+';
    expect(page('Title', html``, { name: 'Brand', logo })).toContain(`<img class="logo" src="${logo}"`);
    expect(contentPolicy({ name: 'Brand', logo })).toContain('img-src data:;');
  });

  it('has the one script only if something on it needs that, and is complete without it', () => {
    const now = new Date('2026-12-24T18:46:00Z');
    const late = new Date('2025-12-24T18:46:00Z');
    expect(localTimeTag(now).html).toContain('>December 24, 2026 at 6:46 PM UTC<');
    expect(shortLocalTimeTag(now, now).html).toContain('>Dec 24, 6:46 PM UTC<');
    expect(shortLocalTimeTag(late, now).html).toContain('>Dec 24, 2025, 6:46 PM UTC<');
    for (const part of [copyButton('A'), printButton('Print'), localTimeTag(now), shortLocalTimeTag(now, now)]) {
      expect(page('Title', part)).toContain('<script>');
    }
    for (const part of [timeTag(now), html`${' data-copy="'}`]) expect(page('Title', part)).not.toContain('<script');
    for (const part of [copyButton('A'), printButton('Print')]) expect(part.html).toContain(' hidden>');
  });

  it('shows no logo that is neither https nor a picture in its address, or whose host could extend the policy', async () => {
    for (const logo of [
      'http://cdn.example/a.png',
      "https://a;script-src'self'/a.png",
      'data:text/html;base64,PHA+',
      'data:image/png,x',
      'nothing',
    ]) {
      expect([logo, page('Title', html``, { name: 'Brand', logo })]).toEqual([
        logo,
        expect.not.stringContaining('<img'),
      ]);
    }
  });
});

describe('controls', () => {
  it('have a label, show their error, and escape the typed text', () => {
    const hostile = `"><script>alert(1)</script>`;
    const one = { name: 'note', label: hostile, hint: hostile, problem: hostile };
    const all = [
      field({ ...one, value: hostile }),
      field({ ...one, value: hostile, rows: 3 }),
      checkbox({ ...one, isChecked: true }),
      fileField({ ...one, accept: hostile, multiple: true }),
      errorSummary([one]),
      postForm(hostile, html`<p></p>`, { multipart: true }),
    ];
    for (const { html: text } of all) expect(text).not.toContain('<script');
    for (const { html: text } of all.slice(0, 4)) {
      expect(text).toContain('<label for="note">');
      expect(text).toContain('aria-describedby="note-hint note-problem" aria-invalid="true"');
    }
    expect(errorSummary([{ name: 'note', label: 'Note' }]).html).toBe('');
  });
});
