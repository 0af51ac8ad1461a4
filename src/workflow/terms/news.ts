import { sql } from 'kysely';
import { queueMails } from '../../kit/mail/queue.ts';
import type { Work } from '../../kit/operation/work.ts';
import { fromPpm } from '../../kit/values/money.ts';
import { INHERITED } from './inherited.ts';
import type { TermsPlace } from './places.ts';

/** A code or link with what its creator earns by it. */
interface Deal {
  id: string;
  value: string;
  creatorId: string;
  email: string;
  terms: unknown;
}

interface StoredDeal extends Omit<Deal, 'terms'> {
  ppm: number;
  paysRenewals: boolean | null;
  own: unknown;
  inherited: { terms?: unknown; ppm?: number } | null;
}

const toTerms = (percent: number, paysRenewals: boolean) => ({
  rate: { percent },
  covers: paysRenewals ? 'subscription' : 'order',
});

function toDeal({ ppm, paysRenewals, own, inherited, ...deal }: StoredDeal): Deal {
  const present = inherited === null ? own : inherited.terms;
  const plain =
    inherited === null ? toTerms(fromPpm(ppm), paysRenewals ?? false) : toTerms(fromPpm(inherited.ppm ?? 0), false);
  return { ...deal, terms: present ?? plain };
}

/** Lists the active codes and links that terms of a place may decide, with the terms in effect for them. */
async function listDeals({ db, brandId }: Work, place: TermsPlace, placeId: string): Promise<Deal[]> {
  const isConcerned = {
    link: sql`links.id = ${placeId}`,
    group: sql`links.inherits_terms and links.creator_id in (select creator_id from group_memberships as member
      where member.brand_id = ${brandId} and member.group_id = ${placeId} and member.until is null)`,
    campaign: sql`links.inherits_terms and links.campaign_id = ${placeId}`,
    brand: sql`links.inherits_terms`,
  }[place];
  const { rows } = await sql<StoredDeal>`
    select links.id, links.value, links.creator_id, creators.email, links.commission_rate_ppm as ppm, links.pays_renewals,
      terms.terms as own, ${INHERITED} as inherited
    from links join creators on creators.id = links.creator_id left join terms on terms.id = links.terms_id
    where links.brand_id = ${brandId} and links.active and creators.email is not null and ${isConcerned}
    order by links.id`.execute(db);
  return rows.map(toDeal);
}

/**
 * Runs a change of the terms of a place and, if wanted, mails each creator whose codes and links then pay otherwise: the old
 * and the new terms of each in words.
 */
export async function changeWithNews<T>(
  work: Work,
  { place, placeId, isTold }: { place: TermsPlace; placeId: string; isTold: boolean },
  change: () => Promise<T>,
): Promise<T> {
  if (!isTold) return await change();
  const before = new Map((await listDeals(work, place, placeId)).map(({ id, terms }) => [id, terms]));
  const result = await change();
  const changedDeals = (await listDeals(work, place, placeId)).filter(
    ({ id, terms }) => JSON.stringify(before.get(id)) !== JSON.stringify(terms),
  );
  await queueMails(
    work,
    [...Map.groupBy(changedDeals, ({ creatorId }) => creatorId)].flatMap(([creatorId, deals]) => {
      const [first] = deals;
      if (!first) return [];
      const dealChanges = deals.map(({ id, value, terms }) => ({
        value,
        before: before.get(id) ?? null,
        after: terms,
      }));
      const subjectRow = `${placeId}:${work.now.getTime()}`;
      return [
        { kind: 'terms_changed' as const, to: first.email, creatorId, subjectRow, params: { deals: dealChanges } },
      ];
    }),
  );
  return result;
}
