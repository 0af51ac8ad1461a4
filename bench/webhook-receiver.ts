import { createServer } from 'node:https';
import { makeCertificate } from '../test/harness/kit/certificate.ts';

/**
 * A receiver in a separate process. `/dead` accepts and never answers; for other paths it prints what arrived, and
 * when.
 */
const certificate = makeCertificate(['127.0.0.1']);
const server = createServer(certificate, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => void chunks.push(chunk));
  request.on('error', () => undefined);
  request.on('end', () => {
    if (request.url?.startsWith('/dead')) return;
    const at = performance.timeOrigin + performance.now();
    response.end();
    const id = /"id":"([^"]+)"/.exec(Buffer.concat(chunks).toString('utf8'))?.[1] ?? '';
    process.stdout.write(`${JSON.stringify({ id, at })}\n`);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  process.stdout.write(`${JSON.stringify({ port, cert: certificate.cert })}\n`);
});
