import { commissions, listHolds } from '../../../affiliates/commissions/commissions.ts';
import { countCustomers } from '../../../affiliates/customers/customers.ts';
import { findAsked } from '../../../affiliates/data-requests/asked.ts';
import { links } from '../../../affiliates/links/links.ts';
import { listBalances } from '../../../affiliates/payouts/balances.ts';
import { payouts } from '../../../affiliates/payouts/payouts.ts';
import { statements } from '../../../affiliates/statements/statements.ts';
import { listLinkFigures } from '../../../analytics/figures/totals.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { getTimeZone } from '../../../kit/operation/local-days.ts';
import { dayIn } from '../../../kit/values/time-zone.ts';
import { listReceived } from '../../../workflow/briefs/briefs.ts';
import { signingLink } from '../../../workflow/contracts/contracts.mails.ts';
import { contracts } from '../../../workflow/contracts/contracts.ts';
import type { CreatorRow } from '../../../workflow/creators/creators.ts';
import { deliverables } from '../../../workflow/deliverables/deliverables.ts';
import { isKnownToCreator } from '../../../workflow/deliverables/moves.ts';
import { findCreatorConversation } from '../../../workflow/messages/messages.ts';
import { findProfile } from '../../../workflow/payments/payments.ts';
import { shipments } from '../../../workflow/shipments/shipments.ts';

/** The newest of each list are shown. */
export const SHOWN = 20;
/** Rows that creators never see, such as drafts, are read with the others. */
const READ = { limit: 2 * SHOWN };

/** The creator whose page it is. */
export type Me = CreatorRow & { email: string };

/** Everything that the brand and this creator have together. */
export async function listAll({ postgres: { db }, clickhouse }: Context, { id, brandId, email }: Me, now: Date) {
  const own = { creator_email: email, sort: 'newest' as const };
  const timeZone = await getTimeZone(db, brandId);
  const ownLinks = await links.select(db, brandId, own, READ);
  const work = await deliverables.select(db, brandId, { ...own, today: dayIn(timeZone, now) }, READ);
  const creatorContracts = await contracts.select(db, brandId, own, READ);
  return {
    timeZone,
    standings: await listBalances(db, brandId, { creatorIds: [id] }, now),
    holds: await listHolds(db, { brandId, creatorId: id, timeZone }, now),
    links: ownLinks,
    figures: await listLinkFigures(clickhouse, brandId, ownLinks),
    customers: await countCustomers(db, brandId, id),
    orders: (await commissions.select(db, brandId, { ...own, now }, { limit: SHOWN })).toSorted(
      (one, other) => other.occurredAt.getTime() - one.occurredAt.getTime(),
    ),
    profile: await findProfile(db, brandId, id, now),
    payouts: await payouts.select(db, brandId, own, { limit: SHOWN }),
    statements: await statements.select(db, brandId, own, { limit: SHOWN }),
    briefs: await listReceived(db, brandId, id, SHOWN),
    contracts: creatorContracts.filter(({ status }) => status !== 'draft').slice(0, SHOWN),
    work: work.filter(isKnownToCreator).slice(0, SHOWN),
    conversation: await findCreatorConversation(db, brandId, id),
    asked: await findAsked(db, brandId, id),
    parcels: await shipments.select(db, brandId, own, { limit: SHOWN }),
  };
}

export type All = Awaited<ReturnType<typeof listAll>>;

/** Until when an open contract is signed. */
export const signableUntil = (contract: All['contracts'][number]): Date =>
  signingLink(contract, contract.sentAt ?? contract.createdAt).expiresAt;
