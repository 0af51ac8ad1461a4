import { readHeaderSign } from './currencies.ts';
import { assignPairs } from './currency-pairs.ts';
import { isFlag, isFlagWord } from './flags.ts';
import { fold, foldWords } from './fold.ts';
import type { Format } from './formats/format.ts';
import {
  type Glance,
  isAddresses,
  isAmounts,
  isCurrencies,
  isEmails,
  isHandles,
  isMisnamed,
  isPages,
  isPercent,
  isPhones,
  isPriced,
  isRateTypes,
  isStates,
  isTagged,
  isTimes,
} from './glance.ts';
import { putHollow, takeHollow } from './hollow-columns.ts';
import { FIELDS, type FieldType, isOrders, isPaid, type Kind } from './kinds.ts';
import { isNoStatus } from './no-status.ts';
import { MappingProblem } from './problems.ts';
import { namesInvoice } from './progress.ts';
import { isRateType } from './rate-types.ts';
import type { By, Mapping } from './shapes.ts';
import { bareHeader, findFields } from './words.ts';

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
  /^(?:e|mail|email|emails|mails|id|1|work|business|payee|ambassador|affiliate|affilie|affilies|influencer|influenceur|creator|createur|partner|partenaire|parceiro|promoter|publisher|user|username|login|address|adresse|addresses|what|whats|is|s|your|the|a|best|valid|primary|main|contact|please|enter|wie|lautet|ist|deine|ihre|welche|quelle|est|votre|ton|cual|es|tu|su|correo|electronico|qual|e|il|tuo|la|sua|wat|je|uw|jouw)$/;

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

/**
 * A part of an amount whose cells say something else than how much it is, such as “10%” or “see credit note”: without it
 * the amount is another one. Codes and answers are no parts.
 */
function isUnsaid({ of, headers, glance }: ColumnRequest, field: string, position: number): boolean {
  const seen = glance(position);
  const { filled, money, no, blank, codes } = seen;
  if (money > 0 || filled <= no + blank) return false;
  if (field === 'refunded') return !isFlagWord(headers[position] ?? '');
  const isBefore = isOrders(of) && headers.some((header) => findFields(of, header).includes('subtotal'));
  return field === 'discount' && isBefore && codes + no + blank < filled;
}

/** “Creator” and “Username” stand above addresses, too; beside a column of them a username is another one's. */
const mayBeAddress = ({ of, headers }: ColumnRequest, field: string): boolean =>
  field === 'name' ||
  (FIELDS[of][field] === 'handle' && !headers.some((header) => findFields(of, header).includes('email')));

function collectWords(wish: ColumnRequest, takenColumns: ReadonlySet<number>): Map<string, number[]> {
  const { of, headers, glance } = wish;
  const candidates = new Map<string, number[]>();
  headers.forEach((header, position) => {
    if (takenColumns.has(position)) return;
    for (const namedField of findFields(of, header)) {
      // “Creator” stands above addresses as well as above names.
      const isAddress = FIELDS[of].email && mayBeAddress(wish, namedField) && isAddresses(glance(position));
      if (namedField === 'status' && isNoStatus(wish, position)) continue;
      // “Refunded” stands above days as well as above amounts.
      const isDay = namedField === 'refunded' && of === 'orders' && isTimes(glance(position));
      const field = isAddress ? 'email' : isDay ? 'refunded_at' : namedField;
      const type = FIELDS[of][field];
      if (type === undefined) continue;
      if (isMisnamed(type, glance(position)) && !isUnsaid(wish, field, position)) continue;
      if (field === 'refunded' && isFlag(glance(position)) && isFlagWord(header)) continue;
      if (field === 'code' && isPhones(glance(position))) continue;
      if (field === 'rate' && (BASIS_POINTS.test(header) || readHeaderSign(header))) continue;
      candidates.set(field, [...(candidates.get(field) ?? []), position]);
    }
  });
  return candidates;
}

/**
 * Our own name for a field is stronger than a tool's word, but `Amount` may be anything in another tool's file, and beside
 * a creator's address and the currency of what they earned, `Email` and `Currency` may be those of the sale.
 */
function preferOwn(
  { of, headers, glance }: ColumnRequest,
  field: string,
  type: FieldType,
  positions: readonly number[],
): readonly number[] {
  const maybeOfSale = isPaid(of) && (type === 'email' || type === 'currency');
  if (type === 'money' || type === 'status' || maybeOfSale) return positions;
  const own = positions.filter((position) => fold(unnumber(headers[position] ?? '')) === fold(field));
  const isSeen = own.some((position) => glance(position).filled > 0);
  return own.length > 0 && (isSeen || own.length === positions.length) ? own : positions;
}

/** Words that a sale has as well as what it earned. */
const AMBIGUOUS = new Set(['amount', 'betrag', 'montant', 'importe', 'monto', 'importo', 'bedrag', 'valor', 'kwota']);

const SALE_WORDS = new Set(['order', 'sale', 'store', 'shop', 'bestellung', 'commande', 'pedido', 'ordine']);
const isSaleCurrency = (headers: readonly string[], positions: readonly number[]): boolean =>
  positions.every((at) => foldWords(headers[at] ?? '').some((word) => SALE_WORDS.has(word)));

/** Words above numbers that are no amounts. */
const COUNTS =
  /^(?:番号|ids?|no|nr|number|numbers|nummer|numero|zip|plz|postcode|phone|tel|qty|quantity|menge|anzahl|count|rank|position|year|jahr|month|monat|week|day|days|level|tier|items?|units?|pieces|clicks?|klicks|visits?|views?|impressions?|orders?|bestellungen|conversions?|signups?|leads?|customers?|kunden|referrals?|followers?|follower|posts?|age|rate|percent|percentage|score|rating|iban|account|konto|invoice|line|row)$/;

/** Rates at which one currency was changed into another are no amounts. */
const EXCHANGE =
  /\b(?:exchange|conversion|fx|forex|currency)[\s_-]*rate\b|wechselkurs|umrechnungskurs|taux de change|tipo de cambio/i;

/** Words of amounts: a “line total” counts no lines. */
const SUMMED =
  /^(?:total|totals|amount|sum|value|price|subtotal|summe|betrag|preis|montant|prix|importe|precio|importo|prezzo|bedrag|prijs|valor|preco|kwota|cena)$/;

/** A header of something that is counted or named by a number, and is no amount. */
export function isCounted(header: string): boolean {
  const words = foldWords(header);
  return words.some((word) => COUNTS.test(word)) && !SUMMED.test(words.at(-1) ?? '');
}

/** In a list of people a commission may be a rate, and what was earned: without a percent sign it becomes a question. */
const EARNS =
  /^(?:commissions?|commissionvalue|commissionamount|commissionsize|rewardvalue|rewardamount|provision|comision|commissione|provvigione|commissie|comissao|prowizja|kommission)$/;
const mayBeRate = ({ of, headers, glance }: ColumnRequest, field: string, [at = -1]: readonly number[]): boolean =>
  of === 'roster' &&
  field === 'rate' &&
  EARNS.test(fold(headers[at] ?? '')) &&
  !(headers[at] ?? '').includes('%') &&
  glance(at).percents === 0 &&
  // A column of types says of each rate what it is.
  !headers.some((header, position) => isRateType(header) && isRateTypes(glance(position)));

/** Fees of an order are a part of its total, and those of its payment are not. Where parts make a total, they tell. */
const FEES = new Set(['fees', 'gebuhren', 'frais', 'cargos', 'commissioni', 'toeslagen', 'taxas', 'opłaty', 'oplaty']);
function mayBePaymentFee(
  { headers }: ColumnRequest,
  field: string,
  [at = -1]: readonly number[],
  assignment: Assignment,
): boolean {
  const hasIdentity = assignment.has('total') && (assignment.has('subtotal') || assignment.has('amount'));
  return field === 'fees' && !hasIdentity && FEES.has(fold(bareHeader(headers[at] ?? '')));
}

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
  const [only = -1] = candidates.get(field) ?? [];
  // Beside “Amount”, whole numbers may be what was earned; what is counted says so.
  const isOpen = isPaid(of) && AMBIGUOUS.has(fold(headers[only] ?? '')) && !isPriced(glance(only));
  const mayBeEarned = (at: number) =>
    isPriced(glance(at)) || (isOpen && isAmounts(glance(at)) && !isCounted(headers[at] ?? ''));
  const isUnnamed = (at: number) =>
    !takenColumns.has(at) &&
    !EXCHANGE.test(headers[at] ?? '') &&
    findFields(of, headers[at] ?? '').every((named) => isMisnamed(FIELDS[of][named] ?? 'text', glance(at)));
  const unnamedColumns = headers.flatMap((_, at) => (isUnnamed(at) && mayBeEarned(at) ? [at] : []));
  return isPaid(of) ? [...(candidates.get('sale_amount') ?? []), ...unnamedColumns] : unnamedColumns;
}

function assignByWords(assignment: Assignment, takenColumns: Set<number>, wish: ColumnRequest): void {
  const candidates = collectWords(wish, takenColumns);
  for (const [field, type] of Object.entries(FIELDS[wish.of])) {
    if (assignment.has(field)) continue;
    const words = (candidates.get(field) ?? []).filter((position) => !takenColumns.has(position));
    const own = preferOwn(wish, field, type, words);
    const rivals =
      own.length === 0 ? [] : findRivals(wish, field, candidates, takenColumns).filter((at) => !own.includes(at));
    const positions = [...own, ...rivals];
    const first = positions.find((position) => wish.glance(position).filled > 0) ?? positions[0];
    if (first === undefined) continue;
    const isUnsure =
      positions.some((position) => isUnsaid(wish, field, position)) ||
      (field === 'refunded' && positions.some((position) => isFlag(wish.glance(position)))) ||
      mayBeRate(wish, field, positions) ||
      mayBePaymentFee(wish, field, positions, assignment) ||
      // What was given back of a sale is no payment that came back, and a sale may have another currency.
      (isPaid(wish.of) && (field === 'refunded' || (field === 'currency' && isSaleCurrency(wish.headers, positions))));
    const isSale = isUnsure || mayBeSale(wish, field, positions);
    const isUndecided = isSale || (positions.length > 1 && STRICT_TYPES.has(type));
    const confidence = isUndecided
      ? 'asked'
      : type === 'text' || type === 'list' || type === 'handle'
        ? 'likely'
        : 'proved';
    const by = isSale ? 'values' : 'word';
    const assigned = { field, type, positions: isUndecided ? positions : [first], by, confidence } as const;
    assignment.set(field, isUnsure ? { ...assigned, isOptional: true } : assigned);
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
        !isMisnamed(type, glance(at)) &&
        !(type === 'handle' && isAddresses(glance(at)))
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
  /^(?:commission|commissions|payout|payouts|reward|rewards|share|provision|comision|commissione|commissie|comissao|prowizja|kommission|rate|satz)$/;
/** Rates of something else than of sales. */
const OTHER_RATES =
  /^(?:engagement|tax|vat|response|reply|conversion|open|click|bounce|completion|approval|return|refund|interaktion|steuer|er|growth|view|like)$/;
/** A percentage of the goods for the creator, or one off them for their followers: the header does not say. */
const PERCENTS =
  /^(?:percents?|percentages?|pct|prozente?|prozentsatz|pourcentage|porcentaje|percentuale|percentagem)$/;
const NOT_PARTS =
  /^(?:item|items|lineitem|line|unit|product|price|code|codes|method|status|date|id|number|no|name|type|qty|quantity|count|rate|per|class|country|zone|incl|excl|inc|ex|including|excluding|inkl|exkl|mit|ohne|gross|net|netto|brutto|ht|ttc)$/;

/** An amount after or before a discount is none: it is goods, or shipping. */
const NOT_DISCOUNTS =
  /^(?:subtotal|sub|zwischensumme|after|before|less|nach|vor|abzuglich|apres|avant|despues|antes|dopo|prima|na|voor|apos|po|przed|shipping|delivery|fee|versand)$/;

const CODE_WORDS =
  /^(?:codes?|coupons?|vouchers?|promo|promocode|gutschein|gutscheincode|rabattcode|codigo|codice|cupon|cupom|kod|kortingscode)$/;
const NOT_CODES =
  /^(?:zip|post|postal|province|provincia|county|postleitzahl|country|land|area|dial|dialling|phone|tel|currency|language|qr|bar|sort|swift|bic|bank|tax|vat|product|item|sku|status|order|region|state|iso|type|count|number|uses|used|usage|expiry|expires|expiration|date|value|discount|rabatt|amount|percent|minimum|sales|revenue|postcode|cap)$/;
const PAID_TO =
  /^(?:accounts?|details|paypal|wise|payout|payouts|payment|payments|wallet|konto|kontodaten|zahlung|auszahlung|compte|coordonnees|cuenta|datos|conto|rekening|conta|dane)$/;
/** Headers of links that may be pages of the shop as well as those of another tool. */
const PLAIN_LINKS = new Set(['link', 'links']);

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
        words.some((word) => pattern.test(word)) &&
        !words.some((word) => NOT_PARTS.test(word) || (field === 'discount' && NOT_DISCOUNTS.test(word)));
      ask(
        field,
        find((at, words) => isPart(words) && isAmounts(glance(at)) && !isFlag(glance(at))),
      );
    }
  ask(
    'status',
    find((at) => isStates(glance(at)) && !(isPaid(of) && namesInvoice(headers[at] ?? ''))),
  );
  const isSomebody = ['name', 'first_name', 'handle', 'instagram', 'tiktok', 'code'].some((field) =>
    assignment.has(field),
  );
  if (isSomebody && of !== 'payment_details')
    ask(
      'email',
      find((at) => isEmails(glance(at))),
    );
  // Where money is to be sent may stand under any header: “Account”, “Details”, “Send to”.
  if (isSomebody || assignment.has('email'))
    ask(
      'payment_email',
      of === 'payment_details'
        ? find(
            (at, words) => isEmails(glance(at)) || (glance(at).emails > 0 && words.some((word) => PAID_TO.test(word))),
          )
        : [],
    );
  const address = assignment.get('email');
  const [only, ...others] = address?.positions ?? [];
  const isSaid = foldWords(headers[only ?? -1] ?? '').every((word) => ASKS_EMAIL.test(word));
  if (address?.by === 'values' && only !== undefined && others.length === 0 && isSaid)
    assignment.set('email', { ...address, by: 'word', confidence: 'proved', isOptional: false });
  if (of === 'roster')
    ask(
      'code',
      find(
        (at, words) =>
          words.some((word) => CODE_WORDS.test(word)) &&
          !words.some((word) => NOT_CODES.test(word)) &&
          glance(at).codes > 0 &&
          glance(at).codes === glance(at).filled,
      ),
    );
  const hasHandles = assignment.has('instagram') || assignment.has('tiktok');
  if (of === 'roster' && !hasHandles)
    ask(
      'instagram',
      find((at) => isHandles(glance(at))),
    );
  const link = assignment.get('link')?.positions[0] ?? -1;
  const isPlain = PLAIN_LINKS.has(fold(headers[link] ?? '')) && isPages(glance(link));
  if (of === 'roster' && (isPlain || isTagged(glance(link)))) ask('destination_url', [link]);
  if (of === 'roster')
    ask(
      'rate',
      find((at, words) => {
        const header = headers[at] ?? '';
        if (words.some((word) => OTHER_RATES.test(word))) return false;
        const isShare = glance(at).percents > 0 || header.includes('%');
        const isNamed = words.some((word) => PAYS.test(word)) || header.trim() === '%' || PERCENTS.test(fold(header));
        return isShare && !isMisnamed('rate', glance(at)) && isNamed;
      }),
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
  const hollow = takeHollow(assignment, wish.glance);
  assignLoosely(assignment, takenColumns, wish);
  assignByChance(assignment, takenColumns, wish);
  putHollow(assignment, hollow, STRICT_TYPES);
  assignPairs(assignment, takenColumns, {
    headers: wish.headers,
    isCurrencies: (position) => isCurrencies(wish.glance(position)),
    isAmounts: (position) => isAmounts(wish.glance(position)),
  });
  return assignment;
}
