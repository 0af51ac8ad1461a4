import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayText } from '../../src/kit/html/times.ts';
import {
  giveUpUploads,
  makeThumbnail,
  markExpiringRights,
  purgeDeleted,
  startThumbnails,
} from '../../src/workflow/assets/assets.jobs.ts';
import { receiveFile } from '../../src/workflow/assets/uploads.ts';
import {
  call,
  engineUrls,
  makeBrand,
  send,
  startApp,
  type TestApp,
  type TestBrand,
  unique,
  until,
} from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { mailsOf } from '../harness/kit/mail.ts';
import { startS3, type TestS3 } from '../harness/kit/s3.ts';
import { file, here, upload } from '../harness/platform/uploading.ts';

const DAY_MS = 86_400_000;
const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-assets-'));
const clock = { at: Date.now(), now: () => new Date(clock.at) };
/** Files of all brands are removed, by a clock that is ahead. */
let database: TestDatabase;
let app: TestApp;
let brand: TestBrand;
let key: string;
/** A camera's picture: on its side, with the place where it was taken. */
let photo: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  database = await makeDatabase('assets');
  app = await startApp({ urls: { postgres: database.url }, env: { ROLLCALL_DIR: folder }, clock });
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
  const image = sharp({ create: { width: 1200, height: 800, channels: 3, background: '#357' } }).jpeg();
  const gps = { IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 3230/100' }, IFD0: { Artist: 'Ann Example' } };
  photo = new Uint8Array(await image.withExif(gps).withMetadata({ orientation: 6, exif: gps }).toBuffer());
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const read = async (id: string) => (await call(`${app.url}/v1/assets/${id}`, key)).body.data;
const made = async (sent: File, fields = {}) => (await upload(app, key, sent, fields)).body.data;
const filesOnDisk = () =>
  existsSync(path.join(folder, 'assets'))
    ? readdirSync(path.join(folder, 'assets'), { recursive: true, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      )
    : [];

describe('a thumbnail', () => {
  it('is 480 pixels wide, upright, and without the camera’s metadata; a worker makes it', async () => {
    const { id } = await made(file(photo, 'photo.jpg', 'image/jpeg'));
    const thumbnails = startThumbnails(app.context, engineUrls().redis, { prefix: unique('queue') });
    await until('the thumbnail', async () => {
      await thumbnails.sweep();
      return (await read(id))?.thumbnail_url != null;
    });
    await thumbnails.close();
    const { thumbnail_url, width, height } = await read(id);
    expect([width, height]).toEqual([800, 1200]);
    const answer = await fetch(here(app, thumbnail_url));
    expect(answer.headers.get('content-type')).toBe('image/webp');
    const found = await sharp(await answer.arrayBuffer()).metadata();
    expect([found.format, found.width, found.height, found.exif, found.orientation]).toEqual([
      'webp',
      480,
      720,
      undefined,
      undefined,
    ]);
  });

  it('is not made of an unreadable picture or one with too many pixels, and the attempts end', async () => {
    const wide = sharp({
      create: { width: 16_000, height: 4_000, channels: 3, background: '#000' },
      limitInputPixels: false,
    });
    const bomb = new Uint8Array(await wide.png().toBuffer());
    const broken = photo.slice(0, 400);
    for (const bytes of [bomb, broken]) {
      const { id } = await made(file(bytes, 'x.bin'));
      await makeThumbnail(app.context, id);
      expect((await read(id)).thumbnail_url).toBe(null);
      const states = app.context.postgres.db.selectFrom('assets').select('thumbnailState').where('id', '=', id);
      expect(await states.executeTakeFirst()).toEqual({ thumbnailState: 'failed' });
    }
  });
});

describe('files', () => {
  it('of a deleted asset are removed together with its thumbnail', async () => {
    const { id } = await made(file(photo, 'gone.jpg'));
    await makeThumbnail(app.context, id);
    const before = filesOnDisk().length;
    await send(`${app.url}/v1/assets/${id}`, key, 'DELETE');
    await purgeDeleted(app.context);
    expect(filesOnDisk().length).toBe(before - 2);
  });

  it('without an asset are removed after an hour and no sooner', async () => {
    const part = { field: 'file', filename: 'left.bin', mimeType: '', bytes: file('left', 'left.bin').stream() };
    async function* bytes() {
      for await (const chunk of part.bytes) yield Buffer.from(chunk);
    }
    const before = filesOnDisk().length;
    await receiveFile(app.context, brand.id, { ...part, bytes: bytes() });
    await giveUpUploads(app.context);
    expect(filesOnDisk().length).toBe(before + 1);
    clock.at += 61 * 60_000;
    await giveUpUploads(app.context);
    expect(filesOnDisk().length).toBe(before);
  });
});

describe('rights that end', () => {
  it('are announced 14 and 3 days before and at the end, once each, in the audit log and by mail', async () => {
    const owner = await makeBrand(app.context);
    const caller = await owner.key('brand');
    await send(`${app.url}/v1/brand`, caller, 'PATCH', { contact_email: 'team@brand.example' });
    const ends = new Date(clock.at + 20 * DAY_MS);
    const sent = file('x', 'clip.bin');
    const { id } = (await upload(app, caller, sent, { rights_expires_at: ends.toISOString() })).body.data;
    const reported = async () => {
      await Promise.all([markExpiringRights(app.context), markExpiringRights(app.context)]);
      const { body } = await call(`${app.url}/v1/audit-log?operation=mark_ending_rights&resource_id=${id}`, caller);
      const mails = (await mailsOf(app.context, owner.id)).filter(({ kind }) => kind === 'asset_rights_ending');
      const days = body.data.map((line: { new: { rights_notice_days: number } }) => Object.values(line.new)[0]);
      return [days, mails.map(({ subject }) => subject)];
    };
    const on = ends.toISOString().slice(0, 10);
    const ending = `The rights to clip.bin end on ${dayText(on)}`;
    expect(await reported()).toEqual([[], []]);
    clock.at += 7 * DAY_MS;
    expect(await reported()).toEqual([[14], [ending]]);
    expect(await reported()).toEqual([[14], [ending]]);
    clock.at += 11 * DAY_MS;
    expect(await reported()).toEqual([
      [3, 14],
      [ending, ending],
    ]);
    clock.at += 3 * DAY_MS;
    expect(await reported()).toEqual([
      [0, 3, 14],
      ['The rights to clip.bin have ended', ending, ending],
    ]);
    const rights = (await call(`${app.url}/v1/assets/${id}/rights`, caller)).body.data;
    expect(rights).toMatchObject({ allowed: false, reason: 'expired' });
  });
});

describe('S3-compatible storage', () => {
  let s3: TestS3;
  let stored: TestApp;
  let caller: string;

  beforeAll(async () => {
    s3 = await startS3();
    const env = { ASSETS_URL: s3.url, AWS_EC2_METADATA_DISABLED: 'true' };
    stored = await startApp({ urls: { postgres: database.url }, env, clock });
    caller = await (await makeBrand(stored.context)).key('brand');
  });
  afterAll(async () => {
    await stored?.close();
    await s3?.close();
  });

  it('gets small files whole and large ones in parts, and serves them by a presigned URL', async () => {
    // Zeros are not the start of any known format; one in 2,500 random starts was that of an audio file.
    const large = new Uint8Array(randomBytes(20 * 1024 * 1024)).fill(0, 0, 4_100);
    for (const [bytes, name] of [
      [photo, 'photo.jpg'],
      [large, 'large "video".bin'],
    ] as const) {
      const { status, body } = await upload(stored, caller, file(bytes, name));
      expect(status).toBe(201);
      const redirect = await fetch(here(stored, body.data.url), { redirect: 'manual' });
      expect([redirect.status, redirect.headers.get('location')]).toEqual([
        302,
        expect.stringContaining('X-Amz-Signature'),
      ]);
      const answer = await fetch(redirect.headers.get('location') ?? '', { headers: { range: 'bytes=5-9' } });
      expect([answer.status, new Uint8Array(await answer.arrayBuffer())]).toEqual([206, bytes.slice(5, 10)]);
      const isPhoto = name === 'photo.jpg';
      expect(answer.headers.get('content-disposition')).toMatch(isPhoto ? /^inline/ : /^attachment/);
      const tampered = (redirect.headers.get('location') ?? '')
        .replace('attachment', 'inline')
        .replace('photo.jpg', 'x');
      expect((await fetch(tampered)).status).toBe(403);
    }
    expect(s3.requests.some((line) => line.endsWith(' part'))).toBe(true);
    expect(s3.uploads.size).toBe(0);
    expect([...s3.objects.keys()].every((name) => /^files\/[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f]{32}$/.test(name))).toBe(
      true,
    );
  });

  it('stores the thumbnail too, and nothing of a deleted asset', async () => {
    const { id } = (await upload(stored, caller, file(photo, 'photo.jpg'))).body.data;
    const count = s3.objects.size;
    await makeThumbnail(stored.context, id);
    expect(s3.objects.size).toBe(count + 1);
    const { thumbnail_url } = (await call(`${stored.url}/v1/assets/${id}`, caller)).body.data;
    const answer = await fetch(here(stored, thumbnail_url));
    expect(answer.headers.get('content-type')).toBe('image/webp');
    await send(`${stored.url}/v1/assets/${id}`, caller, 'DELETE');
    await purgeDeleted(stored.context);
    expect(s3.objects.size).toBe(count - 1);
  });

  it('that does not answer is 503, and leaves neither an asset nor parts', async () => {
    const count = s3.objects.size;
    s3.failures = 6;
    const { status, body } = await upload(stored, caller, file('x', 'x.bin'));
    s3.failures = 0;
    expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(s3.objects.size).toBe(count);
    expect((await call(`${stored.url}/v1/assets?search=x.bin`, caller)).body.data).toEqual([]);
  });
});
