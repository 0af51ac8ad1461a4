import { type RawBuilder, sql } from 'kysely';

/** The version of the first place that has terms: the creator's group, the campaign, the brand; else the brand's rate. */
export const selectInherited = (
  brandId: RawBuilder<unknown>,
  creatorId: RawBuilder<unknown>,
  campaignId: RawBuilder<unknown>,
) =>
  sql<unknown>`coalesce((
    select jsonb_build_object('place', version.place, 'id', version.id, 'terms', version.terms)
    from (
      select 1 as rank, grouped.terms_id from group_memberships as member
      join creator_groups as grouped on grouped.brand_id = member.brand_id and grouped.id = member.group_id
      where member.brand_id = ${brandId} and member.creator_id = ${creatorId} and member.until is null
      union all
      select 2, campaign.terms_id from campaigns as campaign
      where campaign.brand_id = ${brandId} and campaign.id = ${campaignId}
      union all
      select 3, own.terms_id from attribution_rules as own where own.brand_id = ${brandId}
    ) as placed join terms as version on version.brand_id = ${brandId} and version.id = placed.terms_id
    order by placed.rank limit 1
  ), (
    select jsonb_build_object('place', 'brand', 'id', null, 'ppm', default_commission_rate_ppm)
    from brands where brands.id = ${brandId}
  ))`;

/** What a link of the table `links` takes from elsewhere; null if it has its own terms. */
export const INHERITED = sql<unknown>`case when links.inherits_terms then
  ${selectInherited(sql`links.brand_id`, sql`links.creator_id`, sql`links.campaign_id`)} end`;
