import { z } from 'zod';
import { readClickIdFromUrl, uniqueClicks } from './click.ts';
import type { StoreAccess } from './provider.ts';
import { callShopify } from './shopify-graphql.ts';

/** This many journeys cost a third of the limit of a query. */
export const JOURNEYS_AT_ONCE = 25;

const JOURNEYS = `query Journeys($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on Order {
      legacyResourceId
      customerJourneySummary {
        ready
        lastVisit { landingPage }
        moments(first: 10) { nodes { ... on CustomerVisit { landingPage } } }
      }
    }
  }
}`;

const Visit = z.object({ landingPage: z.string().nullish() });

const Journeys = z.object({
  nodes: z.array(
    z
      .object({
        legacyResourceId: z.string(),
        customerJourneySummary: z
          .object({
            ready: z.boolean(),
            lastVisit: Visit.nullable(),
            moments: z.object({ nodes: z.array(Visit) }).nullable(),
          })
          .nullable(),
      })
      .nullable(),
  ),
});

export interface Journey {
  orderId: string;
  /** Shopify knows all visits by now. */
  isComplete: boolean;
  /** Click ids from the landing pages of the customer's visits. */
  clickIds: string[];
}

/** Fetches the visits that led to orders. Orders that Shopify does not have are left out. */
export async function findJourneys(
  store: StoreAccess,
  orderIds: readonly string[],
): Promise<{ journeys: Journey[]; waitMs: number }> {
  const ids = orderIds.map((orderId) => `gid://shopify/Order/${orderId}`);
  const journeyQuery = { query: JOURNEYS, variables: { ids }, data: Journeys, isPartial: true };
  const { data, waitMs } = await callShopify(store, journeyQuery);
  const journeys = data.nodes.flatMap((order) => {
    if (!order) return [];
    const { legacyResourceId: orderId, customerJourneySummary: summary } = order;
    const visits = summary ? [summary.lastVisit, ...(summary.moments?.nodes ?? [])] : [];
    const clickIds = uniqueClicks(visits.map((visit) => readClickIdFromUrl(visit?.landingPage)));
    return [{ orderId, isComplete: summary?.ready ?? false, clickIds }];
  });
  return { journeys, waitMs };
}
