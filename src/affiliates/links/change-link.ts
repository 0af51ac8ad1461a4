import { sql } from 'kysely';
import { listLinkFigures } from '../../analytics/figures/totals.ts';
import { violates } from '../../kit/engines/postgres/violation.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Work } from '../../kit/operation/work.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { validationError } from '../../kit/values/errors.ts';
import { foldCase } from '../../kit/values/fold.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { campaignProblems } from '../../workflow/campaigns/campaigns.ts';
import { verifyCoupon } from '../stores/connections/connect.ts';
import { getIntegration } from '../stores/connections/connections.ts';
import { changeLinkTerms } from '../terms/effective.ts';
import {
  createDuplicateError,
  findDestinationProblems,
  findHolder,
  type LinkStore,
  listGeneratedFields,
  MAX_ATTEMPTS,
  toCouponColumns,
} from './create-link.ts';
import { tellCreators } from './links.mails.ts';
import { isAddress, type LinkPatch, type LinkRotation } from './links.shapes.ts';
import { getLink, insertPastCode, insertStates, type LinkRow, listHeldCodes, lockLink, updateLink } from './links.ts';
import { assignSlugs, drawCode, firstSlug } from './slugs.ts';

/** Reads the link's figures, which a patch does not change, and its store if the patch depends on it. */
export async function loadForPatch(context: Context, brandId: string, id: string, patch: LinkPatch) {
  const link = await getLink(context.postgres.db, brandId, id);
  const figures = (await listLinkFigures(context.clickhouse, brandId, [link])).get(id);
  return { figures, store: await loadStoreForPatch(context, link, patch) };
}

async function loadStoreForPatch(context: Context, link: LinkRow, { value, ...patch }: LinkPatch) {
  const { brandId, integrationId } = link;
  if (integrationId === null) return undefined;
  const { db } = context.postgres;
  const isOther = value !== undefined && foldCase(value) !== foldCase(link.value);
  if (isOther && link.type === 'discount_code') {
    const problems = await campaignProblems({ db, brandId }, patch.campaign_id);
    if (problems.length > 0) throw validationError(problems);
    return await verifyCoupon(context, brandId, integrationId, value);
  }
  const leadsElsewhere = (patch.destination_url ?? patch.url ?? null) !== null;
  return leadsElsewhere ? await getIntegration(db, brandId, integrationId) : undefined;
}

/** Checks a patch against the locked link, and returns the columns that it sets. */
async function toColumns(work: Work, old: LinkRow, patch: LinkPatch, linksUrl: string, store: LinkStore | undefined) {
  const destinationUrl = patch.destination_url === undefined ? patch.url : patch.destination_url;
  const problems = [
    ...(await campaignProblems(work, patch.campaign_id)),
    ...findDestinationProblems(linksUrl, destinationUrl, store),
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
  const forwardParameters = patch.forward_parameters === undefined ? undefined : patch.forward_parameters && null;
  const { terms, commission_rate: percent, pays_renewals: paysRenewals } = patch;
  const isDealSame = terms === undefined && percent === undefined && paysRenewals === undefined;
  const change = isDealSame
    ? {}
    : await changeLinkTerms(work, await getLink(work.db, work.brandId, old.id), { terms, percent, paysRenewals });
  const columns = omitUndefined({
    value,
    active,
    platform,
    creatorName,
    campaignId,
    destinationUrl,
    ...change,
    forwardParameters,
    holdDays: patch.hold_days,
    attributionDays: patch.attribution_days,
  });
  return { ...columns, ...toCouponColumns(store) };
}

/** Returns undefined if the value is taken. It works within a savepoint, so that the transaction can continue. */
async function updateIfFree(
  { db, now, brandId }: Work,
  old: LinkRow,
  change: Partial<LinkRow>,
): Promise<LinkRow | undefined> {
  const { value = old.value } = change;
  await sql`savepoint link_value`.execute(db);
  try {
    const row = await updateLink(db, old, change);
    const isCode = old.type === 'discount_code' && foldCase(value) !== foldCase(old.value);
    const holds = isCode ? await listHeldCodes(db, brandId, [value], now) : [];
    if (holds.every(({ linkId }) => linkId === old.id)) return row;
  } catch (error) {
    if (!violates(error, 'links_value')) throw error;
  }
  await sql`rollback to savepoint link_value`.execute(db);
  return undefined;
}

async function updateUnlessTaken(work: Work, old: LinkRow, change: Partial<LinkRow>): Promise<LinkRow> {
  const row = await updateIfFree(work, old, change);
  if (row) return row;
  throw createDuplicateError(old.type, await findHolder(work, old.type, change.value ?? old.value));
}

/**
 * Sets only what the patch names. A link with another value gets another slug, and the previous slug keeps redirecting.
 * A replaced code counts for orders that were placed until now.
 */
export async function patchLink(
  work: Work,
  id: string,
  patch: LinkPatch,
  linksUrl: string,
  store: LinkStore | undefined,
): Promise<void> {
  const { db, now, brandId } = work;
  const old = await lockLink(db, brandId, id);
  const columns = await toColumns(work, old, patch, linksUrl, store);
  const { value = old.value, active = old.active } = columns;
  const isOther = foldCase(value) !== foldCase(old.value);
  const isRenamed = old.type === 'link' && isOther;
  const names = isRenamed ? [(await getLink(db, brandId, id)).creatorName] : [];
  const slug = isRenamed ? firstSlug(value, names) : old.slug;
  const sync = store && value !== old.value ? { lastSyncAt: now } : {};
  const row = await updateUnlessTaken(work, old, { ...columns, ...sync, slug, updatedAt: now });
  const slugs = isRenamed && slug !== null ? await assignSlugs(work, [{ linkId: id, slug, value, names }]) : undefined;
  if (old.type === 'discount_code' && isOther) {
    await insertPastCode(db, { brandId, linkId: id, code: old.value, until: now });
  }
  if (active !== old.active) await insertStates(db, [{ brandId, linkId: id, at: now, active }]);
  const link = { ...row, slug: slugs?.get(id) ?? slug };
  work.audit({ resourceId: id, old, new: link, generated: listGeneratedFields(link, true) });
  const { notify = false } = patch;
  if (!isOther && !notify) return;
  const { creatorEmail: email } = await getLink(db, brandId, id);
  const isAtOnce = notify || old.type === 'link' || store?.coupon !== undefined;
  await tellCreators(work, linksUrl, [{ row: link, email }], isAtOnce);
}

const DEFAULT_GRACE_DAYS = 14;
const MOST_GRACE_DAYS = 90;

/** The time until which the replaced code pays. */
function checkGraceEnd({ now }: Work, requested: Date | undefined): Date {
  if (requested === undefined) return new Date(now.getTime() + DEFAULT_GRACE_DAYS * DAY_MS);
  const latest = new Date(now.getTime() + MOST_GRACE_DAYS * DAY_MS);
  if (requested >= now && requested <= latest) return requested;
  const message = `must be between now and ${latest.toISOString()}, ${MOST_GRACE_DAYS} days from now.`;
  throw validationError([{ field: 'old_pays_until', code: 'invalid', message }]);
}

/** Reads the coupon of a chosen code at its store, before the transaction. */
export async function loadForRotation(context: Context, brandId: string, id: string, { value }: LinkRotation) {
  const link = await getLink(context.postgres.db, brandId, id);
  const figures = (await listLinkFigures(context.clickhouse, brandId, [link])).get(id);
  const { type, integrationId } = link;
  if (value === undefined || type === 'link' || integrationId === null) return { figures, store: undefined };
  return { figures, store: await verifyCoupon(context, brandId, integrationId, value) };
}

/** Sets the chosen value, or draws one until it is free. */
async function replaceCode(work: Work, old: LinkRow, value: string | undefined, change: Partial<LinkRow>) {
  if (value !== undefined) return await updateUnlessTaken(work, old, { ...change, value });
  const { creatorName } = await getLink(work.db, work.brandId, old.id);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const code = drawCode([creatorName], attempt);
    const isOther = foldCase(code) !== foldCase(old.value);
    const row = isOther ? await updateIfFree(work, old, { ...change, value: code }) : undefined;
    if (row) return row;
  }
  throw new Error('No free value was found for a code.');
}

/** Gives a code a new value. The old one keeps paying for a while, and nobody else can get it until then. */
export async function rotateLink(
  work: Work,
  id: string,
  { value, old_pays_until, notify }: LinkRotation,
  { linksUrl, store }: { linksUrl: string; store: LinkStore | undefined },
): Promise<{ oldCode: string; until: Date }> {
  const { db, now, brandId } = work;
  const old = await lockLink(db, brandId, id);
  if (old.type === 'link') {
    const message =
      'is a link. Only a code is rotated; of a link, change the `value`, and its old address keeps redirecting.';
    throw validationError([{ field: 'id', code: 'invalid', message }]);
  }
  if (value !== undefined && foldCase(value) === foldCase(old.value)) {
    throw validationError([{ field: 'value', code: 'invalid', message: 'is the code that it would replace.' }]);
  }
  const until = checkGraceEnd(work, old_pays_until);
  const sync = store ? { lastSyncAt: now } : {};
  const row = await replaceCode(work, old, value, { ...toCouponColumns(store), ...sync, updatedAt: now });
  await insertPastCode(db, { brandId, linkId: id, code: old.value, until, replacedAt: now });
  work.audit({ resourceId: id, old, new: row, generated: listGeneratedFields(row, value !== undefined) });
  const { creatorEmail: email } = await getLink(db, brandId, id);
  await tellCreators(work, linksUrl, [{ row, email }], notify || store?.coupon !== undefined);
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
