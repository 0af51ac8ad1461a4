import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServerProcess, startServer, unique } from '../../harness/app.ts';

const MB = 1024 * 1024;
const BODY_MB = 300;
/** A page that takes files, by a link that nobody was given. */
const WORK = `/${'work'}/x`;

describe('a server that receives 300 MB from strangers, three requests at a time,', () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startServer(unique('none'));
  });
  afterAll(() => server?.stop());

  async function residentMb(): Promise<number> {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]) / MB;
  }

  /** Sends as fast as it is taken until the connection ends, and measures on the way. Not by Node's client: it stops at an early answer. */
  async function flood(path: string, contentType: string) {
    const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1' });
    let [said, isOver, peak] = ['', false, 0];
    const over = new Promise<void>((resolve) => {
      socket.on('close', () => {
        isOver = true;
        resolve();
      });
    });
    socket.on('data', (answer: Buffer) => {
      said += answer.toString();
    });
    // The server closes the connection of what it refuses.
    socket.on('error', () => undefined);
    const head = `host: x\r\ncontent-type: ${contentType}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n`;
    socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n`);
    const chunk = Buffer.concat([Buffer.from(`${MB.toString(16)}\r\n`), Buffer.alloc(MB, 'x'), Buffer.from('\r\n')]);
    for (let i = 0; i < BODY_MB && !isOver; i += 1) {
      await Promise.race([over, new Promise((resolve) => socket.write(chunk, resolve))]);
      if (i % 30 === 0) peak = Math.max(peak, await residentMb());
    }
    if (!isOver) socket.end('0\r\n\r\n');
    await over;
    const status = Number(/^HTTP\/1\.1 (\d+) /.exec(said)?.[1]);
    return { status, peak: Math.max(peak, await residentMb()) };
  }

  it.each([
    ['a page that takes files', WORK, 'multipart/mixed; boundary=b'],
    ['a page that takes files', WORK, 'multipart/form-data; boundary=b'],
    ['a page that takes files', WORK, 'application/json'],
    ['a page without files', '/sign/x', 'multipart/form-data; boundary=b'],
    ['the upload of assets', '/v1/assets', 'multipart/related; boundary=b'],
    ['the upload of assets', '/v1/assets', 'multipart/form-data; boundary=b'],
    ['the deliveries of stores', '/ingest/generic/int_x', 'multipart/mixed; boundary=b'],
  ])('grows by less than 100 MB: %s, %s as %s', async (_what, path, contentType) => {
    const before = await residentMb();
    const floods = await Promise.all(Array.from({ length: 3 }, () => flood(path, contentType)));
    const peak = Math.max(...floods.map((one) => one.peak));
    expect(peak - before).toBeLessThan(100);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });
});
