import { createHmac, timingSafeEqual } from 'node:crypto';

/** Compares a header with the HMAC-SHA256 of the raw body in constant time. */
export function isSignedBy(
  secret: string,
  rawBody: Buffer,
  header: string | string[] | undefined,
  encoding: 'base64' | 'hex',
): boolean {
  const expectedMac = Buffer.from(createHmac('sha256', secret).update(rawBody).digest(encoding));
  const receivedMac = Buffer.from(typeof header === 'string' ? header : '');
  const isSameLength = receivedMac.length === expectedMac.length;
  return timingSafeEqual(isSameLength ? receivedMac : expectedMac, expectedMac) && isSameLength;
}
