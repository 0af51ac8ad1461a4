import { type Insertable, sql } from 'kysely';
import { lifetimeOf } from '../../analytics/figures/queries.ts';
import type { LinksTable } from '../../kit/engines/postgres/database.ts';
import { violates } from '../../kit/engines/postgres/violation.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Work } from '../../kit/operation/work.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { ApiError, type Problem, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { toPpm } from '../../kit/values/money.ts';
import { given } from '../../kit/values/patch.ts';
import { getBrandCurrency, getDefaultRatePpm } from '../../platform/brands/queries.ts';
import { campaignProblems } from '../../workflow/campaigns/actions.ts';
import { verifyCoupon } from '../stores/connections/actions.ts';
import { getConnectedIntegration, getIntegration } from '../stores/connections/queries.ts';
import { mailGiven } from './mails.ts';
import { codeFor, slugOf } from './policy.ts';
import {
  findByValue,
  getLink,
  insertLinks,
  insertPastCode,
  insertStates,
  type LinkRow,
  type LinkType,
  listHeldCodes,
  lockLink,
  lockOnRoster,
  updateLink,
} from './queries.ts';
import { isAddress, type LinkCreate, type LinkPatch, type LinkRotation } from './schema.ts';
import { firstSlug, giveSlugs } from './slugs/actions.ts';

type Names = readonly (string | null)[];

interface Store {
  currency: string;
  storefrontHost: string;
  /** Of a code that was verified. */
  coupon?: { percentage: number; endsAt: Date | null };
}

/**
 * Reads a connected offer from its store, before the transaction that creates it. A body that refers to missing records
 * does not get this far: all its problems are reported at once.
 */
export async function askStore(context: Context, brandId: string, input: LinkCreate): Promise<Store | undefined> {
  const { integration_id: id, type, value } = input;
  if (id === undefined || id === null) return undefined;
  const { db } = context.postgres;
  const [store, problems] = await getConnectedIntegration(db, brandId, id).then(
    (found) => [found, []] as const,
    (error: unknown) => [undefined, detailsOf(error)] as const,
  );
  await checkReferences({ db, brandId }, input, [
    ...destinationProblems(context.config.linksUrl, destinationOf(input), store),
    ...problems,
  ]);
  return type === 'discount_code' ? await verifyCoupon(context, brandId, id, value) : store;
}

/** The problems of a refusal; rethrows any other error. */
function detailsOf(error: unknown): Problem[] {
  if (error instanceof ApiError && error.details) return error.details;
  throw error;
}

/** Whether the value must be generated, because the given one is the destination. */
const leadsToValue = ({ type, value }: LinkCreate) => type === 'link' && isAddress(value);
const destinationOf = (input: LinkCreate) => input.destination_url ?? (leadsToValue(input) ? input.value : null);

/** As `askStore`, of a link that is there; with its figures, which a change does not touch. */
export async function askBeforePatch(context: Context, brandId: string, id: string, patch: LinkPatch) {
  const { db } = context.postgres;
  const link = await getLink(db, brandId, id);
  const figures = (await lifetimeOf(context.clickhouse, brandId, [link])).get(id);
  return { figures, store: await storeOfPatch(context, link, patch) };
}

async function storeOfPatch(context: Context, link: LinkRow, { value, ...patch }: LinkPatch) {
  const { brandId, integrationId } = link;
  if (integrationId === null) return undefined;
  const { db } = context.postgres;
  const isOther = value !== undefined && value.toLowerCase() !== link.value.toLowerCase();
  if (isOther && link.type === 'discount_code') {
    const problems = await campaignProblems({ db, brandId }, patch.campaign_id);
    if (problems.length > 0) throw validationError(problems);
    return await verifyCoupon(context, brandId, integrationId, value);
  }
  const leadsElsewhere = (patch.destination_url ?? patch.url ?? null) !== null;
  return leadsElsewhere ? await getIntegration(db, brandId, integrationId) : undefined;
}

/** Where references are looked up: the brand's, in a transaction or before it. */
type Place = Pick<Work, 'db' | 'brandId'>;

/** Scheme and port do not matter: they reach the same server. */
const hostOf = ({ hostname }: URL) => hostname.replace(/\.$/, '');

/** Whether an address is one of our short URLs: a link that leads to a link leads nowhere, or in a circle. */
function isShort(linksUrl: string, address: string): boolean {
  const [own, requested] = [new URL(`${linksUrl}/r/`), new URL(address)];
  return hostOf(requested) === hostOf(own) && requested.pathname.startsWith(own.pathname);
}

export function destinationProblems(
  linksUrl: string,
  destination: string | null | undefined,
  store?: Store | undefined,
): Problem[] {
  const field = 'destination_url';
  if (destination === null || destination === undefined) return [];
  if (isShort(linksUrl, destination)) return [{ field, code: 'circular', message: 'is itself a short URL of a link.' }];
  if (store === undefined || new URL(destination).host === store.storefrontHost) return [];
  return [{ field, code: 'wrong_host', message: `must be at the connected store, ${store.storefrontHost}.` }];
}

/** The link that has the value, or the replaced code that still pays for a while. */
async function findHolder({ db, now, brandId }: Work, type: LinkType, value: string): Promise<string | undefined> {
  const holder = await findByValue(db, brandId, { type, value });
  if (holder !== undefined || type === 'link') return holder;
  return (await listHeldCodes(db, brandId, [value], now))[0]?.linkId;
}

const duplicate = (type: LinkType, existingId: string | undefined) =>
  new ApiError('DUPLICATE_CODE', `The brand already has a ${type === 'link' ? 'link' : 'code'} with this value.`, {
    facts: { existing_id: existingId },
  });

const MAX_ATTEMPTS = 8;

/** Creates the link. A generated value is drawn again until it is free. */
async function insertLink(
  work: Work,
  row: Omit<Insertable<LinksTable>, 'value' | 'slug'>,
  wish: { value: string | undefined; names: Names },
): Promise<LinkRow> {
  const { db, now, brandId } = work;
  const { type } = row;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const value = wish.value ?? codeFor(wish.names, attempt).toLowerCase();
    const slug = type === 'link' ? firstSlug(value, wish.names) : null;
    const [made] = await insertLinks(db, [{ ...row, value, slug }]);
    if (!made && wish.value === undefined) continue;
    if (!made) throw duplicate(type, await findHolder(work, type, value));
    await insertStates(db, [{ brandId, linkId: made.id, at: now, active: made.active }]);
    if (slug === null) return made;
    const slugs = await giveSlugs(work, [{ linkId: made.id, slug, value, names: wish.names }]);
    return { ...made, slug: slugs.get(made.id) ?? slug };
  }
  throw new Error('No free value was found for a link.');
}

/** The fields of a link that were drawn: its value unless it was chosen, and a slug that a chosen value does not make. */
export function drawnFields({ slug, value }: LinkRow, isChosen: boolean): string[] {
  const isDrawnSlug = slug !== null && !(isChosen && slug === slugOf(value));
  return [...(isChosen ? [] : ['value']), ...(isDrawnSlug ? ['slug'] : [])];
}

/** The creator, locked on the roster in a transaction; throws everything that is wrong with what the body refers to. */
async function checkReferences(place: Place, input: LinkCreate, problems: Problem[]) {
  const { creator_email: email, campaign_id: campaignId } = input;
  const creator = await lockOnRoster(place.db, place.brandId, email);
  const found = [...(await campaignProblems(place, campaignId)), ...problems];
  const stranger = { field: 'creator_email', code: 'not_on_roster', message: "is not on the brand's roster." };
  if (!creator) throw validationError([stranger, ...found]);
  if (found.length > 0) throw validationError(found);
  return creator;
}

/** In millionths, of a percentage; the brand's own when none is given. */
export async function ratePpmOf({ db, brandId }: Place, percent: number | undefined): Promise<number> {
  const ppm = percent === undefined ? undefined : toPpm(percent);
  return ppm ?? (await getDefaultRatePpm(db, brandId));
}

export async function createLink(
  work: Work,
  input: LinkCreate,
  linksUrl: string,
  store: Store | undefined,
): Promise<LinkRow> {
  const { db, now, brandId } = work;
  const { type, value, creator_name: creatorName = null } = input;
  const chosen = leadsToValue(input) ? undefined : value;
  const destinationUrl = destinationOf(input);
  const creator = await checkReferences(work, input, destinationProblems(linksUrl, destinationUrl, store));
  const facts = {
    ...{ id: newId('lnk', now.getTime()), brandId, creatorId: creator.id, creatorName, type, destinationUrl },
    campaignId: input.campaign_id ?? null,
    integrationId: input.integration_id ?? null,
    commissionRatePpm: await ratePpmOf(work, input.commission_rate),
    holdDays: input.hold_days,
    attributionDays: input.attribution_days,
    paysRenewals: input.pays_renewals || null,
    currency: store?.currency ?? input.currency ?? (await getBrandCurrency(db, brandId)),
    platform: input.platform ?? null,
    ...couponColumns(store),
    ...{ active: true, lastSyncAt: store ? now : null, createdAt: now, updatedAt: null },
  };
  const names = [creatorName, creator.name, creator.igHandle, creator.ttHandle];
  const row = await insertLink(work, facts, { value: chosen, names });
  work.audit({ resourceId: row.id, old: null, new: row, generated: drawnFields(row, chosen !== undefined) });
  await mailGiven(work, linksUrl, [{ row, email: creator.email }]);
  return row;
}

/** The facts of the coupon. A finer rate is rounded to millionths. */
const couponColumns = (store: Store | undefined) =>
  store?.coupon ? { discountPpm: Math.round(store.coupon.percentage * 10_000), expiresAt: store.coupon.endsAt } : {};

/** The columns that a patch sets, of a link that is locked. */
async function patchColumns(work: Work, old: LinkRow, patch: LinkPatch, linksUrl: string, store: Store | undefined) {
  const destinationUrl = patch.destination_url === undefined ? patch.url : patch.destination_url;
  const problems = [
    ...(await campaignProblems(work, patch.campaign_id)),
    ...destinationProblems(linksUrl, destinationUrl, store),
  ];
  if (old.type === 'link' && destinationUrl === null) {
    problems.push({ field: 'destination_url', code: 'required', message: 'is required for a link.' });
  }
  if (old.type === 'link' && patch.value !== undefined && isAddress(patch.value)) {
    problems.push({
      field: 'value',
      code: 'invalid',
      message: 'must not be an address; set `destination_url` instead.',
    });
  }
  if (problems.length > 0) throw validationError(problems);
  const { value, active, platform, creator_name: creatorName, campaign_id: campaignId } = patch;
  const paysRenewals = patch.pays_renewals === undefined ? undefined : patch.pays_renewals || null;
  const commissionRatePpm = patch.commission_rate === undefined ? undefined : toPpm(patch.commission_rate);
  const terms = given({
    value,
    active,
    platform,
    creatorName,
    campaignId,
    destinationUrl,
    commissionRatePpm,
    paysRenewals,
    holdDays: patch.hold_days,
    attributionDays: patch.attribution_days,
  });
  return { ...terms, ...couponColumns(store) };
}

/** The row with its change; undefined if its value is taken. Within a savepoint, so that the transaction continues. */
async function updateIfFree(
  { db, now, brandId }: Work,
  old: LinkRow,
  change: Partial<LinkRow>,
): Promise<LinkRow | undefined> {
  const { value = old.value } = change;
  await sql`savepoint link_value`.execute(db);
  try {
    const row = await updateLink(db, old, change);
    const isCode = old.type === 'discount_code' && value.toLowerCase() !== old.value.toLowerCase();
    const held = isCode ? await listHeldCodes(db, brandId, [value], now) : [];
    if (held.every(({ linkId }) => linkId === old.id)) return row;
  } catch (error) {
    if (!violates(error, 'links_value')) throw error;
  }
  await sql`rollback to savepoint link_value`.execute(db);
  return undefined;
}

async function updateUnlessTaken(work: Work, old: LinkRow, change: Partial<LinkRow>): Promise<LinkRow> {
  const row = await updateIfFree(work, old, change);
  if (row) return row;
  throw duplicate(old.type, await findHolder(work, old.type, change.value ?? old.value));
}

/**
 * Sets only what the patch names. A link with another value gets another slug; the one it had leads on, and a code that
 * an assignment had counts for the orders placed until then.
 */
export async function patchLink(
  work: Work,
  id: string,
  patch: LinkPatch,
  linksUrl: string,
  store: Store | undefined,
): Promise<void> {
  const { db, now, brandId } = work;
  const old = await lockLink(db, brandId, id);
  const columns = await patchColumns(work, old, patch, linksUrl, store);
  const { value = old.value, active = old.active } = columns;
  const isOther = value.toLowerCase() !== old.value.toLowerCase();
  const isRenamed = old.type === 'link' && isOther;
  const names = isRenamed ? [(await getLink(db, brandId, id)).creatorName] : [];
  const slug = isRenamed ? firstSlug(value, names) : old.slug;
  const synced = store && value !== old.value ? { lastSyncAt: now } : {};
  const row = await updateUnlessTaken(work, old, { ...columns, ...synced, slug, updatedAt: now });
  const slugs = isRenamed && slug !== null ? await giveSlugs(work, [{ linkId: id, slug, value, names }]) : undefined;
  if (old.type === 'discount_code' && isOther) {
    await insertPastCode(db, { brandId, linkId: id, code: old.value, until: now });
  }
  if (active !== old.active) await insertStates(db, [{ brandId, linkId: id, at: now, active }]);
  const changed = { ...row, slug: slugs?.get(id) ?? slug };
  work.audit({ resourceId: id, old, new: changed, generated: drawnFields(changed, true) });
  if (!isOther) return;
  const { creatorEmail: email } = await getLink(db, brandId, id);
  await mailGiven(work, linksUrl, [{ row: changed, email }]);
}

const DEFAULT_GRACE_DAYS = 14;
const MOST_GRACE_DAYS = 90;

/** Until when the replaced code pays. */
function graceEnd({ now }: Work, requested: Date | undefined): Date {
  if (requested === undefined) return new Date(now.getTime() + DEFAULT_GRACE_DAYS * DAY_MS);
  const latest = new Date(now.getTime() + MOST_GRACE_DAYS * DAY_MS);
  if (requested >= now && requested <= latest) return requested;
  const message = `must be between now and ${latest.toISOString()}, ${MOST_GRACE_DAYS} days from now.`;
  throw validationError([{ field: 'old_pays_until', code: 'invalid', message }]);
}

/** Reads the coupon of a chosen code at its store, before the transaction. */
export async function askBeforeRotation(context: Context, brandId: string, id: string, { value }: LinkRotation) {
  const link = await getLink(context.postgres.db, brandId, id);
  const figures = (await lifetimeOf(context.clickhouse, brandId, [link])).get(id);
  const { type, integrationId } = link;
  if (value === undefined || type === 'link' || integrationId === null) return { figures, store: undefined };
  return { figures, store: await verifyCoupon(context, brandId, integrationId, value) };
}

/** The code's row with its new value: the chosen one, or one that is drawn until it is free. */
async function replaceCode(work: Work, old: LinkRow, value: string | undefined, change: Partial<LinkRow>) {
  if (value !== undefined) return await updateUnlessTaken(work, old, { ...change, value });
  const { creatorName } = await getLink(work.db, work.brandId, old.id);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const drawn = codeFor([creatorName], attempt);
    const isOther = drawn.toLowerCase() !== old.value.toLowerCase();
    const row = isOther ? await updateIfFree(work, old, { ...change, value: drawn }) : undefined;
    if (row) return row;
  }
  throw new Error('No free value was found for a code.');
}

/** Gives a code a new value. The old one pays as well for a while, and nobody else can get it until then. */
export async function rotateLink(
  work: Work,
  id: string,
  { value, old_pays_until }: LinkRotation,
  { linksUrl, store }: { linksUrl: string; store: Store | undefined },
): Promise<{ oldCode: string; until: Date }> {
  const { db, now, brandId } = work;
  const old = await lockLink(db, brandId, id);
  if (old.type === 'link') {
    const message =
      'is a link. Only a code is rotated; of a link, change the `value`, and its old address keeps redirecting.';
    throw validationError([{ field: 'id', code: 'invalid', message }]);
  }
  if (value?.toLowerCase() === old.value.toLowerCase()) {
    throw validationError([{ field: 'value', code: 'invalid', message: 'is the code that it would replace.' }]);
  }
  const until = graceEnd(work, old_pays_until);
  const synced = store ? { lastSyncAt: now } : {};
  const row = await replaceCode(work, old, value, { ...couponColumns(store), ...synced, updatedAt: now });
  await insertPastCode(db, { brandId, linkId: id, code: old.value, until, replacedAt: now });
  work.audit({ resourceId: id, old, new: row, generated: drawnFields(row, value !== undefined) });
  const { creatorEmail: email } = await getLink(db, brandId, id);
  await mailGiven(work, linksUrl, [{ row, email }]);
  return { oldCode: old.value, until };
}

/** Deactivates a link. It keeps its history, its value and its slug. */
export async function deactivateLink(work: Work, id: string): Promise<void> {
  const { db, now, brandId } = work;
  const old = await lockLink(db, brandId, id);
  if (!old.active) return;
  const row = await updateLink(db, old, { active: false, updatedAt: now });
  await insertStates(db, [{ brandId, linkId: id, at: now, active: false }]);
  work.audit({ resourceId: id, old, new: row });
}
