import { z } from 'zod';
import type { ProductFacts } from './facts.ts';
import { type ProductLine, StoreId } from './provider.ts';

/** Largest page that WooCommerce allows. */
const AT_ONCE = 100;

const Products = z.array(
  z.object({
    id: StoreId,
    type: z.string().optional(),
    on_sale: z.boolean().default(false),
    categories: z.array(z.object({ id: StoreId, name: z.string(), slug: z.string().optional() })).default([]),
  }),
);
const Variations = z.array(z.object({ id: StoreId, on_sale: z.boolean().default(false) }));

type List = <T>(path: string, shape: z.ZodType<T>) => Promise<T>;

/** Reads the categories of products, and whether they, or the variations that were bought, are on sale. */
export async function listWooProducts(list: List, lines: readonly ProductLine[]): Promise<Map<string, ProductFacts>> {
  const ids = [...new Set(lines.map(({ productId }) => productId))];
  const productsById = new Map<string, ProductFacts>();
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    const include = ids.slice(start, start + AT_ONCE).join(',');
    for (const product of await list(`/products?include=${include}&per_page=${AT_ONCE}`, Products)) {
      const categories = product.categories.flatMap(({ id, name, slug = name }) => [id, name, slug]);
      productsById.set(product.id, { categories: [...new Set(categories)], onSale: { '': product.on_sale } });
    }
  }
  for (const [productId, product] of productsById) {
    const variants = lines.flatMap((line) => (line.productId === productId ? (line.variantId ?? []) : []));
    if (variants.length === 0) continue;
    const include = [...new Set(variants)].slice(0, AT_ONCE).join(',');
    const variations = await list(
      `/products/${productId}/variations?include=${include}&per_page=${AT_ONCE}`,
      Variations,
    );
    for (const { id, on_sale } of variations) product.onSale[id] = on_sale;
  }
  return productsById;
}
