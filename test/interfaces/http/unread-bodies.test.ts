import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BODY_LIMITS } from '../../../src/interfaces/http/bodies.ts';
import { makeBrand, startApp, type TestApp, until } from '../../harness/app.ts';
import { pathOf } from '../../harness/kit/mail.ts';
import { openWorkDesk } from '../../harness/workflow/work.ts';

/** A page that takes files, by a link that nobody was given. */
const WORK = `/${'work'}/x`;

describe('a body that arrives slowly', () => {
  let app: TestApp;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    app = await startApp({ bodyLimits: { ...BODY_LIMITS, withinMs: 400, formBytes: 1_000 } });
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await app?.close();
  });

  interface Dripping {
    said(): string;
    isOver(): boolean;
    stop(): void;
  }

  /** Sends the head and the beginning of a body, then a byte at a time. */
  async function drip(path: string, contentType: string, more = '', begun = '', { url } = app): Promise<Dripping> {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
    sockets.push(socket);
    await once(socket, 'connect');
    let [said, isOver] = ['', false];
    socket.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    socket.on('close', () => {
      isOver = true;
    });
    socket.on('error', () => undefined);
    const head = `host: x\r\ncontent-type: ${contentType}\r\ncontent-length: 60000\r\n${more}`;
    socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n${begun}`);
    const drops = setInterval(() => socket.write('x'), 50);
    socket.on('close', () => clearInterval(drops));
    return { said: () => said, isOver: () => isOver, stop: () => socket.destroy() };
  }
  const statusOf = ({ said }: Dripping) => Number(/^HTTP\/1\.1 (\d+) /.exec(said())?.[1]);

  it.each([
    ['JSON', '/v1/roster', 'application/json', 408],
    ['JSON of a path that does not exist', '/v1/none', 'application/json', 408],
    ['JSON of the web app', '/app/session', 'application/json', 408],
    ['what is no form, to a page that takes forms', WORK, 'multipart/mixed; boundary=b', 408],
    ['what is no form, to the upload of assets', '/v1/assets', 'multipart/mixed; boundary=b', 408],
    ['a form, to a page without files', '/sign/x', 'multipart/form-data; boundary=b', 408],
    ['a form with a wrong link, which is answered at once', WORK, 'multipart/form-data; boundary=b', 404],
    ['a form without a key, which is answered at once', '/v1/assets', 'multipart/form-data; boundary=b', 401],
  ])('is answered, and its connection ends: %s', async (_what, path, contentType, status) => {
    const slow = await drip(path, contentType);
    await until('the end of the connection', slow.isOver);
    expect(statusOf(slow)).toBe(status);
  });

  const FORM = 'multipart/form-data; boundary=b';
  const FILE = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';

  it('is 408 in the middle of an uploaded file, which is discarded', async () => {
    const brand = await makeBrand(app.context);
    const slow = await drip('/v1/assets', FORM, `authorization: Bearer ${await brand.key('brand')}\r\n`, FILE);
    await until('the end of the connection', slow.isOver);
    expect(statusOf(slow)).toBe(408);
    const kept = await app.context.postgres.db
      .selectFrom('assets')
      .select('id')
      .where('brandId', '=', brand.id)
      .execute();
    expect(kept).toEqual([]);
  });

  it('is 408 in the middle of a page’s form, with an explanation', async () => {
    const desk = await openWorkDesk(app);
    await desk.post('/v1/deliverables', { creator_email: desk.creator, type: 'reel' });
    const slow = await drip(pathOf(await desk.linkTo('work')), FORM, '', FILE);
    await until('the end of the connection', slow.isOver);
    expect(statusOf(slow)).toBe(408);
    expect(slow.said()).toContain('did not arrive in time');
  });

  it('occupies one of the five forms that an address may send at once, and releases it', async () => {
    const forms = { ...BODY_LIMITS.forms, bodiesOfAddress: 5 };
    const patient = await startApp({ bodyLimits: { ...BODY_LIMITS, forms } });
    const brand = await makeBrand(app.context);
    const key = `authorization: Bearer ${await brand.key('brand')}\r\n`;
    const slow = await Promise.all(Array.from({ length: 8 }, () => drip('/v1/assets', FORM, key, FILE, patient)));
    await until('the refusals', () => slow.filter((one) => statusOf(one) === 503).length === 3);
    for (const one of slow) one.stop();
    await until('a free place', async () => {
      const form = new FormData();
      form.append('file', new File(['a'], 'a.txt'));
      const headers = { authorization: `Bearer ${await brand.key('brand')}` };
      return (await fetch(`${patient.url}/v1/assets`, { method: 'POST', body: form, headers })).status === 201;
    });
    await patient.close();
  });
});
