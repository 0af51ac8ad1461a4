import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { foldCase } from '../../kit/values/fold.ts';
import { newId } from '../../kit/values/ids.ts';
import { getBrandCurrency, getDefaultRatePpm } from '../../platform/brands/brands.ts';
import type { Line, PersonRecord } from '../../platform/imports/reading/shapes.ts';
import {
  type CreatorRow,
  changeCreator,
  createCreator,
  type Identity,
  listMatching,
  lockBrandRoster,
} from '../../workflow/creators/creators.ts';
import { addEntry, fillNote } from '../../workflow/roster/roster.ts';
import { patchLink } from '../links/change-link.ts';
import { DEFAULT_DAYS, findDestinationProblems, insertLink, listGeneratedFields } from '../links/create-link.ts';
import { insertLinks, insertStates } from '../links/links.ts';
import { listLinkStarts } from '../terms/effective.ts';
import type { ImportRow } from './imports.ts';
import {
  describeOther,
  findMatch,
  listDestinations,
  listMatches,
  listOwners,
  type Match,
  same,
} from './known-people.ts';
import { getRosterLimit } from './limits.ts';
import { isEntryUntouched } from './staying.ts';
import type { Judged } from './tallies.ts';
import {
  differs,
  insertWrites,
  isKnown,
  isNew,
  type JudgeFacts,
  refuse,
  selectRecords,
  type Write,
  type Writer,
} from './writer.ts';

const toIdentity = ({ email, instagram, tiktok }: PersonRecord): Identity => ({
  email,
  igHandle: instagram,
  ttHandle: tiktok,
});

const hasOther = ({ email, instagram, tiktok }: PersonRecord, match: Match | undefined, all: readonly Match[]) =>
  all.some(
    (other) =>
      other.id !== match?.id &&
      (same(other.email, email) || same(other.igHandle, instagram) || same(other.ttHandle, tiktok)),
  );

async function judge(
  db: Db,
  { brandId }: ImportRow,
  lines: readonly Line[],
  { linksUrl }: JudgeFacts,
): Promise<Judged[]> {
  const records = selectRecords(lines, 'person');
  const all = records.map(({ record }) => record);
  const matches = await listMatches(db, brandId, all);
  const owners = await listOwners(db, brandId, all);
  const matchIds = matches.map(({ id }) => id);
  const knownDestinations = await listDestinations(db, brandId, matchIds, all);
  const ownersByCode = new Map<string, string>();
  const emailsByHandle = new Map<string, string>();
  return records.map(({ line, record }) => {
    const match = findMatch(record, matches);
    if (hasOther(record, match, matches))
      return refuse(line, 'several_creators', 'its address and handles belong to different creators.');
    const { email, instagram, tiktok } = record;
    if (email !== null) {
      // Otherwise the second creator, and their codes, would be the first.
      const handles = [instagram && `instagram ${instagram}`, tiktok && `tiktok ${tiktok}`].flatMap((one) => one || []);
      if (handles.some((handle) => (emailsByHandle.get(handle) ?? email) !== email))
        return refuse(line, 'several_creators', 'its handle stands above with another address.');
      for (const handle of handles) emailsByHandle.set(handle, email);
    }
    const codes = record.codes.map(({ code }) => foldCase(code));
    const me = line.known_by ?? '';
    const foreign = codes.find((code) => {
      const owner = owners.get(code)?.creatorId;
      return owner === undefined ? (ownersByCode.get(code) ?? me) !== me : owner !== match?.id;
    });
    if (foreign !== undefined) return refuse(line, 'code_taken', `the code ${foreign} belongs to somebody else.`);
    const destinations = record.destinations.map(({ destination_url: url }) => url);
    const circular = destinations.find((url) => findDestinationProblems(linksUrl, url).length > 0);
    if (circular !== undefined)
      return refuse(line, 'destination_circular', `its destination ${circular} is itself a short link.`);
    for (const code of codes) ownersByCode.set(code, me);
    if (!match?.entryId) return isNew(line);
    const other = describeOther(record, match, {
      saysStatus: line.status !== null,
      findCode: (code) => owners.get(foldCase(code)),
      findLinks: (url) => knownDestinations.get(`${match.id} ${url}`) ?? [],
    });
    const hasNew =
      codes.some((code) => !owners.has(code)) ||
      destinations.some((url) => !knownDestinations.has(`${match.id} ${url}`));
    // The rest of such a record stays as it is known.
    if (hasNew)
      return { ...isNew(line), knownId: match.entryId, message: other ? `Line ${line.line}: ${other}` : null };
    return other === undefined ? isKnown(line, match.entryId) : differs(line, match.entryId, other);
  });
}

interface Terms {
  ratePpm: number;
  currency: string;
}

/** The columns that codes and links of a creator start with. Those of a paused creator are inactive. */
async function listStartColumns({ db, now, brandId }: Work, creatorId: string, record: PersonRecord, terms: Terms) {
  const start = (await listLinkStarts(db, brandId, [creatorId], null)).get(creatorId);
  return (rate_ppm: number | null) => ({
    id: newId('lnk', now.getTime()),
    brandId,
    creatorId,
    active: record.status === 'active',
    commissionRatePpm: rate_ppm ?? start?.columns.commissionRatePpm ?? terms.ratePpm,
    inheritsTerms: rate_ppm === null ? (start?.columns.inheritsTerms ?? null) : null,
    holdDays: start?.holdDays ?? DEFAULT_DAYS,
    attributionDays: start?.attributionDays ?? DEFAULT_DAYS,
    currency: terms.currency,
    createdAt: now,
  });
}

type StartColumns = Awaited<ReturnType<typeof listStartColumns>>;

/** Adds codes of a creator, each known under its value. */
async function addCodes(work: Work, record: PersonRecord, toColumns: StartColumns): Promise<Write[]> {
  const { db, now, brandId } = work;
  const rows = record.codes.map(({ code, rate_ppm }) => ({
    ...toColumns(rate_ppm),
    type: 'discount_code' as const,
    value: code,
  }));
  if (rows.length === 0) return [];
  const links = await insertLinks(db, rows);
  await insertStates(
    db,
    links.map(({ id, active }) => ({ brandId, linkId: id, at: now, active })),
  );
  for (const link of links) work.audit({ resourceId: link.id, old: null, new: link });
  return links.map(({ id }): Write => ({ noun: 'link', rowId: id }));
}

/** Adds links of a creator to destinations that no link of theirs leads to. */
async function addLinks(
  work: Work,
  creator: CreatorRow,
  record: PersonRecord,
  toColumns: StartColumns,
): Promise<Write[]> {
  const knownDestinations = await listDestinations(work.db, work.brandId, [creator.id], [record]);
  const names = [creator.name, creator.igHandle, creator.ttHandle];
  const writes: Write[] = [];
  for (const { destination_url: destinationUrl, rate_ppm } of record.destinations) {
    if (knownDestinations.has(`${creator.id} ${destinationUrl}`)) continue;
    const columns = { ...toColumns(rate_ppm), type: 'link' as const, destinationUrl };
    const link = await insertLink(work, columns, { value: undefined, names });
    work.audit({ resourceId: link.id, old: null, new: link, generated: listGeneratedFields(link, false) });
    writes.push({ noun: 'link', rowId: link.id });
  }
  return writes;
}

/** Codes and links that a creator had before they left the roster work again, at the rate that the file says. */
async function switchOn(work: Work, creatorId: string, record: PersonRecord, linksUrl: string): Promise<Write[]> {
  const { db, brandId } = work;
  if (record.status === 'paused') return [];
  const owners = await listOwners(db, brandId, [record]);
  const ownLinks = await listDestinations(db, brandId, [creatorId], [record]);
  const codes = record.codes.flatMap(({ code, rate_ppm }) => {
    const owner = owners.get(foldCase(code));
    return owner?.creatorId === creatorId ? [{ ...owner, rate_ppm }] : [];
  });
  const links = record.destinations.flatMap(({ destination_url: url, rate_ppm }) =>
    (ownLinks.get(`${creatorId} ${url}`) ?? []).map((link) => ({ ...link, rate_ppm })),
  );
  const writes: Write[] = [];
  for (const { id, active, commissionRatePpm, rate_ppm } of [...codes, ...links]) {
    if (active && (rate_ppm === null || rate_ppm === commissionRatePpm)) continue;
    const rate = rate_ppm === null ? {} : { commission_rate: rate_ppm / 10_000 };
    await patchLink(work, id, { active: true, ...rate }, linksUrl, undefined);
    if (!active) writes.push({ noun: 'link', rowId: id });
  }
  return writes;
}

/** The creator of a record, with the fields that were empty filled in. */
async function saveCreator(
  work: Work,
  record: PersonRecord,
): Promise<{ creator: CreatorRow; isAdded: boolean; isChanged: boolean }> {
  const identity = toIdentity(record);
  const addedCreator = await createCreator(work, { ...identity, name: record.name, tags: record.tags });
  if (addedCreator) return { creator: addedCreator, isAdded: true, isChanged: false };
  const [match] = await listMatching(work.db, work.brandId, identity);
  if (!match) throw new Error('The creator that blocked the insert was not found.');
  const change = {
    ...(match.name === null && record.name !== null ? { name: record.name } : {}),
    ...(match.email === null && identity.email !== null ? { email: identity.email } : {}),
    ...(match.igHandle === null && identity.igHandle !== null ? { igHandle: identity.igHandle } : {}),
    ...(match.ttHandle === null && identity.ttHandle !== null ? { ttHandle: identity.ttHandle } : {}),
    ...(match.tags.length === 0 && record.tags.length > 0 ? { tags: record.tags } : {}),
  };
  const isChanged = Object.keys(change).length > 0;
  const changedCreator = isChanged ? await changeCreator(work, match, change) : match;
  return { creator: changedCreator ?? match, isAdded: false, isChanged };
}

interface Settings {
  limit: number;
  terms: Terms;
  linksUrl: string;
}

async function writePerson(work: Work, record: PersonRecord, { limit, terms, linksUrl }: Settings): Promise<Write[]> {
  const { creator, isAdded } = await saveCreator(work, record);
  const status = record.status === 'paused' ? ('paused' as const) : ('active' as const);
  const { entry, added } = await addEntry(work, limit, { creatorId: creator.id, status, note: record.note });
  const isBack = added && !isAdded;
  const again = isBack ? await switchOn(work, creator.id, record, linksUrl) : [];
  const toColumns = await listStartColumns(work, creator.id, record, terms);
  const codes = await addCodes(work, record, toColumns);
  const links = await addLinks(work, creator, record, toColumns);
  return [
    ...again,
    ...codes,
    ...links,
    ...(added ? [{ noun: 'roster_entry' as const, rowId: entry.id }] : []),
    ...(isAdded ? [{ noun: 'creator' as const, rowId: creator.id }] : []),
  ];
}

async function undoLinks({ db, brandId, now }: Work, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  const { rows } = await sql<{ id: string }>`
    update links set active = false, updated_at = ${now}
    where brand_id = ${brandId} and id = any(${[...ids]}::text[]) and active returning id`.execute(db);
  await insertStates(
    db,
    rows.map(({ id }) => ({ brandId, linkId: id, at: now, active: false })),
  );
  return rows.length;
}

/** Takes entries off the roster whose creators nothing but this import refers to. */
async function undoEntries({ db, brandId, now }: Work, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  const { rows } = await sql`
    update roster_entries as entry set status = 'removed', updated_at = ${now}
    where entry.brand_id = ${brandId} and entry.id = any(${[...ids]}::text[])
      and ${isEntryUntouched} returning entry.id`.execute(db);
  return rows.length;
}

export const rosterWriter: Writer = {
  judge,
  lock: async ({ db, brandId }) => await lockBrandRoster(db, brandId),
  write: async (work, { config }, row, judgedLines) => {
    const { db, brandId } = work;
    const lines = judgedLines.flatMap(({ line, outcome }) => (outcome === 'new' ? [line] : []));
    const limit = await getRosterLimit(db, brandId);
    const terms = { ratePpm: await getDefaultRatePpm(db, brandId), currency: await getBrandCurrency(db, brandId) };
    const settings = { limit, terms, linksUrl: config.linksUrl };
    const records = selectRecords(lines, 'person');
    for (const { record } of records) await insertWrites(work, row, await writePerson(work, record, settings));
    if (row.mapping.known !== 'update') return { written: records.length, updated: 0 };
    const differing = judgedLines.flatMap(({ line, outcome }) => (outcome === 'differs' ? [line] : []));
    let updatedCount = 0;
    for (const { record } of selectRecords(differing, 'person')) {
      const { creator, isChanged } = await saveCreator(work, record);
      const isNoted = record.note !== null && (await fillNote(work, creator.id, record.note));
      if (isChanged || isNoted) updatedCount += 1;
    }
    return { written: records.length, updated: updatedCount };
  },
  undo: async (work, _row, writes) => {
    const select = (wantedNoun: Write['noun']) =>
      writes.flatMap(({ noun, rowId }) => (noun === wantedNoun ? [rowId] : []));
    return (await undoLinks(work, select('link'))) + (await undoEntries(work, select('roster_entry')));
  },
};
