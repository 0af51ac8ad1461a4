import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand } from '../harness/app.ts';
import { file, here, upload } from '../harness/platform/uploading.ts';

let app: TestApp;
let brand: TestBrand;
let key: string;
let png: Uint8Array<ArrayBuffer>;
const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-assets-'));

beforeAll(async () => {
  app = await startApp({ env: { ROLLCALL_DIR: folder, MAX_ASSET_MB: '2' } });
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
  png = new Uint8Array(
    await sharp({ create: { width: 900, height: 600, channels: 3, background: '#b35' } })
      .png()
      .toBuffer(),
  );
});
afterAll(async () => {
  await app?.close();
  rmSync(folder, { recursive: true, force: true });
});

const made = async (sent: File, fields: Record<string, string> = {}) => {
  const { status, body } = await upload(app, key, sent, fields);
  if (status !== 201) throw new Error(`The upload answered ${status}: ${JSON.stringify(body)}`);
  return body.data;
};

describe('an upload', () => {
  it('keeps the bytes, and recognizes the type by the content', async () => {
    const data = await made(file(png, 'photo.png', 'image/png'), { tags: 'summer, red', name: 'Hero' });
    expect(data).toMatchObject({
      id: expect.stringMatching(/^ast_/),
      name: 'Hero',
      type: 'image',
      mime_type: 'image/png',
      size_bytes: png.length,
      sha256: createHash('sha256').update(png).digest('hex'),
      thumbnail_url: null,
      folder_id: null,
      source: 'upload',
      tags: ['summer', 'red'],
    });
    const answer = await fetch(here(app, data.url));
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(answer.headers.get('content-disposition')).toMatch(/^inline; filename="Hero"/);
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(png);
  });

  it.each([
    ['page.html', 'text/html', '<!doctype html><script>alert(1)</script>'],
    ['picture.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ['run.sh', 'text/x-sh', '#!/bin/sh\necho hello\n'],
    ['notes.txt', 'text/plain', '<html><body onload="alert(1)">'],
    ['setup.exe', 'application/octet-stream', `MZ${'\0'.repeat(200)}`],
  ])('of %s is stored as `other`, and only downloaded, never displayed', async (name, type, text) => {
    const data = await made(file(text, name, type));
    expect(data.type).toBe('other');
    const answer = await fetch(here(app, data.url));
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment;/);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    expect(await answer.text()).toBe(text);
  });

  it.each([
    ['photo.png', 'image/png', '%PDF-1.7\n1 0 obj\n'],
    ['photo.jpg', '', 'just words'],
    ['clip.mp4', 'video/mp4', '<!doctype html>'],
    ['paper.pdf', 'application/pdf', 'just words'],
  ])('of %s whose content contradicts its name is 422, and leaves nothing', async (name, type, text) => {
    const { status, body } = await upload(app, key, file(text, name, type));
    expect([status, body.details[0]]).toMatchObject([422, { field: 'file', code: 'type_mismatch' }]);
  });

  it('of a text is a document; an empty file and a form without a file are 422', async () => {
    expect(await made(file('a,b\n1,2\n', 'rows.csv'))).toMatchObject({ type: 'document', mime_type: 'text/csv' });
    expect((await upload(app, key, file('', 'x.txt'))).body.details[0]).toMatchObject({ field: 'file' });
    const { status, body } = await upload(app, key, undefined, { name: 'x' });
    expect([status, body.details[0]]).toMatchObject([422, { field: 'file', code: 'required' }]);
  });

  it('keeps only the visible characters of its name, also where a stored name has more', async () => {
    const spoofed = 'in\u200bvoice\u202efdp\u2028\u0007.exe';
    const { id, name, url } = await made(file('MZ', spoofed));
    expect(name).toBe('invoicefdp.exe');
    await app.context.postgres.db.updateTable('assets').set({ name: spoofed }).where('id', '=', id).execute();
    const disposition = (await fetch(here(app, url))).headers.get('content-disposition');
    expect(disposition).toBe(`attachment; filename="invoicefdp .exe"; filename*=UTF-8''invoicefdp%20.exe`);
    for (const one of ['a\u202eb', 'a\u2066b', 'a\u0000b']) {
      const patched = await send(`${app.url}/v1/assets`, key, 'PATCH', { id, name: one });
      expect([patched.status, patched.body.details[0].field]).toEqual([422, 'name']);
      const uploaded = await upload(app, key, file('x', 'x.bin'), { name: one });
      expect([uploaded.status, uploaded.body.details[0].field]).toEqual([422, 'name']);
    }
  });

  it('larger than MAX_ASSET_MB is 413, by its declared length or on the way, and nothing of it is kept', async () => {
    const large = new Uint8Array(randomBytes(2 * 1024 * 1024 + 1));
    expect((await upload(app, key, file(large, 'large.bin'))).body.code).toBe('PAYLOAD_TOO_LARGE');
    const { rows } = await app.context.postgres.db
      .selectFrom('assetUploads')
      .selectAll()
      .where('brandId', '=', brand.id)
      .execute()
      .then((found) => ({ rows: found }));
    expect(rows).toEqual([]);
    const fits = new Uint8Array(randomBytes(2 * 1024 * 1024));
    expect((await made(file(fits, 'fits.bin'))).size_bytes).toBe(fits.length);
  });

  it('is 415 if it is not a form, 401 without a key and 403 with a data key, before any byte is stored', async () => {
    const { status, body } = await send(`${app.url}/v1/assets`, key, 'POST', { name: 'x' });
    expect([status, body.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect((await upload(app, 'nonsense', file(png, 'a.png'))).status).toBe(401);
    expect((await upload(app, await brand.key('data'), file(png, 'a.png'))).body.code).toBe('BRAND_KEY_REQUIRED');
  });

  it('with two files, an incomplete body or no usable boundary is refused with an explanation', async () => {
    const two = new FormData();
    for (const name of ['a.txt', 'b.txt']) two.append('file', new Blob(['x']), name);
    const boundary = (length: number) => ({ 'content-type': `multipart/form-data; boundary=${'b'.repeat(length)}` });
    const noBoundary = 'The Content-Type header has no boundary, or one of more than 256 characters.';
    for (const [body, headers, ...refusal] of [
      [two, {}, 413, 'PAYLOAD_TOO_LARGE', 'The form has more than one file or 50 fields.'],
      ['--b\r\n', boundary(1), 400, 'BAD_REQUEST', 'The form is incomplete.'],
      ['--b\r\n', boundary(257), 400, 'BAD_REQUEST', noBoundary],
      ['--b\r\n', { 'content-type': 'multipart/form-data' }, 400, 'BAD_REQUEST', noBoundary],
    ] as const) {
      const answer = await call(`${app.url}/v1/assets`, key, { method: 'POST', body, headers });
      expect([answer.status, answer.body.code, answer.body.error]).toEqual(refusal);
    }
  });

  it('is refused with every wrong field named, including another brand’s folder or campaign', async () => {
    const fields = { folder_id: 'fld_nothing', rights_expires_at: 'soon' };
    const { status, body } = await upload(app, key, file('x', 'x.bin'), fields);
    expect([status, body.details.map(({ field }: { field: string }) => field)]).toEqual([422, ['rights_expires_at']]);
    for (const field of ['folder_id', 'campaign_id']) {
      const answer = await upload(app, key, file('x', 'x.bin'), { [field]: 'nothing' });
      expect(answer.body.details[0]).toMatchObject({ field, code: 'not_found' });
    }
    const stranger = await upload(app, key, file('x', 'x.bin'), { creator_email: 'nobody@mail.example' });
    expect(stranger.body.details[0]).toMatchObject({ field: 'creator_email', code: 'not_on_roster' });
  });

  it('under an Idempotency-Key creates one asset of the same bytes, and is 409 with others', async () => {
    const headers = { 'idempotency-key': 'upload-1' };
    const twins = await Promise.all(Array.from({ length: 5 }, () => upload(app, key, file(png, 'a.png'), {}, headers)));
    expect(new Set(twins.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(twins.map(({ body }) => body.data.id)).size).toBe(1);
    const other = await upload(app, key, file('other', 'a.bin'), {}, headers);
    expect([other.status, other.body.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    const left = app.context.postgres.db.selectFrom('assetUploads').selectAll().where('brandId', '=', brand.id);
    expect(await left.execute()).toEqual([]);
  });
});

describe('a signed URL', () => {
  it('serves byte ranges of the file, as players request them', async () => {
    const { url } = await made(file('0123456789', 'digits.bin'));
    const part = async (range: string) => {
      const answer = await fetch(here(app, url), { headers: { range } });
      return [answer.status, answer.headers.get('content-range'), await answer.text()];
    };
    expect(await part('bytes=2-4')).toEqual([206, 'bytes 2-4/10', '234']);
    expect(await part('bytes=7-')).toEqual([206, 'bytes 7-9/10', '789']);
    expect(await part('bytes=-3')).toEqual([206, 'bytes 7-9/10', '789']);
    expect(await part('bytes=5-99')).toEqual([206, 'bytes 5-9/10', '56789']);
    expect(await part('bytes=10-')).toEqual([416, 'bytes */10', '']);
    expect(await part('bytes=0-1,3-4')).toEqual([200, null, '0123456789']);
    const { headers } = await fetch(here(app, url));
    const again = await fetch(here(app, url), { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    expect(again.status).toBe(304);
  });

  it('is 404 when it was changed or its asset is deleted', async () => {
    const { id, url } = await made(file('secret', 'secret.bin'));
    const last = url.at(-2) === 'A' ? 'B' : 'A';
    expect((await fetch(here(app, `${url.slice(0, -2)}${last}${url.at(-1)}`))).status).toBe(404);
    expect((await fetch(`${app.url}/files/nothing`)).status).toBe(404);
    expect((await send(`${app.url}/v1/assets/${id}`, key, 'DELETE')).body.data).toEqual({ id, deleted: true });
    expect((await fetch(here(app, url))).status).toBe(404);
    expect((await call(`${app.url}/v1/assets/${id}`, key)).status).toBe(404);
  });
});

describe('rights with a fixed first day', () => {
  const terms = { channels: [], territory: null, days: 3, starts: 'fixed', starts_on: '2026-12-10' };
  /** A key of its own, for more calls a minute than one may make. */
  let own: string;
  beforeEach(async () => {
    own = await brand.key('brand');
  });
  const rightsOf = async (id: string, on: string) =>
    (await call(`${app.url}/v1/assets/${id}/rights?on=${on}`, own)).body.data;
  const endOf = async (id: string) => (await call(`${app.url}/v1/assets/${id}`, own)).body.data.rights_expires_at;
  const patch = async (body: object) =>
    expect((await send(`${app.url}/v1/assets`, own, 'PATCH', body)).status).toBe(200);
  const setZone = (zone: string) =>
    app.context.postgres.db.updateTable('brands').set({ timeZone: zone }).where('id', '=', brand.id).execute();

  it.each([
    ['UTC', '2026-12-13T00:00:00.000Z'],
    ['Europe/Berlin', '2026-12-12T23:00:00.000Z'],
    ['America/Los_Angeles', '2026-12-13T08:00:00.000Z'],
  ])('begin and end with days in %s, however they were set', async (zone, until) => {
    await setZone(zone);
    const { id } = await made(file(png, 'photo.png', 'image/png'));
    await patch({ id, rights: terms });
    const days = ['2026-12-09', '2026-12-10', '2026-12-12', '2026-12-13', '2030-01-01'];
    const answers = await Promise.all(days.map((day) => rightsOf(id, day)));
    expect(answers.map(({ allowed, reason }) => `${allowed} ${reason}`)).toEqual([
      'false not_begun',
      'true within_terms',
      'true within_terms',
      'false expired',
      'false expired',
    ]);
    expect([await endOf(id), answers[4].until]).toEqual([until, until]);

    // An end by hand counts until none is set, and goes with other terms only if it was theirs.
    await patch({ id, rights_expires_at: '2027-01-01T00:00:00Z' });
    expect(await endOf(id)).toBe('2027-01-01T00:00:00.000Z');
    await patch({ id, rights_expires_at: null });
    expect(await endOf(id)).toBe(until);
    await patch({ id, rights: { ...terms, days: null } });
    expect([await endOf(id), (await rightsOf(id, '2030-01-01')).allowed]).toEqual([null, true]);

    // Rows of earlier releases had no end, or that of UTC; one that was set by hand stays.
    await patch({ id, rights: terms });
    const ends = [null, new Date('2026-12-13T00:00:00Z'), new Date('2027-02-01T00:00:00Z')];
    for (const [place, rightsExpiresAt] of ends.entries()) {
      const { postgres } = app.context;
      await postgres.db.updateTable('assets').set({ rightsExpiresAt }).where('id', '=', id).execute();
      if (place === 0) expect((await rightsOf(id, '2030-01-01')).reason).toBe('expired');
      await sql.raw(readFileSync('sql/postgres/0166_ends_of_rights.sql', 'utf8')).execute(postgres.db);
      expect(await endOf(id)).toBe(place === 2 ? '2027-02-01T00:00:00.000Z' : until);
    }
    await setZone('UTC');
  });
});
