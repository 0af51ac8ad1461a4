import { z } from 'zod';
import { creatorEmail, currencyField, idField } from '../../../kit/values/fields.ts';
import { fromMinor } from '../../../kit/values/money.ts';
import { PageQuery, Pagination } from '../../../kit/values/page.ts';
import { fromOutside } from '../../../kit/values/untrusted.ts';
import { toWire } from '../../../kit/values/wire.ts';
import { creatorName } from '../schema.ts';

/** How far a creator has come in a campaign, first to last. */
export const STAGES = ['applied', 'accepted', 'contracted', 'delivered', 'posted', 'paid'] as const;
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
            .describe('Commissions of this campaign that are not rejected, in major units.')
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

export const amountOf = ({ currency, minor }: Sum) => ({ currency, amount: fromMinor(minor, currency) });

export const campaignCreatorOf = <Row extends { rank: number; earned: readonly Sum[] }>({
  rank,
  earned,
  ...row
}: Row) => CampaignCreator.parse({ ...toWire(row), stage: STAGES[rank - 1], earned: earned.map(amountOf) });
