import { createHmac, timingSafeEqual } from 'node:crypto';

/** Whether a header is the HMAC-SHA256 of the raw body, as text; in the same time wherever it differs. */
export function isSignedBy(
  secret: string,
  rawBody: Buffer,
  header: string | string[] | undefined,
  encoding: 'base64' | 'hex',
): boolean {
  const expected = Buffer.from(createHmac('sha256', secret).update(rawBody).digest(encoding));
  const given = Buffer.from(typeof header === 'string' ? header : '');
  const isSameLength = given.length === expected.length;
  return timingSafeEqual(isSameLength ? given : expected, expected) && isSameLength;
}
