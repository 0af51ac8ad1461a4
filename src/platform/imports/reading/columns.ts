import { readSign } from './currencies.ts';
import { isFlag } from './flags.ts';
import { fold, foldWords } from './fold.ts';
import type { Format } from './formats/format.ts';
import { type Glance, isAmounts, isCurrencies, isEmails, isMisnamed, isPercent, isPriced, isStates } from './glance.ts';
import { FIELDS, type FieldType, isOrders, isPaid, type Kind } from './kinds.ts';
import { readPlatform } from './people.ts';
import { MappingProblem } from './problems.ts';
import type { ColumnProfile } from './profile.ts';
import type { By, Mapping } from './shapes.ts';
import { findFields } from './words.ts';

/** The columns that a field may be: one if it is settled, several if it must be asked. */
export interface Assigned {
  field: string;
  type: FieldType;
  positions: readonly number[];
  by: By;
  confidence: 'proved' | 'likely' | 'asked';
  /** The field may have no column at all. */
  isOptional?: boolean;
}

export type Assignment = Map<string, Assigned>;

export const listTakenColumns = (assignment: Assignment): Set<number> =>
  new Set([...assignment.values()].flatMap(({ positions }) => positions));

/** A header's position: written exactly so, else folded. */
export function findHeader(headers: readonly string[], name: string): number {
  const exact = headers.indexOf(name);
  return exact >= 0 ? exact : headers.findIndex((header) => fold(header) !== '' && fold(header) === fold(name));
}

/** A header that stands several times, without its place among them. */
const unnumber = (header: string) => header.replace(/ \(\d+\)$/, '');

/** The positions of a header that stands several times in the file. */
function findRepeated(headers: readonly string[], position: number): number[] {
  const name = headers[position] ?? '';
  const isSame = (header: string) => header.startsWith(`${name} (`) && /^\d+\)$/.test(header.slice(name.length + 2));
  return headers.flatMap((header, at) => (at === position || isSame(header) ? [at] : []));
}

/** Names, notes and handles may be found by a word within a header. */
const LOOSE: readonly (readonly [string, RegExp])[] = [
  ['instagram', /^(?:instagram|insta|ig)$/],
  ['tiktok', /^(?:tiktok|tt)$/],
  ['instagram', /^(?:handle|handles|username|profile|profil|social|socials)$/],
  ['note', /^(?:note|notes|notiz|notizen|comment|comments|kommentar)$/],
  ['first_name', /^(?:firstname|vorname|prenom)$/],
  [
    'name',
    /^(?:name|naam|nombre|nome|nom|namn|navn|heisst|heissen|appelles|appelez|llamas|llama|chiami|chiama|heet|imie)$/,
  ],
];
const NOT_NAMES =
  /^(?:campaign|kampagne|campagne|campana|agency|agentur|manager|program|programme|event|list|code|coupon|file|company|user|shop|store|business|brand|product|firma|first|last|domain|marke|unternehmen|entreprise|societe|marque|empresa|marca|azienda|bedrijf|merk)$/;

/** A question of a form that asks for an address has these words and no others. */
const ASKS_EMAIL =
  /^(?:e|mail|email|emails|mails|address|adresse|addresses|what|whats|is|s|your|the|a|best|valid|primary|main|contact|please|enter|wie|lautet|ist|deine|ihre|welche|quelle|est|votre|ton|cual|es|tu|su|correo|electronico|qual|e|il|tuo|la|sua|wat|je|uw|jouw)$/;

/** Fields that decide who, how much and when, whose words are not enough if several columns have them. */
const STRICT_TYPES: ReadonlySet<FieldType> = new Set(['id', 'money', 'time', 'currency', 'status', 'email', 'rate']);

interface ColumnRequest {
  of: Kind;
  headers: readonly string[];
  format: Format | undefined;
  mapping: Mapping;
  stored: Mapping;
  glance: (position: number) => Glance;
}

/** Throws if a mapping names a field or a column that is not there. */
export function assertColumns(of: Kind, headers: readonly string[], { columns = {} }: Mapping): void {
  for (const [field, header] of Object.entries(columns)) {
    const name = `mapping.columns.${field}`;
    if (FIELDS[of][field] === undefined) {
      const fields = Object.keys(FIELDS[of]).join(', ');
      throw new MappingProblem(name, 'invalid', `is not a field of this kind of file. Its fields are ${fields}.`);
    }
    if (header === null || findHeader(headers, header) >= 0) continue;
    const has = headers.slice(0, 60).join(', ').slice(0, 2_000);
    throw new MappingProblem(name, 'not_found', `is “${header}”, a column that the file lacks. It has ${has}.`);
  }
}

function assignSaid(
  assignment: Assignment,
  takenColumns: Set<number>,
  { of, headers }: ColumnRequest,
  said: Mapping,
  by: By,
): void {
  for (const [field, header] of Object.entries(said.columns ?? {})) {
    const type = FIELDS[of][field];
    const position = header === null ? -1 : findHeader(headers, header);
    if (type === undefined || assignment.has(field) || (header !== null && position < 0)) continue;
    assignment.set(field, { field, type, positions: position < 0 ? [] : [position], by, confidence: 'proved' });
    if (position >= 0) takenColumns.add(position);
  }
}

function assignByFormat(
  assignment: Assignment,
  takenColumns: Set<number>,
  { of, headers, format }: ColumnRequest,
): void {
  for (const [field, names] of Object.entries(format?.columns ?? {})) {
    const type = FIELDS[of][field];
    if (type === undefined || assignment.has(field)) continue;
    const firstColumn = (names ?? [])
      .map((name) => findHeader(headers, name))
      .find((at) => at >= 0 && !takenColumns.has(at));
    if (names !== null && firstColumn === undefined) continue;
    const positions = firstColumn === undefined ? [] : findRepeated(headers, firstColumn);
    const by = format?.key === 'rollcall' ? 'own' : 'format';
    const confidence = positions.length > 1 ? 'asked' : 'proved';
    assignment.set(field, { field, type, positions, by, confidence });
    for (const position of positions) takenColumns.add(position);
  }
}

/** Rates are percentages or shares; hundredths of a percent are not read as either. */
const BASIS_POINTS = /\b(?:bps|bp|basis points?|basispunkte?)\b/i;

function collectWords(
  { of, headers, glance }: ColumnRequest,
  takenColumns: ReadonlySet<number>,
): Map<string, number[]> {
  const candidates = new Map<string, number[]>();
  headers.forEach((header, position) => {
    if (takenColumns.has(position)) return;
    for (const namedField of findFields(of, header)) {
      // “Creator” stands above addresses as well as above names.
      const field = namedField === 'name' && FIELDS[of].email && isEmails(glance(position)) ? 'email' : namedField;
      const type = FIELDS[of][field];
      if (type === undefined || isMisnamed(type, glance(position))) continue;
      if (field === 'refunded' && isFlag(glance(position))) continue;
      if (field === 'rate' && BASIS_POINTS.test(header)) continue;
      candidates.set(field, [...(candidates.get(field) ?? []), position]);
    }
  });
  return candidates;
}

/** Our own name for a field is stronger than a tool's word, but `Amount` may be anything in another tool's file. */
function preferOwn(
  field: string,
  type: FieldType,
  positions: readonly number[],
  headers: readonly string[],
): readonly number[] {
  if (type === 'money' || type === 'status') return positions;
  const own = positions.filter((position) => fold(unnumber(headers[position] ?? '')) === fold(field));
  return own.length > 0 ? own : positions;
}

/** Words that a sale has as well as what it earned. */
const AMBIGUOUS = new Set(['amount', 'betrag', 'montant', 'importe', 'monto', 'importo', 'bedrag', 'valor', 'kwota']);

/** In a list of people a commission may be a rate, and what was earned: without a percent sign it becomes a question. */
const EARNS = /^(?:commissions?|provision|comision|commissione|provvigione|commissie|comissao|prowizja|kommission)$/;
const mayBeEarned = ({ of, headers, glance }: ColumnRequest, field: string, [at = -1]: readonly number[]): boolean =>
  of === 'roster' && field === 'rate' && EARNS.test(fold(headers[at] ?? '')) && glance(at).percents === 0;

/** Beside percentages an amount may be what they are of: then it is looked for even if it is the only one. */
function mayBeSale(
  { of, headers, glance }: ColumnRequest,
  field: string,
  [position, ...others]: readonly number[],
): boolean {
  if (!isPaid(of) || field !== 'amount' || position === undefined || others.length > 0) return false;
  return AMBIGUOUS.has(fold(headers[position] ?? '')) && headers.some((_, at) => isPercent(glance(at)));
}

/**
 * Columns of amounts beside one that only a word names: a word is never enough for an amount beside another. Orders
 * have identities that tell their amounts apart, unless there is nothing to add up to.
 */
function findRivals(
  { of, headers, glance }: ColumnRequest,
  field: string,
  candidates: ReadonlyMap<string, readonly number[]>,
  takenColumns: ReadonlySet<number>,
): readonly number[] {
  const hasIdentity = candidates.has('total') || candidates.has('subtotal');
  if (field !== 'amount' || (isOrders(of) && hasIdentity)) return [];
  const isUnnamed = (at: number) =>
    !takenColumns.has(at) &&
    findFields(of, headers[at] ?? '').every((named) => isMisnamed(FIELDS[of][named] ?? 'text', glance(at)));
  const unnamedColumns = headers.flatMap((_, at) => (isUnnamed(at) && isPriced(glance(at)) ? [at] : []));
  return isPaid(of) ? [...(candidates.get('sale_amount') ?? []), ...unnamedColumns] : unnamedColumns;
}

function assignByWords(assignment: Assignment, takenColumns: Set<number>, wish: ColumnRequest): void {
  const candidates = collectWords(wish, takenColumns);
  for (const [field, type] of Object.entries(FIELDS[wish.of])) {
    if (assignment.has(field)) continue;
    const words = (candidates.get(field) ?? []).filter((position) => !takenColumns.has(position));
    const own = preferOwn(field, type, words, wish.headers);
    const rivals =
      own.length === 0 ? [] : findRivals(wish, field, candidates, takenColumns).filter((at) => !own.includes(at));
    const positions = [...own, ...rivals];
    const [first] = positions;
    if (first === undefined) continue;
    const isEarned = mayBeEarned(wish, field, positions);
    const isSale = isEarned || mayBeSale(wish, field, positions);
    const isUndecided = isSale || (positions.length > 1 && STRICT_TYPES.has(type));
    const confidence = isUndecided
      ? 'asked'
      : type === 'text' || type === 'list' || type === 'handle'
        ? 'likely'
        : 'proved';
    const by = isSale ? 'values' : 'word';
    const assigned = { field, type, positions: isUndecided ? positions : [first], by, confidence } as const;
    assignment.set(field, isEarned ? { ...assigned, isOptional: true } : assigned);
    for (const position of isUndecided ? own : [first]) takenColumns.add(position);
  }
}

/** Fields that no header names exactly are looked for by a word within headers. */
function assignLoosely(assignment: Assignment, takenColumns: Set<number>, wish: ColumnRequest): void {
  const { of, headers, glance } = wish;
  for (const [looseField, pattern] of LOOSE) {
    const field = FIELDS[of][looseField]
      ? looseField
      : looseField === 'instagram' && FIELDS[of].handle
        ? 'handle'
        : undefined;
    const type = field === undefined ? undefined : FIELDS[of][field];
    if (field === undefined || type === undefined || assignment.has(field)) continue;
    if (field === 'name' && (assignment.has('first_name') || assignment.has('last_name'))) continue;
    const position = headers.findIndex((header, at) => {
      const words = takenColumns.has(at) ? [] : foldWords(header);
      return (
        words.some((word) => pattern.test(word)) &&
        !(looseField === 'name' && words.some((word) => NOT_NAMES.test(word))) &&
        !isMisnamed(type, glance(at))
      );
    });
    if (position < 0) continue;
    assignment.set(field, { field, type, positions: [position], by: 'word', confidence: 'likely' });
    takenColumns.add(position);
  }
}

/** Words within a header of an amount that may be a part of an order. */
const PART_WORDS: readonly (readonly [string, RegExp])[] = [
  ['taxes', /^(?:tax|taxes|vat|gst|hst|mwst|ust|steuer|steuern|tva|taxe|iva|impuestos|imposta|btw|podatek|moms|kdv)$/],
  [
    'shipping',
    /^(?:shipping|delivery|postage|freight|versand|versandkosten|livraison|envio|spedizione|verzending|frete|wysylka|frakt)$/,
  ],
  ['discount', /^(?:discount|discounts|rabatt|remise|descuento|sconto|korting|desconto|rabat)$/],
  [
    'refunded',
    /^(?:refund|refunds|refunded|returns|erstattung|erstattet|rembourse|remboursement|reembolso|rimborso|terugbetaald|zwrot)$/,
  ],
];
const PAYS =
  /^(?:commission|commissions|provision|comision|commissione|commissie|comissao|prowizja|kommission|rate|satz)$/;
const NOT_PARTS =
  /^(?:item|items|lineitem|line|unit|product|price|code|codes|method|status|date|id|number|no|name|type|qty|quantity|count|rate|per|class|country|zone)$/;

/** Columns that no word names and that may matter to what is recorded: each becomes a question, unless nothing differs. */
function assignByChance(
  assignment: Assignment,
  takenColumns: Set<number>,
  { of, headers, format, glance }: ColumnRequest,
): void {
  // A form's own columns say nothing of its questions.
  if (format && Object.keys(format.columns).length > 0) return;
  const ask = (field: string, positions: readonly number[]) => {
    const type = FIELDS[of][field];
    if (type === undefined || assignment.has(field) || positions.length === 0) return;
    assignment.set(field, { field, type, positions, by: 'values', confidence: 'asked', isOptional: true });
    for (const position of positions) takenColumns.add(position);
  };
  const find = (isIt: (position: number, words: readonly string[]) => boolean) =>
    headers.flatMap((header, at) => (!takenColumns.has(at) && isIt(at, foldWords(header)) ? [at] : []));
  if (isOrders(of) || isPaid(of))
    ask(
      'currency',
      find((at) => isCurrencies(glance(at))),
    );
  if (of === 'orders')
    for (const [field, pattern] of PART_WORDS) {
      const isPart = (words: readonly string[]) =>
        words.some((word) => pattern.test(word)) && !words.some((word) => NOT_PARTS.test(word));
      ask(
        field,
        find((at, words) => isPart(words) && isAmounts(glance(at)) && !isFlag(glance(at))),
      );
    }
  ask(
    'status',
    find((at) => isStates(glance(at))),
  );
  const isSomebody = ['name', 'first_name', 'handle', 'instagram', 'tiktok', 'code'].some((field) =>
    assignment.has(field),
  );
  if (isSomebody && of !== 'payment_details')
    ask(
      'email',
      find((at) => isEmails(glance(at))),
    );
  const address = assignment.get('email');
  const [only, ...others] = address?.positions ?? [];
  const isSaid = foldWords(headers[only ?? -1] ?? '').every((word) => ASKS_EMAIL.test(word));
  if (address?.by === 'values' && only !== undefined && others.length === 0 && isSaid)
    assignment.set('email', { ...address, by: 'word', confidence: 'proved', isOptional: false });
  if (of === 'roster')
    ask(
      'rate',
      find((at, words) => glance(at).percents > 0 && words.some((word) => PAYS.test(word))),
    );
}

/** The columns by their headers alone. What cells say is added when they are known. */
export function assignColumns(wish: ColumnRequest): Assignment {
  const assignment: Assignment = new Map();
  const takenColumns = new Set<number>();
  assertColumns(wish.of, wish.headers, wish.mapping);
  assignSaid(assignment, takenColumns, wish, wish.mapping, 'mapping');
  assignSaid(assignment, takenColumns, wish, wish.stored, 'stored');
  assignByFormat(assignment, takenColumns, wish);
  assignByWords(assignment, takenColumns, wish);
  assignLoosely(assignment, takenColumns, wish);
  assignByChance(assignment, takenColumns, wish);
  return assignment;
}

const share = (part: number, profile: ColumnProfile) => (profile.filled === 0 ? 0 : part / profile.filled);

/** A column fits a type if all of its cells do. */
export function fits(type: FieldType, profile: ColumnProfile): boolean {
  if (profile.filled === 0) return false;
  if (type === 'email') return share(profile.email, profile) === 1;
  if (type === 'money')
    return (
      share(profile.money.read, profile) === 1 &&
      profile.time.texts === 0 &&
      [...profile.money.symbols.keys()].every((symbol) => readSign(symbol) !== undefined)
    );
  if (type === 'time')
    return share(profile.time.read, profile) === 1 && (profile.time.texts > 0 || profile.time.digits.size === 1);
  if (type === 'handle') return share(profile.handle, profile) === 1;
  return type === 'id' || type === 'text';
}

/** Fields without which nothing can be read; of several in a row, one suffices. */
export function listNeeded(of: Kind): readonly (readonly string[])[] {
  if (isOrders(of)) {
    const goods = ['amount', 'subtotal', 'total'];
    const identity = ['order_id', 'order_number'];
    return of === 'reconciliation' ? [identity, goods] : [identity, ['placed_at', 'paid_at'], goods];
  }
  if (isPaid(of)) return [['email', 'handle', 'name', 'code'], ['amount'], ['paid_at']];
  if (of === 'directory') return [['username']];
  if (of === 'payment_details')
    return [
      ['email', 'instagram', 'tiktok', 'code', 'name'],
      ['payment_email', 'payment_method'],
    ];
  return [['email', 'instagram', 'tiktok']];
}

/** The type that stands for a group of needed fields when no header says which column it is. */
const NEEDED_TYPE: Readonly<Record<string, FieldType>> = {
  order_id: 'id',
  placed_at: 'time',
  amount: 'money',
  email: 'email',
  instagram: 'handle',
  paid_at: 'time',
  username: 'handle',
  payment_email: 'email',
};

/** The fields of a group that cells can show a column to be, with their types. */
export const listWanted = (group: readonly string[]): { field: string; type: FieldType }[] =>
  group.flatMap((field) => {
    const type = NEEDED_TYPE[field];
    return type === undefined ? [] : [{ field, type }];
  });

const findFitting = (
  type: FieldType,
  takenColumns: ReadonlySet<number>,
  profiles: ReadonlyMap<number, ColumnProfile>,
) => [...profiles].filter(([at, profile]) => !takenColumns.has(at) && fits(type, profile)).map(([at]) => at);

const COUNTED = /^(?:id|ids|no|nr|number|nummer|numero|zip|plz|phone|tel|qty|quantity|menge|rank|position|番号)$/;

/** Those that are rather meant first: amounts with decimals before numbers of something, handles that are written so. */
function rank(
  type: FieldType,
  positions: readonly number[],
  headers: readonly string[],
  profiles: ReadonlyMap<number, ColumnProfile>,
): number[] {
  const isRather = (position: number): boolean => {
    const profile = profiles.get(position);
    if (!profile) return false;
    if (type === 'money') return profile.money.fractions > 0 || profile.money.symbols.size > 0;
    if (type === 'handle')
      return profile.samples.every((text) => text.startsWith('@') || readPlatform(text) !== undefined);
    return false;
  };
  const isCounted = (position: number) => foldWords(headers[position] ?? '').some((word) => COUNTED.test(word));
  const meantPositions = type === 'money' ? positions.filter((position) => !isCounted(position)) : positions;
  const candidates = meantPositions.length > 0 ? meantPositions : positions;
  return [...candidates.filter(isRather), ...candidates.filter((position) => !isRather(position))];
}

interface ValuesRequest {
  of: Kind;
  headers: readonly string[];
  constants: Readonly<Record<string, string>>;
  /** Columns that say whether a record counts. */
  flagged: readonly number[];
}

/** Columns that may be a needed field by their cells. One of addresses is settled; everything else becomes a question. */
export function assignByValues(
  assignment: Assignment,
  { of, headers, constants, flagged }: ValuesRequest,
  profiles: ReadonlyMap<number, ColumnProfile>,
): void {
  const takenColumns = new Set([...listTakenColumns(assignment), ...flagged]);
  for (const group of listNeeded(of)) {
    const isThere = (field: string) =>
      (assignment.get(field)?.positions.length ?? 0) > 0 || constants[field] !== undefined;
    if (group.some((field) => isThere(field) || assignment.get(field)?.by === 'mapping')) continue;
    const fittingField = listWanted(group)
      .map(({ field, type }) => ({ field, type, positions: findFitting(type, takenColumns, profiles) }))
      .find(({ positions }) => positions.length > 0);
    if (!fittingField) continue;
    const { field, type, positions } = fittingField;
    const isSettled = type === 'email' && positions.length === 1;
    assignment.set(field, {
      field,
      type,
      positions: rank(type, positions, headers, profiles).slice(0, 8),
      by: 'values',
      confidence: isSettled ? 'proved' : 'asked',
    });
  }
}

/** Columns that have the same cells throughout are one: which of them is read makes no difference. */
export function mergeSame(assignment: Assignment, profiles: ReadonlyMap<number, ColumnProfile>): void {
  for (const [field, assigned] of assignment) {
    const { positions, confidence, by } = assigned;
    if (confidence !== 'asked') continue;
    const filledPositions = positions.filter((position) => (profiles.get(position)?.filled ?? 0) > 0);
    const keptPositions = filledPositions.length > 0 ? filledPositions : positions.slice(0, 1);
    const digests = new Set(keptPositions.map((position) => profiles.get(position)?.digest));
    // A column that no word names is looked for even if it is the only one that may be meant.
    if (digests.size > 1 || by === 'values') assignment.set(field, { ...assigned, positions: keptPositions });
    else assignment.set(field, { ...assigned, positions: keptPositions.slice(0, 1), confidence: 'proved' });
  }
}
