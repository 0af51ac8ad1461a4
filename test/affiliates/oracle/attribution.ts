import { DAY_MS } from './history.ts';
import type { Oracle, OracleLink, Reported } from './model.ts';

const countsAt = ({ store, paysRenewals }: OracleLink, { store: at, isTest, isRenewal }: Reported) =>
  (store === null || store === at) && !isTest && (paysRenewals || !isRenewal);

export function wasActive({ states }: OracleLink, at: number): boolean {
  return states.findLast((state) => state.at <= at)?.active ?? false;
}

/** An order of a whole second may have been placed at any time within it. */
const lastClickTime = (orderedAt: number) => (orderedAt % 1_000 === 0 ? orderedAt + 999 : orderedAt);

/** The first redeemed code that was active as the order was placed, else the last click within its link's window. */
export function attribute(oracle: Oracle, reported: Reported) {
  for (const code of reported.codes) {
    const link = oracle.links.find(({ type, value }) => type === 'discount_code' && value === code.toUpperCase());
    if (link && countsAt(link, reported) && wasActive(link, reported.occurredAt)) return { link, code, clickId: null };
  }
  let last: { link: OracleLink; id: string; at: number } | undefined;
  for (const { token, link, at, id } of oracle.clicks) {
    if (!link || !reported.tokens.includes(token) || !countsAt(link, reported)) continue;
    const isInside =
      at <= lastClickTime(reported.occurredAt) && reported.occurredAt <= at + link.attributionDays * DAY_MS;
    if (isInside && (!last || at > last.at)) last = { link, id, at };
  }
  return last ? { link: last.link, code: null, clickId: last.id } : null;
}
