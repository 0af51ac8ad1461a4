import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { creatorEmail, currencyField, idField } from '../../kit/values/fields.ts';
import { type Page, PageQuery, Pagination } from '../../kit/values/page.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { toWire } from '../../kit/values/wire.ts';
import { creatorName } from './campaigns.shapes.ts';

/** The stages of a creator in a campaign, first to last. */
const STAGES = ['applied', 'accepted', 'contracted', 'delivered', 'posted', 'paid'] as const;
const stage = z.enum(STAGES);
const STAGE =
  '`applied`: the application is open; `accepted`: accepted, or has a contract, deliverable, code or link; `contracted`: ' +
  'signed a contract; `delivered`: a deliverable was approved; `posted`: a post is tracked; `paid`: a commission was paid.';

const count = z.number().int().min(0);
const nullableId = (prefix: string, meaning: string) => idField(prefix, meaning).nullable().describe(meaning);
const handle = (meaning: string, example: string) =>
  fromOutside(z.string().nullable().describe(meaning).meta({ example }));

export const CampaignCreator = z
  .object({
    creator_id: nullableId('crt', 'Id in `/v1/creators`; null for an applicant who is not known otherwise.'),
    roster_id: nullableId('rst', 'Id of the roster entry; null if the creator has none.'),
    application_id: nullableId('app', 'Application to this campaign; null without one.'),
    creator_email: creatorEmail,
    creator_name: creatorName,
    pfp_url: fromOutside(
      z
        .string()
        .nullable()
        .describe('URL of the profile picture; null if it is not known.')
        .meta({ example: 'https://pictures.example/ana.jpg' }),
    ),
    ig_handle: handle('Handle on Instagram, without `@`; null if it is not known.', 'anaeats'),
    tt_handle: handle('Handle on TikTok, without `@`; null if it is not known.', 'ana.cooks'),
    stage: stage.describe(`The furthest stage that the creator has reached. ${STAGE}`),
    contracts_signed: count.describe('Number of signed contracts of this campaign.').meta({ example: 1 }),
    deliverables: count.describe('Number of deliverables, without declined and cancelled ones.').meta({ example: 2 }),
    deliverables_approved: count.describe('Number of approved deliverables.').meta({ example: 1 }),
    posts: count.describe('Number of tracked posts of this campaign.').meta({ example: 1 }),
    earned: z
      .array(
        z.object({
          currency: currencyField,
          amount: z
            .number()
            .describe(
              'Commissions on paid orders of this campaign, less what refunds took back, in major units. Rejected ones add nothing.',
            )
            .meta({ example: 42.5 }),
        }),
      )
      .describe('What the creator earned from sales of this campaign, one row per currency.'),
  })
  .meta({ id: 'CampaignCreator' });

export const CampaignCreatorFilter = z.object({
  stage: stage.optional().describe('Only creators at this stage.'),
  ...PageQuery,
});
export type CampaignCreatorFilter = z.output<typeof CampaignCreatorFilter>;

export const CampaignCreatorList = z.object({
  data: z.array(CampaignCreator),
  pagination: Pagination,
  summary: z
    .object({
      by_stage: z
        .array(
          z.object({
            stage: stage.describe('Stage that is counted.'),
            creators: count.describe('Number of creators at this stage.'),
          }),
        )
        .describe('Every stage, first to last, whatever the filter.'),
      fees: z
        .array(
          z.object({
            currency: currencyField,
            amount: z
              .number()
              .describe('Fixed fees of the signed contracts of this campaign, in major units.')
              .meta({ example: 1500 }),
          }),
        )
        .describe('What signed contracts promise in fixed fees, one row per currency.'),
    })
    .describe('All creators of the campaign.'),
});

export interface Sum {
  currency: string;
  minor: number;
}

export const toAmount = ({ currency, minor }: Sum) => ({ currency, amount: fromMinor(minor, currency) });

export const toCampaignCreator = <Row extends { rank: number; earned: readonly Sum[] }>({
  rank,
  earned,
  ...row
}: Row) => CampaignCreator.parse({ ...toWire(row), stage: STAGES[rank - 1], earned: earned.map(toAmount) });

type Stage = (typeof STAGES)[number];
const toRank = (stage: Stage) => STAGES.indexOf(stage) + 1;
const rank = (stage: Stage) => sql.lit(toRank(stage));

interface CampaignRef {
  brandId: string;
  campaignId: string;
}

/**
 * Everyone in the campaign with the furthest stage they reached. An application belongs to the creator with its email
 * address, if there is one. Whether a commission was paid is looked up for these creators only, in the index of their
 * commissions.
 */
const people = ({ brandId, campaignId }: CampaignRef) => sql`(
  select found.creator_id, max(found.application_id) as application_id,
    greatest(max(found.rank), case when exists (
      select from commissions as commission
      where commission.brand_id = ${brandId} and commission.creator_id = found.creator_id
        and commission.campaign_id = ${campaignId} and commission.status = 'paid'
    ) then ${rank('paid')} end) as rank
  from (
    select coalesce(application.creator_id, known.id) as creator_id, application.id as application_id,
      case application.status when 'accepted' then ${rank('accepted')} else ${rank('applied')} end as rank
    from applications as application
    left join creators as known
      on known.brand_id = application.brand_id and lower(known.email) = lower(application.creator_email)
    where application.brand_id = ${brandId} and application.campaign_id = ${campaignId}
      and application.status <> 'rejected'
    union all
    select creator_id, null, case status when 'signed' then ${rank('contracted')} else ${rank('accepted')} end
    from contracts where brand_id = ${brandId} and campaign_id = ${campaignId} and status <> 'expired'
    union all
    select creator_id, null, case status when 'approved' then ${rank('delivered')} else ${rank('accepted')} end
    from deliverables
    where brand_id = ${brandId} and campaign_id = ${campaignId} and status not in ('declined', 'cancelled')
    union all
    select creator_id, null, ${rank('posted')} from content
    where brand_id = ${brandId} and campaign_id = ${campaignId} and creator_id is not null and deleted_at is null
    union all
    select creator_id, null, ${rank('accepted')} from links
    where brand_id = ${brandId} and campaign_id = ${campaignId}
  ) as found
  group by found.creator_id, case when found.creator_id is null then found.application_id end
)`;

export interface CampaignCreatorRow {
  rank: number;
  creatorId: string | null;
  rosterId: string | null;
  applicationId: string | null;
  creatorEmail: string | null;
  creatorName: string | null;
  pfpUrl: string | null;
  igHandle: string | null;
  ttHandle: string | null;
  contractsSigned: number;
  deliverables: number;
  deliverablesApproved: number;
  posts: number;
  earned: Sum[];
}

/** Lists the furthest stage first. Without a page it lists everyone. */
export async function listCampaignCreators(db: Db, of: CampaignRef, stage: Stage | undefined, page?: Page) {
  const { brandId, campaignId } = of;
  const own = sql`brand_id = ${brandId} and campaign_id = ${campaignId} and creator_id = person.creator_id`;
  const { rows } = await sql<CampaignCreatorRow>`
    select person.rank, person.application_id, creator.id as creator_id, entry.id as roster_id, creator.pfp_url,
      coalesce(creator.email, application.creator_email) as creator_email,
      coalesce(creator.name, application.creator_name) as creator_name,
      coalesce(creator.ig_handle, application.creator_photo_app) as ig_handle,
      coalesce(creator.tt_handle, application.creator_video_app) as tt_handle,
      (select count(*)::int from contracts where ${own} and status = 'signed') as contracts_signed,
      (select count(*)::int from deliverables where ${own} and status not in ('declined', 'cancelled')) as deliverables,
      (select count(*)::int from deliverables where ${own} and status = 'approved') as deliverables_approved,
      (select count(*)::int from content where ${own} and deleted_at is null) as posts,
      (select coalesce(jsonb_agg(jsonb_build_object('currency', one.currency, 'minor', one.minor) order by one.currency), '[]')
       from (select currency, sum(commission_minor - coalesce((
               select sum(back.amount_minor) from commission_adjustments as back
               where back.brand_id = ${brandId} and back.commission_id = commissions.id), 0))::bigint as minor from commissions
             where ${own} and status <> 'rejected' and paid_at is not null group by currency) as one) as earned
    from ${people(of)} as person
    left join creators as creator on creator.brand_id = ${brandId} and creator.id = person.creator_id
    left join roster_entries as entry on entry.brand_id = ${brandId} and entry.creator_id = person.creator_id
    left join applications as application
      on application.brand_id = ${brandId} and application.id = person.application_id
    where ${stage === undefined ? sql`true` : sql`person.rank = ${rank(stage)}`}
    order by person.rank desc, lower(coalesce(creator.name, application.creator_name)),
      coalesce(person.creator_id, person.application_id)
    limit ${page?.limit ?? null} offset ${page?.offset ?? 0}`.execute(db);
  return rows;
}

/** The number of creators at each stage, first to last. */
export async function countByStage(db: Db, of: CampaignRef) {
  const { rows } = await sql<{ rank: number; creators: number }>`
    select rank, count(*)::int as creators from ${people(of)} as person group by rank`.execute(db);
  const counts = new Map(rows.map((row) => [row.rank, row.creators]));
  return STAGES.map((stage) => ({ stage, creators: counts.get(toRank(stage)) ?? 0 }));
}

/** Fixed fees of signed contracts, by currency. */
export async function sumFees(db: Db, { brandId, campaignId }: CampaignRef): Promise<Sum[]> {
  const rows = await db
    .selectFrom('contracts')
    .select(['compensationCurrency as currency', ({ fn }) => fn.sum<number>('compensationAmountMinor').as('minor')])
    .where('brandId', '=', brandId)
    .where('campaignId', '=', campaignId)
    .where('status', '=', 'signed')
    .where('compensationType', '=', 'fixed')
    .groupBy('compensationCurrency')
    .orderBy('compensationCurrency')
    .execute();
  return rows.flatMap(({ currency, minor }) => (currency === null ? [] : [{ currency, minor: Number(minor) }]));
}
