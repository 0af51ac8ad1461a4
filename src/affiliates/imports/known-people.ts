import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { foldCase } from '../../kit/values/fold.ts';
import type { PersonRecord } from '../../platform/imports/reading/shapes.ts';
import type { CreatorRow } from '../../workflow/creators/creators.ts';

export interface Match extends Pick<CreatorRow, 'id' | 'email' | 'igHandle' | 'ttHandle' | 'name' | 'tags'> {
  /** Null if they are not on the roster, as the status. */
  entryId: string | null;
  status: 'active' | 'hired' | 'paused' | null;
  note: string | null;
}

const fold = (text: string) => text.toLowerCase();
const present = (values: readonly (string | null)[]) =>
  values.flatMap((value) => (value === null ? [] : [fold(value)]));

export async function listMatches(db: Db, brandId: string, records: readonly PersonRecord[]): Promise<Match[]> {
  const emails = present(records.map(({ email }) => email));
  const [instagram, tiktok] = [present(records.map((one) => one.instagram)), present(records.map((one) => one.tiktok))];
  const { rows } = await sql<Match>`
    select creators.id, creators.email, creators.ig_handle, creators.tt_handle, creators.name, creators.tags,
      entry.id as entry_id, entry.status, entry.note
    from creators left join roster_entries as entry on entry.creator_id = creators.id and entry.status <> 'removed'
    where creators.brand_id = ${brandId} and (lower(creators.email) = any(${emails}::text[])
      or lower(creators.ig_handle) = any(${instagram}::text[]) or lower(creators.tt_handle) = any(${tiktok}::text[]))`.execute(
    db,
  );
  return rows;
}

/** A code or a link that a creator has. */
export interface OwnLink {
  id: string;
  creatorId: string;
  /** A code, or the address that a link leads to. */
  name: string;
  active: boolean;
  commissionRatePpm: number | null;
}

/** Codes of the records by their folded value, whoever of the brand has them. */
export async function listOwners(
  db: Db,
  brandId: string,
  records: readonly PersonRecord[],
): Promise<Map<string, OwnLink>> {
  const codes = records.flatMap((record) => record.codes.map(({ code }) => foldCase(code)));
  if (codes.length === 0) return new Map();
  const { rows } = await sql<OwnLink>`
    select id, creator_id, value as name, active, commission_rate_ppm from links
    where brand_id = ${brandId} and type = 'discount_code'
      and fold_code(value) = any(select fold_code(one) from unnest(${codes}::text[]) as one)`.execute(db);
  return new Map(rows.map((link) => [foldCase(link.name), link]));
}

/** Links of creators by the address that they lead to, active or not, as `creator address`. */
export async function listDestinations(
  db: Db,
  brandId: string,
  creatorIds: readonly string[],
  records: readonly PersonRecord[],
): Promise<Map<string, OwnLink[]>> {
  const urls = records.flatMap((record) => record.destinations.map(({ destination_url: url }) => url));
  if (urls.length === 0 || creatorIds.length === 0) return new Map();
  const { rows } = await sql<OwnLink>`
    select id, creator_id, destination_url as name, active, commission_rate_ppm from links
    where brand_id = ${brandId} and creator_id = any(${[...creatorIds]}::text[]) and type = 'link'
      and destination_url = any(${urls}::text[])`.execute(db);
  return Map.groupBy(rows, ({ creatorId, name }) => `${creatorId} ${name}`);
}

export const same = (a: string | null, b: string | null) => a !== null && b !== null && fold(a) === fold(b);

/** The creator with the record's address, else with its handle. */
export function findMatch({ email, instagram, tiktok }: PersonRecord, matches: readonly Match[]): Match | undefined {
  const byEmail = matches.find((match) => same(match.email, email));
  if (byEmail) return byEmail;
  const byHandle = matches.find((match) => same(match.igHandle, instagram) || same(match.ttHandle, tiktok));
  // A handle of somebody with another address is another person, or their new address: a file does not decide that.
  return byHandle && (email === null || byHandle.email === null) ? byHandle : undefined;
}

/** Fields of a person that the file has and the roster lacks. */
const listMissing = ({ name, email, instagram, tiktok, tags, note }: PersonRecord, match: Match): string[] => [
  ...(name !== null && match.name === null ? ['name'] : []),
  ...(email !== null && match.email === null ? ['address'] : []),
  ...(instagram !== null && match.igHandle === null ? ['Instagram handle'] : []),
  ...(tiktok !== null && match.ttHandle === null ? ['TikTok handle'] : []),
  ...(tags.length > 0 && match.tags.length === 0 ? ['tags'] : []),
  ...(note !== null && match.note === null ? ['note'] : []),
];

const formatShare = (ppm: number) => `${ppm / 10_000}%`;

/** A deal that the file has otherwise: a rate, or a code that works in the file and is switched off here. */
function findOtherDeal(
  { status, codes, destinations }: PersonRecord,
  findCode: (code: string) => OwnLink | undefined,
  findLinks: (destination: string) => readonly OwnLink[],
): string | undefined {
  const deals = [
    ...codes.map(({ code, rate_ppm }) => ({ name: `code ${code}`, rate_ppm, known: [findCode(code) ?? []].flat() })),
    ...destinations.map(({ destination_url: url, rate_ppm }) => ({
      name: `link to ${url}`,
      rate_ppm,
      known: findLinks(url),
    })),
  ];
  for (const { name, rate_ppm, known } of deals) {
    const rates = known.flatMap(({ commissionRatePpm }) => commissionRatePpm ?? []);
    const [rate] = rates;
    if (rate_ppm !== null && rate !== undefined && !rates.includes(rate_ppm))
      return `their ${name} is known with ${formatShare(rate)}.`;
    if (status === 'active' && known.length > 0 && known.every(({ active }) => !active))
      return `their ${name} is switched off.`;
  }
  return undefined;
}

/** Says in what the roster differs from a record; undefined if it has all that the record says. */
export function describeOther(
  record: PersonRecord,
  match: Match,
  facts: {
    /** The file says whether they are active. */
    saysStatus: boolean;
    findCode: (code: string) => OwnLink | undefined;
    findLinks: (destination: string) => readonly OwnLink[];
  },
): string | undefined {
  const { name, instagram, tiktok, status, tags, note } = record;
  if (name !== null && match.name !== null && name !== match.name) return `they are known as ${match.name}.`;
  const isOther = (own: string | null, known: string | null) => own !== null && known !== null && !same(own, known);
  if (isOther(instagram, match.igHandle)) return `they are known as @${match.igHandle} on Instagram.`;
  if (isOther(tiktok, match.ttHandle)) return `they are known as @${match.ttHandle} on TikTok.`;
  const knownStatus = match.status === 'paused' ? 'paused' : 'active';
  if (facts.saysStatus && status !== knownStatus) return `they are known as ${knownStatus}.`;
  const deal = findOtherDeal(record, facts.findCode, facts.findLinks);
  if (deal !== undefined) return deal;
  const missing = listMissing(record, match);
  if (missing.length > 0) return `the roster lacks their ${missing.join(', ')}.`;
  const knownTags = new Set(match.tags.map(fold));
  const otherTags = tags.filter((tag) => !knownTags.has(fold(tag)));
  if (otherTags.length > 0) return `they are known without the tags ${otherTags.join(', ')}.`;
  return note !== null && note !== match.note ? 'they are known with another note.' : undefined;
}
