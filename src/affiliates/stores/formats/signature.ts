import { createHmac, timingSafeEqual } from 'node:crypto';

/** Compares a header with the HMAC-SHA256 of the raw body in constant time. */
export function isSignedBy(
  secret: string,
  rawBody: Buffer,
  header: string | string[] | undefined,
  encoding: 'base64' | 'hex',
): boolean {
  const expected = Buffer.from(createHmac('sha256', secret).update(rawBody).digest(encoding));
  const received = Buffer.from(typeof header === 'string' ? header : '');
  const isSameLength = received.length === expected.length;
  return timingSafeEqual(isSameLength ? received : expected, expected) && isSameLength;
}
