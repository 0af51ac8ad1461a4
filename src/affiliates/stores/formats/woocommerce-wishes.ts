import { z } from 'zod';
import { toAsciiAddress } from '../../../kit/values/email.ts';
import { type Delivery, getHeader, type PersonWish, parseBody } from './provider.ts';

/** Whatever a shop took for an address may be erased. */
const Wish = z.object({ email: z.string().trim().min(1).max(320).overwrite(toAsciiAddress) });

const KINDS: Readonly<Record<string, PersonWish['kind']>> = {
  'action.rollcall_erase': 'erasure',
  'action.rollcall_export': 'access',
};

/** Reads a wish that our plugin passes on from WordPress' tools for personal data, signed as any webhook of the store. */
export function readWooWish({ headers, body }: Delivery): PersonWish | undefined {
  const topic = getHeader(headers, 'x-wc-webhook-topic');
  const kind = Object.hasOwn(KINDS, topic) ? KINDS[topic] : undefined;
  if (kind === undefined) return undefined;
  return { kind, email: parseBody(Wish, body).email, customerId: null, orderIds: [], isWholeStore: false };
}
