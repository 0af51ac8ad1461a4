import { sql } from 'kysely';
import { makePlainTerms } from '../../analytics/pricing/plain.ts';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ApiError, type Problem, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { getBrandCurrency } from '../../platform/brands/brands.ts';
import { campaignProblems } from '../../workflow/campaigns/campaigns.ts';
import { lockBrandRoster } from '../../workflow/creators/creators.ts';
import type { Terms } from '../../workflow/terms/terms.shapes.ts';
import { insertVersions } from '../../workflow/terms/versions.ts';
import { listLinkStarts, toOwnColumns } from '../terms/effective.ts';
import { type BulkCreate, type BulkCreated, MAX_CREATED } from './bulk-codes.api.ts';
import { DEFAULT_DAYS, findDestinationProblems, listGeneratedFields } from './create-link.ts';
import { tellCreators } from './links.mails.ts';
import { shortUrl } from './links.shapes.ts';
import { insertLinks, insertStates, type LinkRow, type LinkType } from './links.ts';
import { assignSlugs, drawCode, firstSlug } from './slugs.ts';

const MAX_ATTEMPTS = 8;

const listNames = ({ name, igHandle, ttHandle }: Member) => [name, igHandle, ttHandle];

const MESSAGES = {
  duplicate: 'is named twice.',
  not_found: 'is not a roster record of this brand.',
  not_on_roster: "is not on the brand's roster.",
  not_in_campaign: 'was not accepted for this campaign.',
} as const;

interface CodeMembers {
  members: Member[];
  /** One for each member that cannot be selected. */
  problems: Problem[];
}

/** Finds the members that the body names, in its order. */
async function findNamed(
  { db, brandId }: Work,
  kind: CodeKind,
  { creators, roster_ids = [] }: BulkCreate,
): Promise<CodeMembers> {
  const emails = creators?.map(({ email }) => email.toLowerCase());
  const names = emails ?? roster_ids;
  const key = emails ? sql`lower(creator.email)` : sql`entry.id`;
  const rows = await selectEveryone(db, brandId, kind).where(sql<boolean>`${key} = any(${names}::text[])`).execute();
  const byName = new Map(rows.map((row) => [emails ? row.email?.toLowerCase() : row.rosterId, row]));
  const findRefusal = (name: string, i: number): keyof typeof MESSAGES | undefined => {
    const member = byName.get(name);
    if (names.indexOf(name) < i) return 'duplicate';
    if (!member) return emails ? 'not_on_roster' : 'not_found';
    if (member.status === 'removed') return 'not_on_roster';
    return member.isInCampaign ? undefined : 'not_in_campaign';
  };
  const problems: Problem[] = names.flatMap((name, i) => {
    const refusal = findRefusal(name, i);
    const field = emails ? `creators.${i}.email` : `roster_ids.${i}`;
    return refusal ? [{ field, code: refusal, message: `${JSON.stringify(name)} ${MESSAGES[refusal]}` }] : [];
  });
  return { members: names.flatMap((name) => byName.get(name) ?? []), problems };
}

/** Finds the members that the body selects, or throws every problem with what it refers to. */
async function selectMembers(work: Work, kind: CodeKind, input: BulkCreate, linksUrl: string): Promise<Member[]> {
  const noCampaign = await campaignProblems(work, kind.campaignId);
  // If the campaign does not exist, skip the membership check so that other problems are still reported.
  const scope = noCampaign.length > 0 ? { ...kind, campaignId: null } : kind;
  const { members, problems } = input.all_missing
    ? { members: await listMissing(work.db, work.brandId, scope), problems: [] }
    : await findNamed(work, scope, input);
  const details = [...noCampaign, ...findDestinationProblems(linksUrl, input.destination_url), ...problems];
  if (details.length === 0) return members;
  if (problems.length === 0) throw validationError(details);
  const { length } = input.creators ?? input.roster_ids ?? [];
  throw new ApiError('INVALID_SELECTION', `${problems.length} of ${length} cannot be selected.`, { details });
}

interface NewCode {
  member: Member;
  row: LinkRow;
}

/** Creates the links in batches and retries taken codes with a longer suffix. */
async function insertAssignments(
  work: Work,
  members: readonly Member[],
  facts: SharedFacts,
  deal: { percent: number | undefined; terms: Terms | undefined },
): Promise<NewCode[]> {
  const { db, brandId } = work;
  const own = deal.terms ?? (deal.percent === undefined ? undefined : makePlainTerms(deal.percent, 'order'));
  const creatorIds = members.map(({ creatorId }) => creatorId);
  const starts = await listLinkStarts(db, brandId, creatorIds, facts.campaignId);
  const assignments: NewCode[] = [];
  let remaining = [...members];
  for (let attempt = 0; attempt < MAX_ATTEMPTS && remaining.length > 0; attempt += 1) {
    const pending = new Map(remaining.map((member) => [newId('lnk', work.now.getTime()), member]));
    const rows = [...pending].map(([id, member]) => {
      const { columns = {}, holdDays, attributionDays } = starts.get(member.creatorId) ?? {};
      const row = toRow(id, member, drawCode(listNames(member), attempt), facts);
      const days = { holdDays: holdDays ?? DEFAULT_DAYS, attributionDays: attributionDays ?? DEFAULT_DAYS };
      return { ...row, ...days, ...(own ? toOwnColumns(own, null) : columns) };
    });
    for (const row of await insertLinks(db, rows)) {
      const member = pending.get(row.id);
      if (member) assignments.push({ member, row });
      pending.delete(row.id);
    }
    remaining = [...pending.values()];
  }
  const termAssignments = deal.terms ? await setVersions(work, assignments, deal.terms) : assignments;
  return await completeAssignments(work, termAssignments);
}

/** Gives each new link a version of the same terms. */
async function setVersions(work: Work, assignments: readonly NewCode[], terms: Terms): Promise<NewCode[]> {
  const { db, brandId } = work;
  const ids = assignments.map(({ row }) => row.id);
  const versions = await insertVersions(work, 'link', ids, terms);
  await sql`
    update links set terms_id = version.id from terms as version
    where links.brand_id = ${brandId} and links.id = any(${ids}::text[]) and version.brand_id = ${brandId}
      and version.place = 'link' and version.place_id = links.id and version.replaced_at is null`.execute(db);
  return assignments.map(({ member, row }) => ({ member, row: { ...row, termsId: versions.get(row.id) ?? null } }));
}

type SharedFacts = Pick<
  LinkRow,
  'brandId' | 'campaignId' | 'type' | 'destinationUrl' | 'currency' | 'createdAt' | 'forwardParameters'
>;

function toRow(id: string, member: Member, code: string, facts: SharedFacts): LinkRow {
  const value = facts.type === 'link' ? code.toLowerCase() : code;
  return {
    ...facts,
    id,
    value,
    creatorId: member.creatorId,
    creatorName: null,
    integrationId: null,
    slug: facts.type === 'link' ? firstSlug(value, listNames(member)) : null,
    holdDays: DEFAULT_DAYS,
    attributionDays: DEFAULT_DAYS,
    platform: null,
    active: true,
    lastSyncAt: null,
    discountPpm: null,
    expiresAt: null,
    updatedAt: null,
    commissionRatePpm: 0,
    paysRenewals: null,
    termsId: null,
    inheritsTerms: null,
  };
}

/** Adds slugs, states and audit entries to new links. */
async function completeAssignments(work: Work, assignments: readonly NewCode[]): Promise<NewCode[]> {
  const { brandId, now } = work;
  const slugs = await assignSlugs(
    work,
    assignments.flatMap(({ row: { id: linkId, slug, value }, member }) =>
      slug === null ? [] : [{ linkId, slug, value, names: listNames(member) }],
    ),
  );
  await insertStates(
    work.db,
    assignments.map(({ row }) => ({ brandId, linkId: row.id, at: now, active: true })),
  );
  return assignments.map(({ member, row }) => {
    const link = { ...row, slug: slugs.get(row.id) ?? row.slug };
    work.audit({ resourceId: row.id, old: null, new: link, generated: listGeneratedFields(link, false) });
    return { member, row: link };
  });
}

/**
 * Creates the missing codes or links. The roster is locked, so that the second of two concurrent requests skips what
 * the first one created.
 */
export async function createCodes(work: Work, input: BulkCreate, linksUrl: string): Promise<BulkCreated> {
  const { db, now, brandId } = work;
  await lockBrandRoster(db, brandId);
  const kind = { type: input.type, campaignId: input.campaign_id ?? null };
  const members = await selectMembers(work, kind, input, linksUrl);
  const candidates = members.filter(({ email, linkId }) => email !== null && linkId === null);
  const facts = {
    ...kind,
    brandId,
    destinationUrl: input.destination_url ?? null,
    forwardParameters: input.forward_parameters && null,
    currency: await getBrandCurrency(db, brandId),
    createdAt: now,
  };
  const assignments = await insertAssignments(work, candidates, facts, {
    percent: input.commission_rate,
    terms: input.terms,
  });
  await tellCreators(
    work,
    linksUrl,
    assignments.map(({ member, row }) => ({ row, email: member.email })),
    input.notify,
  );
  return toBulkCreated(members, assignments, {
    remaining: input.all_missing
      ? await countRows(
          selectMissing(db, brandId, kind).clearSelect().select(COUNT).where('member.email', 'is not', null),
        )
      : 0,
    linksUrl,
  });
}

function toBulkCreated(
  members: readonly Member[],
  assignments: readonly NewCode[],
  { remaining, linksUrl }: { remaining: number; linksUrl: string },
): BulkCreated {
  const rows = new Map(assignments.map(({ member, row }) => [member.rosterId, row]));
  const created: BulkCreated['created'] = [];
  const skipped: BulkCreated['skipped'] = [];
  const failed: BulkCreated['failed'] = [];
  for (const { email, name, rosterId, linkId } of members) {
    const row = rows.get(rosterId);
    const member = { creator_email: email, roster_id: rosterId };
    if (linkId !== null) skipped.push({ ...member, reason: 'already_exists', id: linkId });
    else if (email === null) skipped.push({ ...member, reason: 'no_email', id: null });
    else if (!row) failed.push({ ...member, reason: 'no_free_code' });
    else {
      const url = shortUrl(linksUrl, row.slug);
      created.push({ id: row.id, creator_email: email, creator_name: name, value: row.value, url });
    }
  }
  const summary = { created: created.length, skipped: skipped.length, failed: failed.length };
  return { created, count: created.length, skipped, failed, remaining, provisioning: 'manual', summary };
}

/** The kind of assignment to create; an existing one of the same kind, active or not, is kept. */
interface CodeKind {
  type: LinkType;
  campaignId: string | null;
}

/** Selects everybody the brand ever had on its roster, with their membership in the campaign and their assignment. */
const selectEveryone = (db: Db, brandId: string, { type, campaignId }: CodeKind) =>
  db
    .selectFrom('rosterEntries as entry')
    .innerJoin('creators as creator', 'creator.id', 'entry.creatorId')
    .select(['entry.id as rosterId', 'entry.status', 'creator.id as creatorId', 'creator.email', 'creator.name'])
    .select(['creator.igHandle', 'creator.ttHandle'])
    .select((eb) => [
      sql<boolean>`(${campaignId}::text is null or exists (
        select from applications as application
        where application.brand_id = ${brandId} and application.campaign_id = ${campaignId}
          and application.status = 'accepted' and application.creator_id = entry.creator_id))`.as('isInCampaign'),
      eb
        .selectFrom('links as link')
        .select('link.id')
        .where('link.brandId', '=', brandId)
        .whereRef('link.creatorId', '=', 'entry.creatorId')
        .where('link.type', '=', type)
        .where('link.campaignId', 'is not distinct from', campaignId)
        .orderBy('link.createdAt')
        .orderBy('link.id')
        .limit(1)
        .as('linkId'),
    ])
    .where('entry.brandId', '=', brandId);

type Member = Awaited<ReturnType<ReturnType<typeof selectEveryone>['execute']>>[number];

/** Selects members of the roster and the campaign who have nothing of the kind. */
const selectMissing = (db: Db, brandId: string, kind: CodeKind) =>
  db
    .selectFrom(selectEveryone(db, brandId, kind).select('entry.addedAt').as('member'))
    .selectAll('member')
    .where('member.status', '<>', 'removed')
    .where('member.isInCampaign', '=', true)
    .where('member.linkId', 'is', null);

/** Lists members with an email address, longest on the roster first, and then members without one. */
async function listMissing(db: Db, brandId: string, kind: CodeKind): Promise<Member[]> {
  const missing = selectMissing(db, brandId, kind)
    .orderBy('member.addedAt')
    .orderBy('member.rosterId')
    .limit(MAX_CREATED);
  const unreachable = await missing.where('member.email', 'is', null).execute();
  const reachable = await missing.where('member.email', 'is not', null).execute();
  return [...reachable, ...unreachable];
}
