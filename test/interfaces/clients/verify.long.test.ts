import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { verifyDigest, verifyWebhook, WebhookSecretError } from '../../../clients/typescript/src/signatures.ts';

const run = promisify(execFile);
const SECRET = `whsec_${Buffer.from('a secret of thirty bytes......').toString('base64')}`;
const PAYLOAD = '{"event":"payout.created"}';
const now = () => String(Math.floor(Date.now() / 1_000));

const signed = (at = new Date()) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
  'webhook-signature': new Webhook(SECRET).sign('msg_1', at, PAYLOAD),
});

/** What a forger may send as a header, and what makes base64, numbers and text fail. */
const value = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string().map((text) => `v1,${text}`),
  fc.base64String().map((text) => `v1,${text}`),
  fc.constantFrom('', 'v1,', 'v1,====', 'v1,%%%', 'v1,é', '²', '1e3', '-1', 'NaN', 'Infinity', '9'.repeat(400)),
  fc.constant(null).map(now),
);
const headers = fc.oneof(
  fc.record(
    { 'webhook-id': value, 'webhook-timestamp': value, 'webhook-signature': value },
    { requiredKeys: [], noNullPrototype: false },
  ),
  fc.dictionary(fc.string(), fc.anything()),
  fc.anything(),
);

test('The TypeScript client answers false to any delivery that was not signed, and never throws', async () => {
  const forged = fc.asyncProperty(
    headers,
    fc.oneof(fc.string(), fc.uint8Array(), fc.anything()),
    async (given, body) => {
      return (await Reflect.apply(verifyWebhook, null, [SECRET, body, given])) === false;
    },
  );
  await fc.assert(forged, { numRuns: 2_000 });
});

test('The TypeScript client throws a WebhookSecretError for any secret that is not one, and nothing else', async () => {
  const isBase64 = (text: string) => /^(?=.)([\w+/]{4})*([\w+/]{2}==|[\w+/]{3}=)?$/.test(text.replace(/^whsec_/, ''));
  const secrets = fc.oneof(fc.string(), fc.anything()).filter((one) => typeof one !== 'string' || !isBase64(one));
  const misused = fc.asyncProperty(secrets, async (secret) => {
    await expect(Reflect.apply(verifyWebhook, null, [secret, PAYLOAD, signed()])).rejects.toThrow(WebhookSecretError);
  });
  await fc.assert(misused, { numRuns: 300 });
});

test('The TypeScript client verifies a delivery by the headers of Node and of fetch, with its body as text or bytes', async () => {
  const right = signed();
  const shapes = [
    right,
    { ...right, cookie: ['a', 'b'], host: undefined },
    new Headers(right),
    new Map(Object.entries(right)),
  ];
  const capitals = { 'Webhook-Id': 'msg_1', 'WEBHOOK-TIMESTAMP': right['webhook-timestamp'] };
  const framework = { ...capitals, 'Webhook-Signature': [right['webhook-signature']] };
  for (const given of [...shapes, framework]) {
    expect(await verifyWebhook(SECRET, PAYLOAD, given)).toBe(true);
    expect(await verifyWebhook(SECRET, Buffer.from(PAYLOAD), given)).toBe(true);
    expect(await verifyWebhook(SECRET, `${PAYLOAD} `, given)).toBe(false);
  }
  const old = signed(new Date(Date.now() - 301_000));
  expect(await verifyWebhook(SECRET, PAYLOAD, old)).toBe(false);
  const rotated = { ...right, 'webhook-signature': `v1,AAAA v2,x ${right['webhook-signature']}` };
  expect(await verifyWebhook(SECRET, PAYLOAD, rotated)).toBe(true);
});

test('The TypeScript client verifies a digest over the body, and answers false to any other, however malformed', async () => {
  const digest = `sha256=${createHmac('sha256', SECRET).update(PAYLOAD).digest('hex')}`;
  expect(await verifyDigest(SECRET, PAYLOAD, digest)).toBe(true);
  expect(await verifyDigest(SECRET, Buffer.from(PAYLOAD), ` ${digest}`)).toBe(true);
  const texts = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom(digest, digest.slice(7), 'v1,'));
  const forged = fc.asyncProperty(fc.oneof(fc.string(), fc.anything()), texts, async (secret, signature) => {
    fc.pre(secret !== SECRET);
    return (await Reflect.apply(verifyDigest, null, [secret, PAYLOAD, signature])) === false;
  });
  await fc.assert(forged, { numRuns: 300 });
});

test('The Python client answers False to any delivery that was not signed, and raises its one error for what is no secret', async () => {
  const { stdout } = await run('python3', [
    'test/interfaces/clients/verify.py',
    SECRET,
    PAYLOAD,
    JSON.stringify(signed()),
  ]);
  expect(JSON.parse(stdout)).toEqual({
    right: [true, true, true],
    digests: [true, false, false],
    forged: 0,
    raised: [],
    secrets: ['WebhookSecretError'],
  });
});
