import { z } from 'zod';
import type { ProductFacts } from './facts.ts';
import type { ProductLine, StoreAccess } from './provider.ts';
import { callShopify } from './shopify-graphql.ts';

/** Products a query, so that it stays below the cost that one may have. */
const AT_ONCE = 10;

const PRODUCTS = `query Products($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on Product {
      legacyResourceId productType category { name }
      collections(first: 50) { nodes { legacyResourceId title handle } }
      variants(first: 30) { nodes { legacyResourceId price compareAtPrice } }
    }
  }
}`;

const Id = z.coerce.string();
const Products = z.object({
  nodes: z.array(
    z
      .object({
        legacyResourceId: Id,
        productType: z.string().nullish(),
        category: z.object({ name: z.string() }).nullish(),
        collections: z.object({
          nodes: z.array(z.object({ legacyResourceId: Id, title: z.string(), handle: z.string() })),
        }),
        variants: z.object({
          nodes: z.array(
            z.object({ legacyResourceId: Id, price: z.coerce.number(), compareAtPrice: z.coerce.number().nullish() }),
          ),
        }),
      })
      .nullable(),
  ),
});

/** Reads the collections and the type of products, and which of their variants cost less than before. Needs `read_products`. */
export async function listShopifyProducts(
  store: StoreAccess,
  lines: readonly ProductLine[],
): Promise<Map<string, ProductFacts>> {
  const ids = [...new Set(lines.map(({ productId }) => productId))];
  const productsById = new Map<string, ProductFacts>();
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    const variables = { ids: ids.slice(start, start + AT_ONCE).map((id) => `gid://shopify/Product/${id}`) };
    const { data } = await callShopify(store, { query: PRODUCTS, variables, data: Products });
    for (const product of data.nodes) {
      if (!product) continue;
      const { collections, productType, category, variants } = product;
      const categories = [
        ...collections.nodes.flatMap(({ legacyResourceId, title, handle }) => [legacyResourceId, title, handle]),
        productType ?? '',
        category?.name ?? '',
      ];
      const sales = variants.nodes.map(
        ({ legacyResourceId, price, compareAtPrice }) => [legacyResourceId, (compareAtPrice ?? 0) > price] as const,
      );
      productsById.set(product.legacyResourceId, {
        categories: [...new Set(categories.filter((text) => text !== ''))],
        onSale: { ...Object.fromEntries(sales), '': sales.some(([, isOnSale]) => isOnSale) },
      });
    }
  }
  return productsById;
}
