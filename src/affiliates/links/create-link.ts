import type { Insertable } from 'kysely';
import { makePlainTerms } from '../../analytics/pricing/plain.ts';
import type { LinksTable } from '../../kit/engines/postgres/database.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ApiError, type Problem, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { fromPpm } from '../../kit/values/money.ts';
import { getBrandCurrency, getDefaultRatePpm } from '../../platform/brands/brands.ts';
import { campaignProblems } from '../../workflow/campaigns/campaigns.ts';
import { setTerms } from '../../workflow/terms/versions.ts';
import { verifyCoupon } from '../stores/connections/connect.ts';
import { getConnectedIntegration } from '../stores/connections/connections.ts';
import { listLinkStarts, toOwnColumns } from '../terms/effective.ts';
import { tellCreators } from './links.mails.ts';
import { isAddress, type LinkCreate } from './links.shapes.ts';
import {
  findByValue,
  insertLinks,
  insertStates,
  type LinkRow,
  type LinkType,
  listHeldCodes,
  lockOnRoster,
} from './links.ts';
import { assignSlugs, drawCode, firstSlug, toSlug } from './slugs.ts';

/** Days of review and of attribution where nobody says others. */
export const DEFAULT_DAYS = 30;

type LinkNames = readonly (string | null)[];

export interface LinkStore {
  currency: string;
  storefrontHost: string;
  /** The verified coupon of a code. */
  coupon?: { percentage: number; endsAt: Date | null };
}

/**
 * Reads the store, and for a code its coupon, before the transaction that creates the link. If the body refers to
 * missing records, all its problems are reported at once and the store is not asked.
 */
export async function loadStore(context: Context, brandId: string, input: LinkCreate): Promise<LinkStore | undefined> {
  const { integration_id: id, type, value } = input;
  if (id === undefined || id === null) return undefined;
  const { db } = context.postgres;
  const [store, problems] = await getConnectedIntegration(db, brandId, id).then(
    (integration) => [integration, []] as const,
    (error: unknown) => {
      if (error instanceof ApiError && error.details) return [undefined, error.details] as const;
      throw error;
    },
  );
  await checkReferences({ db, brandId }, input, [
    ...findDestinationProblems(context.config.linksUrl, getDestination(input), store),
    ...problems,
  ]);
  return type === 'discount_code' ? await verifyCoupon(context, brandId, id, value) : store;
}

/** An address as the value is the destination, and the value is generated. */
const leadsToValue = ({ type, value }: LinkCreate) => type === 'link' && isAddress(value);
const getDestination = (input: LinkCreate) => input.destination_url ?? (leadsToValue(input) ? input.value : null);

/** The brand's database, within a transaction or before it. */
type Scope = Pick<Work, 'db' | 'brandId'>;

export function findDestinationProblems(
  linksUrl: string,
  destination: string | null | undefined,
  store?: LinkStore | undefined,
): Problem[] {
  const field = 'destination_url';
  if (destination === null || destination === undefined) return [];
  // A link to a short URL would redirect in a circle. Scheme and port are ignored, as they reach the same server.
  const [ownUrl, requestedUrl] = [new URL(`${linksUrl}/r/`), new URL(destination)];
  const isOwnHost = requestedUrl.hostname.replace(/\.$/, '') === ownUrl.hostname.replace(/\.$/, '');
  if (isOwnHost && requestedUrl.pathname.startsWith(ownUrl.pathname))
    return [{ field, code: 'circular', message: 'is itself a short URL of a link.' }];
  if (store === undefined || requestedUrl.host === store.storefrontHost) return [];
  return [{ field, code: 'wrong_host', message: `must be at the connected store, ${store.storefrontHost}.` }];
}

/** Finds the link that has the value, or the one whose replaced code still pays. */
export async function findHolder(
  { db, now, brandId }: Work,
  type: LinkType,
  value: string,
): Promise<string | undefined> {
  const holder = await findByValue(db, brandId, { type, value });
  if (holder !== undefined || type === 'link') return holder;
  return (await listHeldCodes(db, brandId, [value], now))[0]?.linkId;
}

export const createDuplicateError = (type: LinkType, existingId: string | undefined) =>
  new ApiError('DUPLICATE_CODE', `The brand already has a ${type === 'link' ? 'link' : 'code'} with this value.`, {
    facts: { existing_id: existingId },
  });

export const MAX_ATTEMPTS = 8;

/** Creates the link, and draws another value while a generated one is taken. */
export async function insertLink(
  work: Work,
  row: Omit<Insertable<LinksTable>, 'value' | 'slug'>,
  { value: chosen, names }: { value: string | undefined; names: LinkNames },
): Promise<LinkRow> {
  const { db, now, brandId } = work;
  const { type } = row;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const value = chosen ?? drawCode(names, attempt).toLowerCase();
    const slug = type === 'link' ? firstSlug(value, names) : null;
    const [link] = await insertLinks(db, [{ ...row, value, slug }]);
    if (!link && chosen === undefined) continue;
    if (!link) throw createDuplicateError(type, await findHolder(work, type, value));
    await insertStates(db, [{ brandId, linkId: link.id, at: now, active: link.active }]);
    if (slug === null) return link;
    const slugs = await assignSlugs(work, [{ linkId: link.id, slug, value, names }]);
    return { ...link, slug: slugs.get(link.id) ?? slug };
  }
  throw new Error('No free value was found for a link.');
}

/** Lists the generated fields: the value unless it was chosen, and the slug unless it follows from a chosen value. */
export function listGeneratedFields({ slug, value }: LinkRow, isChosen: boolean): string[] {
  const isSlugGenerated = slug !== null && !(isChosen && slug === toSlug(value));
  return [...(isChosen ? [] : ['value']), ...(isSlugGenerated ? ['slug'] : [])];
}

/** Returns the creator, whose roster entry a transaction locks, or throws every problem with the body's references. */
async function checkReferences(scope: Scope, input: LinkCreate, problems: Problem[]) {
  const { creator_email: email, campaign_id: campaignId } = input;
  const creator = await lockOnRoster(scope.db, scope.brandId, email);
  const others = [...(await campaignProblems(scope, campaignId)), ...problems];
  const stranger = { field: 'creator_email', code: 'not_on_roster', message: "is not on the brand's roster." };
  if (!creator) throw validationError([stranger, ...others]);
  if (others.length > 0) throw validationError(others);
  return creator;
}

/** The columns of a new link that say its terms: those of the body, or those that its creator's links start with. */
async function toStartColumns(work: Work, id: string, creatorId: string, input: LinkCreate) {
  const { db, brandId } = work;
  const { terms, commission_rate: percent, pays_renewals: paysRenewals, campaign_id: campaignId = null } = input;
  const start = (await listLinkStarts(db, brandId, [creatorId], campaignId)).get(creatorId);
  const days = {
    holdDays: input.hold_days ?? start?.holdDays ?? DEFAULT_DAYS,
    attributionDays: input.attribution_days ?? start?.attributionDays ?? DEFAULT_DAYS,
  };
  if (terms) return { ...days, ...toOwnColumns(terms, await setTerms(work, { place: 'link', placeId: id }, terms)) };
  if (start && percent === undefined && paysRenewals === undefined) return { ...days, ...start.columns };
  const own = makePlainTerms(
    percent ?? fromPpm(await getDefaultRatePpm(db, brandId)),
    paysRenewals ? 'subscription' : 'order',
  );
  return { ...days, ...toOwnColumns(own, null) };
}

export async function createLink(
  work: Work,
  input: LinkCreate,
  linksUrl: string,
  store: LinkStore | undefined,
): Promise<LinkRow> {
  const { db, now, brandId } = work;
  const { type, value, creator_name: creatorName = null } = input;
  const chosenValue = leadsToValue(input) ? undefined : value;
  const destinationUrl = getDestination(input);
  const creator = await checkReferences(work, input, findDestinationProblems(linksUrl, destinationUrl, store));
  const id = newId('lnk', now.getTime());
  const facts = {
    id,
    brandId,
    creatorId: creator.id,
    creatorName,
    type,
    destinationUrl,
    campaignId: input.campaign_id ?? null,
    integrationId: input.integration_id ?? null,
    ...(await toStartColumns(work, id, creator.id, input)),
    forwardParameters: input.forward_parameters && null,
    currency: store?.currency ?? input.currency ?? (await getBrandCurrency(db, brandId)),
    platform: input.platform ?? null,
    ...toCouponColumns(store),
    active: true,
    lastSyncAt: store ? now : null,
    createdAt: now,
    updatedAt: null,
  };
  const names = [creatorName, creator.name, creator.igHandle, creator.ttHandle];
  const row = await insertLink(work, facts, { value: chosenValue, names });
  work.audit({
    resourceId: row.id,
    old: null,
    new: row,
    generated: listGeneratedFields(row, chosenValue !== undefined),
  });
  const isAtOnce = input.notify || type === 'link' || store?.coupon !== undefined;
  await tellCreators(work, linksUrl, [{ row, email: creator.email }], isAtOnce);
  return row;
}

/** Columns of the verified coupon. A finer rate is rounded to millionths. */
export const toCouponColumns = (store: LinkStore | undefined) =>
  store?.coupon ? { discountPpm: Math.round(store.coupon.percentage * 10_000), expiresAt: store.coupon.endsAt } : {};
