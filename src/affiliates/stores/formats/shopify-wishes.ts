import { z } from 'zod';
import { type Delivery, getHeader, type PersonWish, parseBody, StoreId } from './provider.ts';

const ids = z
  .array(StoreId)
  .nullish()
  .transform((list) => list ?? []);

/** The address and the lists may be empty. */
const Wish = z.object({
  customer: z.object({ id: StoreId.nullish(), email: z.string().nullish() }).nullish(),
  orders_requested: ids,
  orders_to_redact: ids,
});

const KINDS: Readonly<Record<string, PersonWish['kind']>> = {
  'customers/redact': 'erasure',
  'customers/data_request': 'access',
  'shop/redact': 'erasure',
};

/** Shopify's three topics of the law, which are set in the app's configuration and signed as any other. */
export function readWish({ headers, body }: Delivery): PersonWish | undefined {
  const topic = getHeader(headers, 'x-shopify-topic') ?? '';
  const kind = Object.hasOwn(KINDS, topic) ? KINDS[topic] : undefined;
  if (kind === undefined) return undefined;
  const { customer, orders_requested: requested, orders_to_redact: redacted } = parseBody(Wish, body);
  const email = customer?.email?.trim() || null;
  const orderIds = [...requested, ...redacted];
  return {
    kind,
    email,
    customerId: email === null && orderIds.length === 0 ? (customer?.id ?? null) : null,
    orderIds,
    isWholeStore: topic === 'shop/redact',
  };
}
