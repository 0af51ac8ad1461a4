import { z } from 'zod';
import { timestamp } from '../../kit/values/page.ts';
import type { Snapshot } from './counts.ts';
import type { Directory } from './directory.ts';

const dataAsOf = timestamp
  .nullable()
  .describe('When the source observed the creator, or else when it was imported; null if unknown.')
  .meta({ example: '2026-11-20T06:00:00.000Z' });
const changedAt = timestamp
  .nullable()
  .describe("When an import or a later write last changed one of the creator's fields; null if unknown.")
  .meta({ example: '2026-11-02T06:00:00.000Z' });

/** `meta` of one creator. */
export const CreatorFreshness = z
  .object({
    data_as_of: dataAsOf,
    changed_at: changedAt,
    source: z
      .string()
      .nullable()
      .describe("What the operator calls the source of the creator's data; null if it has no name.")
      .meta({ example: 'crawl' }),
  })
  .describe('How fresh the creator is.');

/** An item of `meta.freshness` of a search. */
export const CardFreshness = z.object({
  pk: z.number().int().describe('Key of a creator of this page.').meta({ example: 173560420 }),
  data_as_of: dataAsOf,
  changed_at: changedAt,
});
type CardFreshness = z.infer<typeof CardFreshness>;

const milliseconds = z
  .number()
  .optional()
  .transform((at) => (at === undefined ? null : new Date(at).toISOString()));

/** The stored facts of a creator, as the API shows them. */
export const StoredFreshness = z.object({
  data_as_of: milliseconds,
  changed_at: milliseconds,
  source: z
    .string()
    .optional()
    .transform((name) => name ?? null),
});

/** Absent if neither time is known. */
const Times = StoredFreshness.omit({ source: true }).default({ data_as_of: null, changed_at: null });
const Hits = z.object({
  hits: z.object({
    hits: z.array(z.object({ _source: z.object({ card: z.object({ pk: z.number() }), x: Times }) })),
  }),
});
const Pks = z.array(z.object({ pk: z.number() }));

/** Reads the freshness of each creator of a page, in the page's order. `cards` is the page as fetchPage returns it. */
export async function readFreshness(directory: Directory, snapshot: Snapshot, cards: string): Promise<CardFreshness[]> {
  const pks = Pks.parse(JSON.parse(`[${Buffer.from(cards, 'latin1').toString('utf8')}]`)).map(({ pk }) => pk);
  if (pks.length === 0) return [];
  const { hits } = await directory.counts.ask(snapshot.index, Hits, {
    size: pks.length,
    track_total_hits: false,
    _source: ['card.pk', 'x.data_as_of', 'x.changed_at'],
    query: { bool: { filter: [{ terms: { 'card.pk': pks } }] } },
  });
  const facts = new Map(hits.hits.map(({ _source: { card, x } }) => [card.pk, x]));
  return pks.flatMap((pk) => {
    const pkFacts = facts.get(pk);
    return pkFacts ? [{ pk, ...pkFacts }] : [];
  });
}
