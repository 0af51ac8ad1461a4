import type { Updateable } from 'kysely';
import { byCreator, type Merged } from '../../analytics/figures/queries.ts';
import type { CurrencyFigures } from '../../analytics/figures/schema.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import type { Context } from '../../kit/operation/context.ts';
import { inWork, type Work } from '../../kit/operation/work.ts';
import { newId } from '../../kit/values/ids.ts';
import { fromMinor } from '../../kit/values/money.ts';
import { eachOfMany, toWire } from '../../kit/values/wire.ts';
import { getBrandCurrency } from '../../platform/brands/queries.ts';
import type { ProfileColumns } from './profiles/actions.ts';
import {
  type CreatorRow,
  type CreatorsTable,
  type Identity,
  insertCreator,
  type ListedCreator,
  listCreatorsByEmail,
  listMatching,
  listMerged,
  lockBrandRoster,
  updateCreator,
} from './queries.ts';
import type { Creator } from './schema.ts';

export interface NewCreator extends Identity, Omit<ProfileColumns, 'name'> {
  name: string | null;
  tags?: string[];
}

/** Creates the creator; undefined if another creator of the brand has the e-mail or a handle. */
export async function makeCreator(work: Work, person: NewCreator): Promise<CreatorRow | undefined> {
  const { db, now, brandId } = work;
  await lockBrandRoster(db, brandId);
  const row = await insertCreator(db, { ...person, id: newId('crt', now.getTime()), brandId, createdAt: now });
  if (row) work.audit({ resourceId: row.id, old: null, new: row });
  return row;
}

/**
 * Sets the changed columns; undefined if another creator of the brand has the e-mail or a handle. The profile of a new
 * handle is not known yet.
 */
export async function changeCreator(
  work: Work,
  old: CreatorRow,
  change: Updateable<CreatorsTable>,
): Promise<CreatorRow | undefined> {
  await lockBrandRoster(work.db, work.brandId);
  const unprofiled = change.igHandle || change.ttHandle ? { profiledAt: null } : {};
  const isReaddressed = change.email !== undefined && change.email?.toLowerCase() !== old.email?.toLowerCase();
  // The reader of the earlier address no longer sees the page.
  const revoked = isReaddressed ? { linkVersion: old.linkVersion + 1 } : {};
  const row = await updateCreator(work.db, old, { ...unprofiled, ...change, ...revoked, updatedAt: work.now });
  if (row) work.audit({ resourceId: row.id, old, new: row });
  return row;
}

async function findOrMake(work: Work, email: string, name: string | null): Promise<CreatorRow> {
  const identity = { email, igHandle: null, ttHandle: null };
  const made = await makeCreator(work, { ...identity, name });
  const found = made ?? (await listMatching(work.db, work.brandId, identity))[0];
  if (!found) throw new Error('The creator that blocked the insert was not found.');
  return found;
}

/**
 * The id of the brand's creator with this e-mail, created if needed. A missing name or handle is filled in, never
 * overwritten, and a handle that another creator of the brand has is not taken.
 */
export async function ensureCreator(
  work: Work,
  person: { email: string; name: string | null; igHandle: string | null; ttHandle: string | null },
): Promise<string> {
  let creator = await findOrMake(work, person.email, person.name);
  const { name, igHandle, ttHandle } = person;
  const missing = [
    creator.name === null && name !== null ? { name } : undefined,
    creator.igHandle === null && igHandle !== null ? { igHandle } : undefined,
    creator.ttHandle === null && ttHandle !== null ? { ttHandle } : undefined,
  ];
  for (const change of missing) {
    if (change) creator = (await changeCreator(work, creator, change)) ?? creator;
  }
  return creator.id;
}

/** Mails the page of each brand that knows this address, at most once an hour, and does not reveal whether any does. */
export async function mailPageLinks({ postgres, clock }: Context, email: string, requestId: string): Promise<void> {
  for (const { id, brandId, email: to, linkVersion } of await listCreatorsByEmail(postgres.db, email)) {
    if (to === null) continue;
    const actor = { brandId, keyId: null, operation: 'request_page', requestId };
    await inWork(postgres.db, clock, actor, async (work) => {
      const subjectRow = `${id}:${work.now.toISOString().slice(0, 13)}`;
      const params = { creator_id: id, link_version: linkVersion };
      await queueMail(work, { kind: 'page_requested', to, subjectRow, creatorId: id, params });
    });
  }
}

const moneyOf = ({ currency, revenueMinor, commissionMinor }: CurrencyFigures) => ({
  revenue: fromMinor(revenueMinor, currency),
  commissions_earned: fromMinor(commissionMinor, currency),
});

/** Money in the brand's currency, and separately in others. */
function performanceOf(figures: readonly CurrencyFigures[], currency: string): Creator['performance'] {
  const own = figures.find((one) => one.currency === currency);
  const others = figures.filter((one) => one !== own && (one.revenueMinor !== 0 || one.commissionMinor !== 0));
  return {
    clicks: figures.reduce((sum, { clicks }) => sum + clicks, 0),
    conversions: figures.reduce((sum, { conversions }) => sum + conversions, 0),
    ...(own ? moneyOf(own) : { revenue: 0, commissions_earned: 0 }),
    by_currency: others.map((one) => ({ currency: one.currency, ...moneyOf(one) })),
  };
}

/** The brand of the creators and its currency. */
interface Owner {
  brandId: string;
  currency: string;
  merged: Merged;
}

export async function ownerOf({ db }: Context['postgres'], brandId: string): Promise<Owner> {
  const [currency, merged] = await Promise.all([getBrandCurrency(db, brandId), listMerged(db, brandId)]);
  return { brandId, currency, merged };
}

/** Creators with their all-time results. */
export async function creatorsOf(
  clickhouse: Context['clickhouse'],
  { brandId, currency, merged }: Owner,
  rows: readonly ListedCreator[],
): Promise<Creator[]> {
  const figures = await byCreator(
    clickhouse,
    brandId,
    rows.map(({ id }) => id),
    merged,
  );
  return rows.map(({ igHandle, ttHandle, ...row }) => ({
    ...toWire(row),
    photo_app: igHandle,
    video_app: ttHandle,
    on_roster: row.rosterStatus !== 'removed',
    roster_id: row.entryId,
    performance: performanceOf(figures.get(row.id) ?? [], currency),
  }));
}

/** The same for a list of any length. */
export async function* eachCreatorOf(
  { postgres, clickhouse }: Pick<Context, 'postgres' | 'clickhouse'>,
  brandId: string,
  rows: AsyncIterable<ListedCreator>,
): AsyncGenerator<Creator> {
  // Before the first row: from then on this call holds a connection, and waiting for a second one could deadlock.
  const owner = await ownerOf(postgres, brandId);
  yield* eachOfMany(rows, (part) => creatorsOf(clickhouse, owner, part));
}
