import { sql } from 'kysely';
import { z } from 'zod';
import { listing } from '../../kit/engines/postgres/listing.ts';
import { get, list } from '../../kit/operation/kit.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import { noun } from '../../kit/operation/noun.ts';
import { nothing, operation } from '../../kit/operation/operation.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { toWire } from '../../kit/values/wire.ts';
import type { TermsPlace } from '../../workflow/terms/places.ts';
import { parseTerms } from '../../workflow/terms/versions.ts';
import { budgetMails } from './budget-mails.ts';
import { newsMails } from './news-mails.ts';
import { PreviewAnswer, PreviewRequest } from './preview.shapes.ts';
import { previewTerms } from './preview.ts';
import { summarizeTerms } from './summary.ts';
import { TermsFilter, TermsVersion } from './versions.shapes.ts';

const versions = listing({
  noun: 'version of terms',
  table: 'terms',
  time: 'createdAt',
  changed: ['createdAt', 'replacedAt'],
  matching: (db, _brandId, { place, placeId }: { place: TermsPlace; placeId: string } & ListWindow) =>
    db.selectFrom('terms').where('place', '=', place).where('placeId', '=', placeId),
  rows: (db) =>
    db
      .selectFrom('terms')
      .selectAll('terms')
      .select(
        sql<string | null>`(
          select coalesce(people.name, people.email, api_keys.name) from audit_log
          left join api_keys on api_keys.id = audit_log.key_id left join people on people.id = api_keys.person_id
          where audit_log.brand_id = terms.brand_id and audit_log.resource_id = terms.id
          order by audit_log.at limit 1)`.as('by'),
      ),
});

function toVersion({ terms: stored, ...row }: Awaited<ReturnType<typeof versions.get>>) {
  const terms = parseTerms(stored);
  return { ...toWire(row), terms, summary: summarizeTerms(terms) };
}

/** The place that a query names; the brand if it names none. */
function toPlace({ link_id, group_id, campaign_id, ...window }: TermsFilter, brandId: string) {
  if (link_id !== undefined) return { ...window, place: 'link' as const, placeId: link_id };
  if (group_id !== undefined) return { ...window, place: 'group' as const, placeId: group_id };
  if (campaign_id !== undefined) return { ...window, place: 'campaign' as const, placeId: campaign_id };
  return { ...window, place: 'brand' as const, placeId: brandId };
}

const tag = 'Affiliates';

const termsOperations = [
  list({
    id: 'list_terms',
    path: '/v1/affiliates/terms',
    tag,
    summary: 'List versions of terms',
    description: 'Versions of the terms of one place, newest first: a code or link, a group, a campaign or the brand.',
    forAgents: { isListed: false },
    query: TermsFilter,
    item: TermsVersion,
    rows: versions,
    whereOf: (_context, { caller, query }) => toPlace(query, caller.brandId),
    itemOf: toVersion,
  }),
  get({
    id: 'get_terms',
    path: '/v1/affiliates/terms/{id}',
    tag,
    summary: 'Get a version of terms',
    description: 'Commissions and customers name the version that decides them. Versions never change.',
    forAgents: { isListed: false },
    item: TermsVersion,
    find: async ({ postgres }, { caller, params }) =>
      toVersion(await versions.get(postgres.db, caller.brandId, params.id)),
  }),
  operation({
    id: 'preview_terms',
    method: 'POST',
    path: '/v1/affiliates/terms/preview',
    tag,
    summary: 'Preview what terms would pay',
    description:
      'Prices up to 200 orders by the function that prices real ones: what each pays, by rule and by line. Changes nothing.',
    forAgents: { isListed: false },
    callers: ['brand'],
    params: nothing,
    query: nothing,
    body: PreviewRequest,
    response: z.object({ data: PreviewAnswer }),
    errors: [],
    hints: { readOnly: true, idempotent: true, destructive: false },
    handler: async ({ postgres }, { caller, body }) => ({
      data: previewTerms(body, await getTimeZone(postgres.db, caller.brandId)),
    }),
  }),
] as const;

export const termsNoun = noun({
  name: 'terms',
  ids: { terms: 'trm' },
  operations: termsOperations,
  mails: { ...budgetMails, ...newsMails },
});
