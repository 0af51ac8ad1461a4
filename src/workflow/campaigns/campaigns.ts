import { type RawBuilder, type Selectable, sql } from 'kysely';
import { isFound } from '../../kit/engines/postgres/count.ts';
import type { CampaignsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { table } from '../../kit/operation/table.ts';
import type { Work } from '../../kit/operation/work.ts';
import { compensationLabel, storedCompensation, toCompensation } from '../../kit/values/compensation.ts';
import type { Compensation } from '../../kit/values/compensation-text.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { type Problem, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { Page } from '../../kit/values/page.ts';
import { applyPatch, omitUndefined } from '../../kit/values/patch.ts';
import { dayIn } from '../../kit/values/time-zone.ts';
import { toWire } from '../../kit/values/wire.ts';
import { getBrandCurrency } from '../../platform/brands/brands.ts';
import { toLikePattern } from '../creators/creators.ts';
import { changeWithNews } from '../terms/news.ts';
import { setTerms } from '../terms/versions.ts';
import {
  type CampaignCreate,
  type CampaignFilter,
  type CampaignPatch,
  CampaignSaved,
  compensationProblem,
} from './campaigns.shapes.ts';

export type CampaignRow = Selectable<CampaignsTable>;

/** The numbers of applicants and of accepted ones, counted from the applications. */
const withCounts = (db: Db, brandId: string) =>
  db
    .selectFrom('campaigns')
    .leftJoin('terms', 'terms.id', 'campaigns.termsId')
    .selectAll('campaigns')
    .select('terms.terms')
    .select((eb) => {
      const applications = eb
        .selectFrom('applications')
        .where('applications.brandId', '=', brandId)
        .whereRef('applications.campaignId', '=', 'campaigns.id')
        .select(({ fn }) => fn.countAll<number>().as('count'));
      return [
        applications.$asScalar().$notNull().as('applicantCount'),
        applications.where('status', '=', 'accepted').$asScalar().$notNull().as('hiredCount'),
      ];
    });

const countApplications = (status: RawBuilder<unknown>) => sql<number>`(select count(*) from applications
  where applications.brand_id = campaigns.brand_id and applications.campaign_id = campaigns.id and ${status})`;

export const campaigns = listing({
  noun: 'campaign',
  table: 'campaigns',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  sums: {
    currency: sql`(select brands.currency from brands where brands.id = campaigns.brand_id)`,
    of: {
      applicant_count: countApplications(sql`true`),
      hired_count: countApplications(sql`applications.status = 'accepted'`),
    },
  },
  matching: (db, _brandId, { status, search }: Omit<CampaignFilter, keyof Page>) =>
    db
      .selectFrom('campaigns')
      .where((eb) => eb.and(omitUndefined({ status })))
      .$if(search !== undefined, (query) => query.where('title', 'ilike', toLikePattern(search ?? ''))),
  rows: withCounts,
  ranks: {
    applications: { at: countApplications(sql`true`), of: ({ applicantCount }) => applicantCount },
    accepted: { at: countApplications(sql`applications.status = 'accepted'`), of: ({ hiredCount }) => hiredCount },
  },
});
export const { get: getCampaign } = campaigns;

export type ListedCampaign = Awaited<ReturnType<typeof getCampaign>>;

/** These campaigns, in this order. */
export async function listCampaignsByIds(db: Db, brandId: string, ids: readonly string[]): Promise<ListedCampaign[]> {
  if (ids.length === 0) return [];
  const wantedIds = sql`${[...ids]}::text[]`;
  return await withCounts(db, brandId)
    .where('campaigns.brandId', '=', brandId)
    .where(sql<boolean>`campaigns.id = any(${wantedIds})`)
    .orderBy(sql`array_position(${wantedIds}, campaigns.id)`)
    .execute();
}

export const toCampaign = <Row extends CampaignRow>(row: Row) => ({
  ...toWire(row),
  compensation_label: compensationLabel(row),
});

const campaignRows = table<CampaignsTable>('campaigns', 'campaign');

/** A date arrives as midnight UTC, so a deadline at midnight UTC means the whole day. */
export const isWholeDay = (deadline: Date): boolean => deadline.getTime() % DAY_MS === 0;

interface CampaignDeadline extends Pick<CampaignRow, 'deadline'> {
  /** The brand's time zone. */
  timeZone: string;
}

/** True once the campaign's deadline has passed. A whole day ends with its last moment in the brand's time zone. */
export function isPastDeadline({ deadline, timeZone }: CampaignDeadline, now: Date): boolean {
  if (deadline === null) return false;
  return isWholeDay(deadline) ? dayIn(timeZone, now) > deadline.toISOString().slice(0, 10) : now >= deadline;
}

/** True while creators may apply to the campaign. */
export const takesApplications = (campaign: CampaignDeadline & Pick<CampaignRow, 'status'>, now: Date): boolean =>
  campaign.status === 'active' && !isPastDeadline(campaign, now);

const UNKNOWN: Compensation = { type: '', amount: null, currency: null };

const toEventData = (row: CampaignRow) =>
  CampaignSaved.parse({ ...toWire(row), compensation_label: compensationLabel(row) });

export async function createCampaign(work: Work, input: CampaignCreate): Promise<CampaignRow> {
  const { db, now, brandId } = work;
  const { compensation, requirements } = input;
  const currency = await getBrandCurrency(db, brandId);
  const terms = compensation ? validateCompensation(applyPatch(UNKNOWN, compensation), currency) : null;
  const id = newId('cmp', now.getTime());
  const row = await campaignRows.insert(work, {
    id,
    termsId: await setTerms(work, { place: 'campaign', placeId: id }, input.terms ?? null),
    title: input.name,
    status: input.status,
    campaignType: input.type ?? null,
    description: input.description ?? null,
    ...storedCompensation(terms, currency),
    platforms: requirements?.platforms ?? null,
    minFollowers: requirements?.min_followers ?? null,
    contentTypes: requirements?.content_types ?? null,
    deliverablesCount: requirements?.deliverables_count ?? null,
    deadline: input.deadline ?? null,
    createdAt: now,
    updatedAt: null,
  });
  work.emit('campaign.created', toEventData(row));
  return row;
}

/** Validates the compensation as a whole, in the currency in which it will be stored. */
export function validateCompensation(compensation: Compensation, brandCurrency: string): Compensation {
  const problem = compensationProblem(compensation, brandCurrency);
  if (!problem) return compensation;
  const message = `${problem}; got ${compensation.amount}.`;
  throw validationError([{ field: 'compensation.amount', code: 'invalid', message }]);
}

/** Validates the patched compensation as a whole, because an amount may fit one currency and not another. */
function compensationColumns(old: CampaignRow, patch: CampaignPatch['compensation'], brandCurrency: string) {
  if (patch === undefined) return {};
  if (patch === null) return storedCompensation(null, brandCurrency);
  const compensation = applyPatch(toCompensation(old) ?? UNKNOWN, patch);
  if (compensation.type === '') {
    const message = 'is required: the campaign has no compensation yet.';
    throw validationError([{ field: 'compensation.type', code: 'required', message }]);
  }
  return storedCompensation(validateCompensation(compensation, brandCurrency), brandCurrency);
}

function requirementColumns(patch: CampaignPatch['requirements']) {
  if (patch === undefined) return {};
  if (patch === null) return { platforms: null, minFollowers: null, contentTypes: null, deliverablesCount: null };
  const { platforms, min_followers, content_types, deliverables_count } = patch;
  return omitUndefined({
    platforms,
    minFollowers: min_followers,
    contentTypes: content_types,
    deliverablesCount: deliverables_count,
  });
}

/** Sets only the columns that the patch names, on a locked row. */
export async function patchCampaign(work: Work, id: string, patch: CampaignPatch): Promise<CampaignRow> {
  const { db, now, brandId } = work;
  const old = await campaignRows.lock(work, id);
  const { name, type, description, deadline, status, compensation, requirements, terms } = patch;
  const place = { place: 'campaign', placeId: id } as const;
  const row = await changeWithNews(work, { ...place, isTold: patch.notify ?? false }, async () => {
    const termsId = terms === undefined ? undefined : await setTerms(work, place, terms);
    return await campaignRows.update(work, old, {
      ...omitUndefined({ title: name, campaignType: type, description, deadline, status, termsId }),
      ...compensationColumns(old, compensation, await getBrandCurrency(db, brandId)),
      ...requirementColumns(requirements),
      updatedAt: now,
    });
  });
  // A patch that changes nothing but the time of the last change is not announced.
  if (JSON.stringify({ ...old, updatedAt: null }) !== JSON.stringify({ ...row, updatedAt: null }))
    work.emit('campaign.updated', toEventData(row));
  return row;
}

/** Checks that a body's `campaign_id`, if any, is one of the brand's campaigns. */
export async function campaignProblems(
  { db, brandId }: Pick<Work, 'db' | 'brandId'>,
  id: string | null | undefined,
): Promise<Problem[]> {
  if (id === null || id === undefined) return [];
  // Campaigns are never deleted, so an existing one stays.
  const query = db.selectFrom('campaigns').select('id').where('brandId', '=', brandId).where('id', '=', id);
  if (await isFound(query)) return [];
  return [{ field: 'campaign_id', code: 'not_found', message: 'is not a campaign of this brand.' }];
}
