import { WebAddress } from '../../../kit/values/web-address.ts';
import { isChangedCode } from './cells.ts';
import type { Entry } from './entry.ts';
import { fold, foldWords } from './fold.ts';
import {
  type Bench,
  type Failure,
  findId,
  findLeftOut,
  findStatus,
  findText,
  hasExtraCells,
  isFailure,
  type Judged,
  makeLine,
  refuseLine,
} from './judge.ts';
import { findName } from './judge-paid.ts';
import { readCount, readNumber, readPpm } from './numbers.ts';
import {
  hasSeveralEmails,
  isMoreThanCode,
  isNoHandle,
  readEmail,
  readHandle,
  readList,
  readOwnCodes,
  readPlatform,
} from './people.ts';
import type { Plan } from './plan.ts';
import { isRateType, readRateType } from './rate-types.ts';
import { splitScale } from './scale.ts';
import type { DirectoryRecord, PersonRecord } from './shapes.ts';

const orNull = (text: string): string | null => (text === '' ? null : text);

/** Nobody is paid more than the goods cost. */
const MOST_PPM = 1_000_000;

/** The codes and destinations of all rows of a person, each with the rate beside it. */
function readRates(entry: Entry, bench: Bench): Pick<PersonRecord, 'codes' | 'destinations'> | Failure {
  const { plan } = bench;
  const codes = new Map<string, number | null>();
  const destinations = new Map<string, number | null>();
  const written = plan.columns.code === undefined ? [] : entry.texts(plan.columns.code).flatMap(readOwnCodes);
  if (written.some(isChangedCode)) return { problem: 'code_changed', field: 'code' };
  if (written.some(isMoreThanCode)) return { problem: 'code_unreadable', field: 'code' };
  for (const [i] of entry.rows.entries()) {
    const row = entry.row(i);
    const text = entry.rows.length === 1 ? entry.text(plan, 'rate') : row.text(plan, 'rate');
    // A flat rate is money, not a share.
    const rate = text === '' || isFlatRate(row, plan) ? null : readPpm(text, plan.rate);
    if (rate === undefined || (rate ?? 0) > MOST_PPM) return { problem: 'rate_unreadable', row: i };
    for (const code of readOwnCodes(row.text(plan, 'code'))) codes.set(code, codes.get(code) ?? rate);
    const destination = row.text(plan, 'destination_url');
    if (isUnknown(destination)) continue;
    if (!WebAddress.safeParse(destination).success)
      return { problem: 'destination_unreadable', field: 'destination_url', row: i };
    destinations.set(destination, destinations.get(destination) ?? rate);
  }
  return {
    codes: [...codes].map(([code, rate_ppm]) => ({ code, rate_ppm })),
    destinations: [...destinations].map(([destination_url, rate_ppm]) => ({ destination_url, rate_ppm })),
  };
}

/** The column of each file that says what its rates are; -1 if it has none. It is looked for once, not for each row. */
const ratePositions = new WeakMap<readonly string[], number>();

/** Says that a rate is an amount of money, in a column beside it. */
function isFlatRate(row: Entry, { headers }: Plan): boolean {
  const position = ratePositions.get(headers) ?? headers.findIndex(isRateType);
  ratePositions.set(headers, position);
  return position >= 0 && readRateType(row.first(position)) === 'flat';
}

/** A cell that says nothing but a platform, whatever its header. */
const PLATFORM = /^\s*(?:instagram|tik\s?tok|youtube|twitch|pinterest|facebook|snapchat|twitter|threads)\s*$/i;

/** The platform that a column beside the handles says, where their own header names none. */
function findPlatform(entry: Entry, plan: Plan): 'instagram' | 'tiktok' | 'other' {
  const named = entry.text(plan, 'platform');
  const said = fold(named === '' ? (entry.rows[0]?.find((cell) => PLATFORM.test(cell)) ?? '') : named);
  const header = fold(plan.headers[plan.columns.instagram ?? -1] ?? '');
  if (said === '' || /insta|^ig/.test(header)) return 'instagram';
  if (/insta|^ig$/.test(said)) return 'instagram';
  return /tiktok|^tt$/.test(said) ? 'tiktok' : 'other';
}

/** Profiles by their platform: the host of an address says more than what stands above or beside it. */
function readProfiles(entry: Entry, plan: Plan) {
  const profiles: Record<'instagram' | 'tiktok', string | null | undefined> = { instagram: null, tiktok: null };
  for (const [column, text] of [
    [findPlatform(entry, plan), entry.said(plan, 'instagram')],
    ['tiktok', entry.said(plan, 'tiktok')],
  ] as const) {
    if (text === '') continue;
    const platform = readPlatform(text) ?? column;
    if (platform === 'other') profiles.instagram = profiles.instagram ?? undefined;
    else profiles[platform] ??= readHandle(text);
  }
  return profiles;
}

/** A handle that cannot be read, or of a platform that the roster has no field for, is left out and counted. */
const isHandleLost = (entry: Entry, plan: Plan): boolean =>
  (['instagram', 'tiktok'] as const).some((field) => {
    const text = entry.said(plan, field);
    const platform = readPlatform(text) ?? (field === 'tiktok' ? field : findPlatform(entry, plan));
    return text !== '' && (platform === 'other' || readHandle(text) === undefined);
  });

/** Every filled address and handle must be one: a wrong one would be another person. */
function readContacts(entry: Entry, { plan }: Bench): Pick<PersonRecord, 'email' | 'instagram' | 'tiktok'> | Failure {
  const emailText = entry.said(plan, 'email');
  const email = emailText === '' ? null : readEmail(emailText);
  const { instagram, tiktok } = readProfiles(entry, plan);
  if (email === undefined) return { problem: 'email_unreadable', field: 'email' };
  const contacts = { email, instagram: instagram ?? null, tiktok: tiktok ?? null };
  if (email !== null) return contacts;
  if (instagram === undefined) return { problem: 'handle_unreadable', field: 'instagram' };
  // One column has profiles of both platforms.
  if (tiktok === undefined)
    return { problem: 'handle_unreadable', field: plan.columns.tiktok === undefined ? 'instagram' : 'tiktok' };
  return instagram === null && tiktok === null && plan.of === 'roster' ? { problem: 'no_person' } : contacts;
}

/** Another name with another handle is another person, such as a second one whom an agency's address stands for. */
const findSharedAddress = (entry: Entry, plan: Plan): string | undefined =>
  ['instagram', 'tiktok'].find((field) => {
    const position = isRenamed(entry, plan) ? plan.columns[field] : undefined;
    return (
      position !== undefined &&
      new Set(entry.texts(position).flatMap((text) => (isNoHandle(text) ? [] : (readHandle(text) ?? [])))).size > 1
    );
  });

/** Names without a word in common, of one handle and no address: a word that is no handle stands there, or two are mixed up. */
function findSharedHandle(entry: Entry, plan: Plan): string | undefined {
  const { email, name, instagram, tiktok } = plan.columns;
  if (entry.rows.length < 2 || name === undefined || (email !== undefined && entry.texts(email).length > 0))
    return undefined;
  const names = entry.texts(name).map((text) => new Set(foldWords(text)));
  const isApart = names.some((words, i) =>
    names.slice(i + 1).some((other) => [...words].every((word) => !other.has(word))),
  );
  return isApart ? (instagram === undefined && tiktok !== undefined ? 'tiktok' : 'instagram') : undefined;
}

const findContradiction = (entry: Entry, plan: Plan): string | undefined =>
  findSharedAddress(entry, plan) ??
  findSharedHandle(entry, plan) ??
  ['status', 'payment_email'].find((field) => {
    const position = plan.columns[field];
    return position !== undefined && entry.rows.length > 1 && entry.texts(position).length > 1;
  });

const collectTexts = (entry: Entry, plan: Plan, field: string): string[] => {
  const position = plan.columns[field];
  return position === undefined ? [] : [...new Set(entry.texts(position).flatMap(readList))];
};

const isRenamed = (entry: Entry, { columns }: Plan): boolean =>
  entry.rows.length > 1 &&
  ['name', 'first_name', 'last_name'].some((field) => {
    const position = columns[field];
    return position !== undefined && entry.texts(position).length > 1;
  });

/** The number of an account at a bank, as an IBAN or with what tells its bank, which is not kept. */
const isBankAccount = (text: string): boolean =>
  !text.includes('@') &&
  /^(?:iban:?\s*)?[a-z]{2}\d{2}[\sa-z\d]{10,40}$|^[a-z.:,/ -]{0,40}(?:\d[\s./-]?){6,34}[a-z.:,/\d\s-]{0,60}$/i.test(
    text,
  );

const hasOtherEmails = (entry: Entry, { columns }: Plan): boolean =>
  ['email', 'payment_email'].some((field) => {
    const position = columns[field];
    return position !== undefined && entry.texts(position).some(hasSeveralEmails);
  });

/** A person of a roster, or of a list of payment details. */
export function judgePerson(entry: Entry, bench: Bench): Judged {
  const { plan } = bench;
  const said = findStatus(entry, plan);
  const status = said && { value: said.value, isUndecided: said.meaning === undefined };
  const toJudged = (line: Judged['line']): Judged => ({
    line,
    uses: 0,
    status,
    money: null,
    person: null,
    holding: null,
  });
  const refuse = (failure: Failure) => toJudged(refuseLine(entry, plan, failure, said?.value ?? null));
  const leaveOut = (kind: string) => toJudged(makeLine(entry, 'left_out', kind, { status: said?.value ?? null }));
  const reason = findLeftOut(entry, bench);
  if (reason !== undefined) return leaveOut(reason);
  if (status?.isUndecided) return leaveOut('status_unknown');
  if (said?.meaning === 'left_out') return leaveOut('status');
  if (hasExtraCells(entry, plan)) return refuse({ problem: 'too_many_cells' });
  const field = findContradiction(entry, plan);
  if (field !== undefined) return refuse({ problem: 'contradicting_lines', field });
  const contacts = readContacts(entry, bench);
  if (isFailure(contacts)) return refuse(contacts);
  const rates = readRates(entry, bench);
  if (isFailure(rates)) return refuse(rates);
  const { codes } = rates;
  const payment = entry.said(plan, 'payment_email');
  // PayPal pays to an address: a number in its place is a mistake.
  const isBankLost = isBankAccount(payment) && !/paypal/i.test(entry.text(plan, 'payment_method'));
  const paymentEmail = payment === '' || isBankLost ? null : readEmail(payment);
  if (paymentEmail === undefined) return refuse({ problem: 'email_unreadable', field: 'payment_email' });
  const name = orNull(findName(entry, bench));
  const isNobody = Object.values(contacts).every((value) => value === null) && codes.length === 0 && name === null;
  if (isNobody) return refuse({ problem: 'no_person' });
  const method = orNull(entry.text(plan, 'payment_method').slice(0, 100));
  if (plan.of === 'payment_details' && paymentEmail === null && method === null)
    return refuse({ problem: 'no_payment' });
  const record: PersonRecord = {
    ...contacts,
    name,
    tags: collectTexts(entry, plan, 'tags'),
    note: orNull(findText(entry, bench, 'note')),
    status: said?.meaning === 'paused' ? 'paused' : 'active',
    ...rates,
    link: orNull(entry.text(plan, 'link')),
    payment_email: paymentEmail,
    payment_method: method,
    external_id: orNull(findId(entry, plan, 'external_id')),
  };
  const known_by = record.email
    ? `email:${record.email}`
    : `handle:${record.instagram ?? record.tiktok ?? codes[0]?.code ?? name ?? ''}`;
  const lineFacts = { record: { kind: 'person' as const, ...record }, known_by, status: said?.value ?? null };
  return {
    ...toJudged(makeLine(entry, 'read', null, lineFacts)),
    isRenamed: isRenamed(entry, plan),
    isHandleLost: isHandleLost(entry, plan),
    isBankLost,
    isOfWise: paymentEmail !== null && method !== null && /\bwise\b|transferwise/i.test(method),
    hasOtherEmails: hasOtherEmails(entry, plan),
    isRateLost: entry.text(plan, 'rate') !== '' && entry.rows.some((_, i) => isFlatRate(entry.row(i), plan)),
  };
}

/** Cells that say that nothing is known. */
export const isUnknown = (text: string) => text === '' || /^(?:nan\s*%?|n\/?a|null|none|-|–)$/i.test(text);

/** A share in percent as its digits; undefined if it cannot be read, null if it is not known. */
export function readPercent(text: string, plan: Pick<Plan, 'rate'>): string | null | undefined {
  if (isUnknown(text)) return null;
  const number = readNumber(text.replace(/\s*%\s*$/, ''));
  if (!number || number.symbols.length > 0) return undefined;
  const { digits, scale } = number.open ? number.open.asDecimal : number.value;
  const shift = plan.rate === 'fraction' && !text.includes('%') ? 2 : 0;
  return String(Number(`${digits}e${shift - scale}`));
}

/** A profile of a ranking or another list for the directory. */
export function judgeProfile(entry: Entry, bench: Bench): Judged {
  const { plan } = bench;
  const toJudged = (line: Judged['line']): Judged => ({
    line,
    uses: 0,
    status: null,
    money: null,
    person: null,
    holding: null,
  });
  const profile = entry.text(plan, 'username');
  const isElsewhere = !['instagram', undefined].includes(readPlatform(profile));
  const username = isElsewhere ? undefined : readHandle(profile);
  if (username === undefined) return toJudged(refuseLine(entry, plan, { problem: 'handle_unreadable' }, null));
  if (hasExtraCells(entry, plan)) return toJudged(refuseLine(entry, plan, { problem: 'too_many_cells' }, null));
  const counts = ['follower_count', 'following_count', 'media_count'].map((field) => {
    const text = entry.text(plan, field);
    return isUnknown(text) ? null : readCount(text, splitScale(plan.headers[plan.columns[field] ?? -1] ?? '').power);
  });
  const rate = readPercent(entry.text(plan, 'engagement_rate'), plan);
  if (counts.includes(undefined) || rate === undefined)
    return toJudged(refuseLine(entry, plan, { problem: 'amount_unreadable' }, null));
  const [followers = null, following = null, media = null] = counts;
  const record: DirectoryRecord = {
    pk: orNull(findId(entry, plan, 'pk')),
    username,
    full_name: orNull(entry.text(plan, 'full_name')),
    follower_count: followers,
    following_count: following,
    media_count: media,
    engagement_rate: rate,
    city: orNull(entry.text(plan, 'city')),
    country: orNull(entry.text(plan, 'country')),
    biography: orNull(entry.text(plan, 'biography')),
  };
  const known_by = record.pk === null ? `username:${username}` : `pk:${record.pk}`;
  return toJudged(makeLine(entry, 'read', null, { record: { kind: 'directory', ...record }, known_by }));
}
