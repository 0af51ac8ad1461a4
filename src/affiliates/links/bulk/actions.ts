import type { Work } from '../../../kit/operation/work.ts';
import { ApiError, type Problem, validationError } from '../../../kit/values/errors.ts';
import { newId } from '../../../kit/values/ids.ts';
import { getBrandCurrency } from '../../../platform/brands/queries.ts';
import { campaignProblems } from '../../../workflow/campaigns/actions.ts';
import { lockBrandRoster } from '../../../workflow/creators/queries.ts';
import { destinationProblems, drawnFields, ratePpmOf } from '../actions.ts';
import { mailGiven } from '../mails.ts';
import { codeFor } from '../policy.ts';
import { insertLinks, insertStates, type LinkRow } from '../queries.ts';
import { shortUrl } from '../schema.ts';
import { firstSlug, giveSlugs } from '../slugs/actions.ts';
import { countMissing, type Kind, listByEmails, listByRosterIds, listMissing, type Member } from './queries.ts';
import { type BulkCreate, type BulkCreated, MAX_CREATED } from './schema.ts';

const DEFAULT_DAYS = 30;
const MAX_ATTEMPTS = 8;

const namesOf = ({ name, igHandle, ttHandle }: Member) => [name, igHandle, ttHandle];

/** What of a list was named before, in any case. */
function repeated(names: readonly string[]): Set<number> {
  const seen = new Set<string>();
  const again = new Set<number>();
  for (const [i, name] of names.entries()) {
    if (seen.has(name)) again.add(i);
    seen.add(name);
  }
  return again;
}

const SAID = {
  duplicate: 'is named twice.',
  not_found: 'is not a roster record of this brand.',
  not_on_roster: "is not on the brand's roster.",
  not_in_campaign: 'was not accepted for this campaign.',
} as const;

/** Why a named member cannot be given anything. */
function refusalOf(member: Member | undefined, unknown: 'not_found' | 'not_on_roster'): keyof typeof SAID | undefined {
  if (!member) return unknown;
  if (member.status === 'removed') return 'not_on_roster';
  return member.isInCampaign ? undefined : 'not_in_campaign';
}

interface Selection {
  members: Member[];
  /** A code for each that cannot be selected. */
  problems: Problem[];
}

/** The members that the body names, in its order. */
async function findNamed(
  { db, brandId }: Work,
  kind: Kind,
  { creators, roster_ids = [] }: BulkCreate,
): Promise<Selection> {
  const emails = creators?.map(({ email }) => email.toLowerCase());
  const names = emails ?? roster_ids;
  const rows = await (emails ? listByEmails(db, brandId, kind, names) : listByRosterIds(db, brandId, kind, names));
  const found = new Map(rows.map((row) => [emails ? row.email?.toLowerCase() : row.rosterId, row]));
  const again = repeated(names);
  const problems: Problem[] = names.flatMap((name, i) => {
    const refusal = again.has(i) ? 'duplicate' : refusalOf(found.get(name), emails ? 'not_on_roster' : 'not_found');
    const field = emails ? `creators.${i}.email` : `roster_ids.${i}`;
    return refusal ? [{ field, code: refusal, message: `${JSON.stringify(name)} ${SAID[refusal]}` }] : [];
  });
  return { members: names.flatMap((name) => found.get(name) ?? []), problems };
}

async function findMissing({ db, brandId }: Work, kind: Kind): Promise<Selection> {
  const without = await listMissing(db, brandId, kind, { hasEmail: false, limit: MAX_CREATED });
  const members = [...(await listMissing(db, brandId, kind, { hasEmail: true, limit: MAX_CREATED })), ...without];
  return { members, problems: [] };
}

/** Whom the body selects. Throws everything that is wrong with what it refers to. */
async function select(work: Work, kind: Kind, input: BulkCreate, linksUrl: string): Promise<Member[]> {
  const noCampaign = await campaignProblems(work, kind.campaignId);
  // Of a campaign that is not there nobody is: what else is wrong with a name is said.
  const within = noCampaign.length > 0 ? { ...kind, campaignId: null } : kind;
  const { members, problems } = await (input.all_missing ? findMissing(work, within) : findNamed(work, within, input));
  const details = [...noCampaign, ...destinationProblems(linksUrl, input.destination_url), ...problems];
  if (details.length === 0) return members;
  if (problems.length === 0) throw validationError(details);
  const { length } = input.creators ?? input.roster_ids ?? [];
  throw new ApiError('INVALID_SELECTION', `${problems.length} of ${length} cannot be selected.`, { details });
}

interface Made {
  member: Member;
  row: LinkRow;
}

/** Gives each member something with its own value, all in a few statements: what was taken is drawn again, longer. */
async function makeAll(work: Work, members: readonly Member[], terms: Terms): Promise<Made[]> {
  const made: Made[] = [];
  let open = [...members];
  for (let attempt = 0; attempt < MAX_ATTEMPTS && open.length > 0; attempt += 1) {
    const wishes = new Map(open.map((member) => [newId('lnk', work.now.getTime()), member]));
    const rows = [...wishes].map(([id, member]) => rowOf(id, member, codeFor(namesOf(member), attempt), terms));
    for (const row of await insertLinks(work.db, rows)) {
      const member = wishes.get(row.id);
      if (member) made.push({ member, row });
      wishes.delete(row.id);
    }
    open = [...wishes.values()];
  }
  return await settle(work, made);
}

type Terms = Pick<
  LinkRow,
  'brandId' | 'campaignId' | 'type' | 'destinationUrl' | 'commissionRatePpm' | 'currency' | 'createdAt'
>;

function rowOf(id: string, member: Member, code: string, terms: Terms): LinkRow {
  const value = terms.type === 'link' ? code.toLowerCase() : code;
  return {
    ...terms,
    ...{ id, value, creatorId: member.creatorId, creatorName: null, integrationId: null },
    slug: terms.type === 'link' ? firstSlug(value, namesOf(member)) : null,
    ...{ holdDays: DEFAULT_DAYS, attributionDays: DEFAULT_DAYS },
    ...{ platform: null, active: true, lastSyncAt: null, discountPpm: null, expiresAt: null, updatedAt: null },
    paysRenewals: null,
  };
}

/** What goes with links that were just made: slugs, states, audit. */
async function settle(work: Work, made: readonly Made[]): Promise<Made[]> {
  const { brandId, now } = work;
  const slugs = await giveSlugs(
    work,
    made.flatMap(({ row: { id: linkId, slug, value }, member }) =>
      slug === null ? [] : [{ linkId, slug, value, names: namesOf(member) }],
    ),
  );
  await insertStates(
    work.db,
    made.map(({ row }) => ({ brandId, linkId: row.id, at: now, active: true })),
  );
  return made.map(({ member, row }) => {
    const settled = { ...row, slug: slugs.get(row.id) ?? row.slug };
    work.audit({ resourceId: row.id, old: null, new: settled, generated: drawnFields(settled, false) });
    return { member, row: settled };
  });
}

async function termsOf(work: Work, kind: Kind, input: BulkCreate): Promise<Terms> {
  const { db, now, brandId } = work;
  return {
    ...kind,
    brandId,
    destinationUrl: input.destination_url ?? null,
    commissionRatePpm: await ratePpmOf(work, input.commission_rate),
    currency: await getBrandCurrency(db, brandId),
    createdAt: now,
  };
}

const skippedOf = ({ email, rosterId, linkId }: Member) => ({
  creator_email: email,
  roster_id: rosterId,
  reason: linkId === null ? ('no_email' as const) : ('already_exists' as const),
  id: linkId,
});

/**
 * Makes what is missing. The brand's roster is locked, so that of two requests at once the second sees what the first
 * made, and skips it.
 */
export async function createCodes(work: Work, input: BulkCreate, linksUrl: string): Promise<BulkCreated> {
  const { db, brandId } = work;
  await lockBrandRoster(db, brandId);
  const kind = { type: input.type, campaignId: input.campaign_id ?? null };
  const members = await select(work, kind, input, linksUrl);
  const open = members.filter(({ email, linkId }) => email !== null && linkId === null);
  const made = await makeAll(work, open, await termsOf(work, kind, input));
  await mailGiven(
    work,
    linksUrl,
    made.map(({ member, row }) => ({ row, email: member.email })),
  );
  return answerOf(members, made, {
    remaining: input.all_missing ? await countMissing(db, brandId, kind) : 0,
    linksUrl,
  });
}

function answerOf(
  members: readonly Member[],
  made: readonly Made[],
  { remaining, linksUrl }: { remaining: number; linksUrl: string },
): BulkCreated {
  const rows = new Map(made.map(({ member, row }) => [member.rosterId, row]));
  const skipped = members.filter(({ email, linkId }) => email === null || linkId !== null).map(skippedOf);
  const created: BulkCreated['created'] = [];
  const failed: BulkCreated['failed'] = [];
  for (const { email, name, rosterId, linkId } of members) {
    const row = rows.get(rosterId);
    if (email === null || linkId !== null) continue;
    if (!row) failed.push({ creator_email: email, roster_id: rosterId, reason: 'no_free_code' });
    else {
      const url = shortUrl(linksUrl, row.slug);
      created.push({ id: row.id, creator_email: email, creator_name: name, value: row.value, url });
    }
  }
  const summary = { created: created.length, skipped: skipped.length, failed: failed.length };
  return { created, count: created.length, skipped, failed, remaining, provisioning: 'manual', summary };
}
