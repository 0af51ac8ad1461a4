import { z } from 'zod';
import { withFreshness, withFreshRows } from '../../analytics/figures/freshness.ts';
import { FRESHNESS, type LinkFigures } from '../../analytics/figures/sums.ts';
import {
  listLinkFigures,
  listLinkRanks,
  type RankedFigure,
  sumBrand,
  sumLinkSpan,
  sumLinks,
} from '../../analytics/figures/totals.ts';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { act, create, patch, read, remove } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import type { Call } from '../../kit/operation/operation.ts';
import type { Work } from '../../kit/operation/work.ts';
import { toChunks } from '../../kit/values/chunks.ts';
import { type Page, toPage, toPagination } from '../../kit/values/page.ts';
import { mapInBatches } from '../../kit/values/wire.ts';
import { getBrandCurrency } from '../../platform/brands/brands.ts';
import { listBudgets } from '../../workflow/terms/budgets.ts';
import { changeWithNews } from '../../workflow/terms/news.ts';
import { getLinkTerms } from '../terms/effective.ts';
import { bulkCodeOperations } from './bulk-codes.api.ts';
import { deactivateLink, loadForPatch, loadForRotation, patchLink, rotateLink } from './change-link.ts';
import { createLink, loadStore } from './create-link.ts';
import { findSortFigure } from './link-sorts.ts';
import { sumFigures, toSummary } from './link-sums.ts';
import { linkMails } from './links.mails.ts';
import {
  Affiliate,
  AffiliateList,
  Link,
  LinkCreate,
  LinkDeactivated,
  LinkFilter,
  LinkList,
  LinkPatch,
  LinkRotation,
  RotatedLink,
  toLink,
} from './links.shapes.ts';
import { findSpan, getLink, type ListedLink, links, listIdsByFigure, listLinksByIds } from './links.ts';

const tag = 'Affiliates';

const withFigures =
  ({ clickhouse, config, postgres, clock }: Context, brandId: string) =>
  async (rows: readonly ListedLink[]) => {
    const figures = await listLinkFigures(clickhouse, brandId, rows);
    const budgets = await listLinkBudgets(postgres.db, brandId, clock.now(), rows);
    return rows.map((row) =>
      toLink(config.linksUrl, row, { figures: figures.get(row.id), budget: budgets.get(row.id) }),
    );
  };

/** Budgets of the links' own terms. */
const listLinkBudgets = (db: Db, brandId: string, now: Date, rows: readonly ListedLink[]) =>
  listBudgets(
    db,
    brandId,
    now,
    rows.map((row) => {
      const { terms, source } = getLinkTerms(row);
      return { place: 'link', placeId: row.id, terms: source === 'link' ? terms : null };
    }),
  );

/** A link after a change, with the figures that were read before it. */
async function showChanged({ db, brandId, now }: Work, id: string, linksUrl: string, figures?: LinkFigures) {
  const row = await getLink(db, brandId, id);
  return toLink(linksUrl, row, { figures, budget: (await listLinkBudgets(db, brandId, now, [row])).get(id) });
}

/** Sums the figures of all links that the filter matches, by currency, with the cheapest statement for the filter. */
async function sumMatching({ postgres: { db }, clickhouse }: Context, brandId: string, where: LinkFilter) {
  const { page: _page, limit: _limit, offset: _offset, sort: _sort, ...filter } = where;
  const isWhole = Object.values(filter).every((value) => value === undefined);
  if (isWhole) return await sumBrand(clickhouse, brandId);
  const span = await findSpan(db, brandId, where);
  if (span) return await sumLinkSpan(clickhouse, brandId, span);
  const rows = await links.found(db, brandId, where).select('links.id').execute();
  return await sumLinks(
    clickhouse,
    brandId,
    rows.map(({ id }) => id),
  );
}

/** Reads the ids of matching links that are sorted by a figure, which ClickHouse has. */
async function listSortedIds(
  { postgres, clickhouse }: Context,
  brandId: string,
  { query, figure }: { query: LinkFilter; figure: RankedFigure },
  part: { offset: number; limit: number },
): Promise<string[]> {
  const ranks = await listLinkRanks(clickhouse, brandId, figure);
  return await listIdsByFigure(postgres.db, brandId, query, ranks, part);
}

async function readPage(context: Context, brandId: string, query: LinkFilter, page: Page) {
  const { db } = context.postgres;
  const figure = findSortFigure(query.sort);
  if (figure === undefined) return await links.list(db, brandId, query, page);
  const total = await countRows(links.found(db, brandId, query).select(COUNT));
  const ids = await listSortedIds(context, brandId, { query, figure }, page);
  return { rows: await listLinksByIds(db, brandId, ids), total };
}

async function listPage(context: Context, brandId: string, query: LinkFilter) {
  const page = toPage(query);
  const { rows, total } = await readPage(context, brandId, query, page);
  return { data: await withFigures(context, brandId)(rows), pagination: toPagination(page, total) };
}

const ROWS_AT_ONCE = 1_000;
/** More links than any brand has. */
const ALL = { offset: 0, limit: 100_000_000 };

async function* eachLink(context: Context, brandId: string, query: LinkFilter): AsyncGenerator<ListedLink> {
  const { db, exports } = context.postgres;
  const figure = findSortFigure(query.sort);
  if (figure === undefined) {
    yield* links.each(exports, brandId, query);
    return;
  }
  const ids = await listSortedIds(context, brandId, { query, figure }, ALL);
  for (const some of toChunks(ids, ROWS_AT_ONCE)) yield* await listLinksByIds(db, brandId, some);
}

const csvAs = (item: z.ZodObject) => ({
  item,
  rows: (context: Context, call: Call<object, LinkFilter, object>) => {
    const { brandId } = call.caller;
    const rows = eachLink(context, brandId, call.query);
    return withFreshRows(context, call, mapInBatches(rows, withFigures(context, brandId)));
  },
});

const linkOperations = [
  read({
    id: 'list_affiliates',
    path: '/v1/affiliates',
    tag,
    summary: 'List codes and links with their results',
    description: `A row per code or link, inactive ones too, newest first. \`summary\` is over all matching rows. ${FRESHNESS}`,
    forAgents: { isListed: false },
    query: LinkFilter,
    response: AffiliateList,
    handler: (context, call) =>
      withFreshness(context, call, async () => {
        const { caller, query } = call;
        const [{ data, pagination }, currency, figures] = await Promise.all([
          listPage(context, caller.brandId, query),
          getBrandCurrency(context.postgres.db, caller.brandId),
          sumMatching(context, caller.brandId, query),
        ]);
        return { data, pagination, summary: toSummary(currency, sumFigures(currency, figures)) };
      }),
    csv: csvAs(Affiliate),
  }),
  read({
    id: 'list_affiliate_links',
    path: '/v1/affiliates/links',
    tag,
    summary: 'List codes and links',
    description: `The same as \`/v1/affiliates\`, with the short URL, its destination and \`active\`. Newest first. ${FRESHNESS}`,
    forAgents: {
      description: 'With the lifetime figures, short URL and destination of each, inactive ones too. Newest first.',
      example: { creator_email: 'ana@example.com' },
    },
    query: LinkFilter,
    response: LinkList,
    handler: (context, call) => withFreshness(context, call, () => listPage(context, call.caller.brandId, call.query)),
    csv: csvAs(Link.omit({ terms: true, effective_terms: true, budget: true })),
  }),
  create({
    id: 'create_affiliate_link',
    path: '/v1/affiliates/links',
    tag,
    summary: 'Assign a code or link to a creator',
    description:
      'Creates no discount at the store. With `integration_id` the coupon is verified at the store; without it nothing is ' +
      'verified. For a link whose `value` is an https address, a name is generated.',
    forAgents: {
      description:
        'Creates no discount at the store; with `integration_id` it checks that the coupon exists there. For a link whose `value` is an https address, a name is generated.',
      example: { creator_email: 'ana@example.com', value: 'ANA10', commission_rate: 10 },
      omits: ['currency', 'creator_name', 'platform', 'terms'],
    },
    body: LinkCreate,
    item: Link,
    errors: ['DUPLICATE_CODE', 'CONFLICT'],
    hints: { planned: ['terms'] },
    weighs: { rate: 'commissionRatePpm' },
    lookUp: async (context, { caller, body }) => ({
      linksUrl: context.config.linksUrl,
      store: await loadStore(context, caller.brandId, body),
    }),
    apply: async (work, { body }, { linksUrl, store }) => {
      const { id } = await createLink(work, body, linksUrl, store);
      return await showChanged(work, id, linksUrl);
    },
  }),
  read({
    id: 'get_affiliate_link',
    path: '/v1/affiliates/links/{id}',
    tag,
    summary: 'Get a code or link',
    description: `Includes its lifetime figures, even when it is inactive. ${FRESHNESS}`,
    forAgents: { description: 'Includes its lifetime figures, even when it is inactive.' },
    response: z.object({ data: Link }),
    errors: ['NOT_FOUND'],
    handler: (context, call) =>
      withFreshness(context, call, async () => {
        const { caller, params } = call;
        const row = await getLink(context.postgres.db, caller.brandId, params.id);
        const [link] = await withFigures(context, caller.brandId)([row]);
        if (!link) throw new Error('A link that was read is not shown.');
        return { data: link };
      }),
  }),
  patch({
    id: 'update_affiliate_link',
    path: '/v1/affiliates/links/{id}',
    tag,
    summary: 'Change a code or link',
    description:
      'Only the fields that you send change; null clears one. A new `value` of a link creates a new short URL, and the ' +
      'old one keeps redirecting. Existing commissions keep their rate.',
    forAgents: {
      description:
        'A new `value` of a link creates a new short URL, and the old one keeps redirecting. Existing commissions keep their rate.',
      example: { id: 'lnk_…', commission_rate: 12 },
      omits: ['url', 'hold_days', 'attribution_days', 'terms'],
    },
    body: LinkPatch,
    item: Link,
    errors: ['NOT_FOUND', 'DUPLICATE_CODE', 'CONFLICT'],
    hints: { planned: ['terms'] },
    weighs: { rate: 'commissionRatePpm' },
    lookUp: async (context, { caller, params, body }) => ({
      linksUrl: context.config.linksUrl,
      ...(await loadForPatch(context, caller.brandId, params.id, body)),
    }),
    apply: async (work, { params, body }, { linksUrl, store, figures }) => {
      const place = { place: 'link', placeId: params.id } as const;
      await changeWithNews(work, { ...place, isTold: body.notify ?? false }, () =>
        patchLink(work, params.id, body, linksUrl, store),
      );
      return await showChanged(work, params.id, linksUrl, figures);
    },
  }),
  remove({
    id: 'delete_affiliate_link',
    path: '/v1/affiliates/links/{id}',
    tag,
    summary: 'Deactivate a code or link',
    description: 'It keeps its history, and nobody else can get its value. A PATCH can activate it again.',
    forAgents: {
      description:
        'It keeps its history, and nobody else can get its value. update_affiliate_link can activate it again.',
    },
    item: LinkDeactivated,
    errors: ['NOT_FOUND'],
    apply: async (work, { params }) => {
      await deactivateLink(work, params.id);
      return { id: params.id, active: false as const, deactivated: true as const };
    },
  }),
  act({
    id: 'rotate_affiliate_link',
    path: '/v1/affiliates/links/{id}/rotate',
    tag,
    summary: 'Replace a leaked code',
    description:
      'Gives the assignment a new code; history and terms stay. The old code pays for a while, and ' +
      'nobody else can get it until then. Creates no discount at the store; a `value` of a connected code is verified there.',
    forAgents: { isListed: false },
    body: LinkRotation,
    item: RotatedLink,
    errors: ['NOT_FOUND', 'DUPLICATE_CODE', 'CONFLICT'],
    lookUp: async (context, { caller, params, body }) => ({
      linksUrl: context.config.linksUrl,
      ...(await loadForRotation(context, caller.brandId, params.id, body)),
    }),
    apply: async (work, { params, body }, { linksUrl, store, figures }) => {
      const { oldCode, until } = await rotateLink(work, params.id, body, { linksUrl, store });
      const link = await showChanged(work, params.id, linksUrl, figures);
      return { ...link, old_code: oldCode, old_pays_until: until.toISOString() };
    },
  }),
] as const;

export const linksNoun = noun({
  name: 'links',
  tag: {
    name: 'Affiliates',
    about: 'Codes, tracked links, stores, figures and the ledger. Begin with `POST /v1/affiliates/links`.',
  },
  ids: { links: 'lnk' },
  operations: [...linkOperations, ...bulkCodeOperations],
  mails: linkMails,
});
