import { z } from 'zod';
import { Currency } from '../../../kit/values/money.ts';
import { type StoreClient, StorefrontUrl, StoreName, StoreTime, StoreZone } from './provider.ts';
import { askShopify, SHOPIFY_VERSION } from './shopify-graphql.ts';
import { findShopifyOrder, listShopifyOrders } from './shopify-list.ts';
import { readShopify } from './shopify-orders.ts';
import { listShopifyProducts } from './shopify-products.ts';
import { newShopifyToken } from './shopify-token.ts';
import { shopifyWebhooks, TOPICS, uninstalledAt } from './shopify-webhooks.ts';
import { readWish } from './shopify-wishes.ts';
import { isSignedBy } from './signature.ts';

/** The coupon is read only to learn now, not at the first link, whether the token may read discounts. */
const CONNECT = `query Connect {
  shop { name currencyCode ianaTimezone primaryDomain { host url } }
  codeDiscountNodeByCode(code: "rollcall") { id }
}`;

const COUPON = `query Coupon($code: String!) {
  codeDiscountNodeByCode(code: $code) {
    codeDiscount {
      __typename
      ... on DiscountCodeBasic { status endsAt customerGets { value { __typename ... on DiscountPercentage { percentage } } } }
      ... on DiscountCodeBxgy { status }
      ... on DiscountCodeFreeShipping { status }
      ... on DiscountCodeApp { status }
    }
  }
}`;

const TAXES = `query Taxes($id: ID!) { order(id: $id) { taxesIncluded } shop { taxesIncluded } }`;

const Shop = z.object({
  shop: z.object({
    name: StoreName.pipe(z.string().min(1)),
    currencyCode: Currency,
    ianaTimezone: StoreZone,
    primaryDomain: z.object({ url: StorefrontUrl }),
  }),
});

const Discount = z.object({
  codeDiscountNodeByCode: z
    .object({
      codeDiscount: z.object({
        status: z.string().optional(),
        endsAt: StoreTime.nullish(),
        customerGets: z.object({ value: z.object({ percentage: z.number().optional() }) }).optional(),
      }),
    })
    .nullable(),
});

const Priced = z.object({ taxesIncluded: z.boolean() });
const Taxes = z.object({ order: Priced.nullable(), shop: Priced });

export const shopify: StoreClient = {
  topics: TOPICS,
  webhooks: shopifyWebhooks,
  uninstalledAt,
  readWish,
  version: SHOPIFY_VERSION,
  connect: async (store) => {
    const { shop } = await askShopify(store, CONNECT, {}, Shop);
    return {
      name: shop.name,
      currency: shop.currencyCode,
      storefrontUrl: shop.primaryDomain.url,
      timeZone: shop.ianaTimezone,
    };
  },
  newToken: newShopifyToken,
  findCoupon: async (store, code) => {
    const { codeDiscountNodeByCode: node } = await askShopify(store, COUPON, { code }, Discount);
    if (!node) return { state: 'not_found' };
    const { status, customerGets, endsAt = null } = node.codeDiscount;
    const fraction = customerGets?.value.percentage;
    if (fraction === undefined) return { state: 'not_percentage' };
    return status === 'ACTIVE' ? { state: 'active', percentage: fraction * 100, endsAt } : { state: 'inactive' };
  },
  verify: (rawBody, headers, secret) => isSignedBy(secret, rawBody, headers['x-shopify-hmac-sha256'], 'base64'),
  isPing: () => false,
  read: (delivery, store) =>
    readShopify(delivery, store, {
      areTaxesIncluded: async (orderId) => {
        const { order, shop } = await askShopify(store, TAXES, { id: `gid://shopify/Order/${orderId}` }, Taxes);
        // The shop's setting stands in for an order that is gone, or hidden because it is older than 60 days.
        return (order ?? shop).taxesIncluded;
      },
      findOrder: (orderId) => findShopifyOrder(store, orderId),
    }),
  listProducts: listShopifyProducts,
  listOrders: listShopifyOrders,
};
