import type { Context } from '../src/kit/operation/context.ts';
import { newId } from '../src/kit/values/ids.ts';
import { createBrand } from '../src/platform/brands/brands.ts';
import { destinationOf, slugOf } from './click-links.ts';

/** Creates one brand and creator with this many links, as the API would. Returns the brand's id. */
export async function makeLinks(context: Context, links: number): Promise<string> {
  const { postgres, clock } = context;
  const { db } = postgres;
  const brandId = await createBrand(db, clock, { name: 'bench clicks', plan: 'enterprise', status: 'active' });
  const now = clock.now();
  const id = (prefix: string) => newId(prefix, now.getTime());
  const creatorId = id('cre');
  await db
    .insertInto('creators')
    .values({ id: creatorId, brandId, email: 'bench@creator.example', createdAt: now })
    .execute();
  const rows = Array.from({ length: links }, (_, i) => ({
    ...{ id: id('lnk'), brandId, creatorId, type: 'link' as const, value: slugOf(i), slug: slugOf(i) },
    ...{ destinationUrl: destinationOf(i), commissionRatePpm: 100_000, holdDays: 14, attributionDays: 30 },
    ...{ currency: 'USD', active: true, createdAt: now },
  }));
  await db.insertInto('links').values(rows).execute();
  const slugs = rows.map(({ id: linkId, slug }) => ({ slug, brandId, linkId, createdAt: now }));
  await db.insertInto('linkSlugs').values(slugs).execute();
  return brandId;
}
