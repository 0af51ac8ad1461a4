import { readAnswer } from './answers.ts';
import { foldWords } from './fold.ts';
import { isOrders, isPaid, type Kind } from './kinds.ts';
import { isKnownState, isLost } from './statuses.ts';

/** A state that a word names, and the answer by which a record below that word has it. */
export interface State {
  status: string;
  by: 'yes' | 'no';
}

type Lists = Readonly<Record<string, string>>;

export const foldJoined = (text: string): string => foldWords(text).join('');

/** Words for the states by which a record does not count, several languages to each. */
const LOST: Lists = {
  refunded: `refunded|returned|restocked|erstattet|rembourse|remboursee|reembolsado|reembolsada|rimborsato|rimborsata|terugbetaald
    |zwrocono|zwrot|zwrocone|aterbetald|refunderet|refundert|возвращено|返金済み|已退款|palautettu|vráceno|iade edildi`,
  'partially refunded': 'partially refunded|partly refunded|partial refund|teilerstattet|teilweise erstattet',
  cancelled: `cancelled|canceled|storniert|annule|annulee|cancelado|cancelada|annullato|annullata|geannuleerd|anulowano
    |anulowane|avbruten|annulleret|kansellert|отменён|отменено|скасовано|キャンセル済み|已取消|취소됨|peruttu|zrušeno|törölve|iptal edildi
    |anulat|ακυρωμένο|đã hủy|ملغي|בוטל`,
  voided: 'voided|void|uncaptured|revoked',
  rejected: `rejected|declined|denied|refused|disapproved|abgelehnt|refuse|refusee|rechazado|rechazada|rifiutato|geweigerd
    |recusado|odrzucone|отклонено|却下|已拒绝`,
  disputed: 'disputed|chargeback|chargedback|fraud|fraudulent|reversed',
  failed: 'failed|failure|bounced|bounce|unsuccessful|unclaimed|fehlgeschlagen|echoue|fallido|fallito|mislukt',
  deleted: 'deleted|geloscht|trashed',
  unsubscribed:
    'unsubscribed|unsubscribe|unsub|unsubbed|optout|optedout|abgemeldet|desabonne|donotcontact|donotmail|dnc',
  inactive: `left|terminated|archived|churned|removed|inactive|inaktiv|inactif|paused|deactivated|disabled|ended|quit|pausiert
    |deaktiviert|beendet|desactive|desactivado|disattivato|gedeactiveerd|desativado`,
  blocked: 'blocked|banned|suspended|blacklisted|gesperrt|bloque|bloqueado|bloccato',
  test: 'test|testing|sandbox|dummy',
  unpaid: `unpaid|awaiting|outstanding|impaye|impayee|impagado|impagada|maksamatta|odenmedi|απλήρωτο|未払い|未払`,
  pending: `pending|ausstehend|en attente|pendiente|in attesa|in behandeling|pendente|oczekujące|väntande|afventer|odottaa
    |čeká|függőben|beklemede|в ожидании|ожидает|очікує|保留中|待处理|대기중|în așteptare|εκκρεμεί|đang chờ|معلق|ממתין`,
  hold: 'hold|held|withheld|zuruckgehalten|retenu|retenido|trattenuto|ingehouden|retido|wstrzymane',
  draft: 'draft|entwurf|brouillon|borrador|bozza|rascunho|szkic',
  duplicate: 'duplicate|duplicated|duplikat|doppelt|doublon|duplicado|duplicato|dubbel|duplikat',
  abandoned: 'abandoned|abgebrochen|abandonne|abandonado|abbandonato',
};

/** Words for the states without which a record does not count. */
const KEPT: Lists = {
  unpaid: `paid|bezahlt|paye|payee|pagado|pagada|pagato|pagata|betaald|pago|paga|oplacono|oplacone|zaplacone|betald
    |betalt|zapłacono|wypłacono|wypłacone|zaplaceno|uhrazeno|vyplaceno|maksettu|kifizetve|kifizetett|ödendi|ödenmiş|оплачено|оплачен
    |выплачено|плачено|платено|сплачено|виплачено|已支付|已付款|支払済|支払済み|支払い済み|支払い済|지급완료|지급 완료|결제완료|liquidado|liquidada
    |πληρωμένο|πληρώθηκε|plătit|plătită|đã thanh toán|שולם|مدفوع|تم الدفع`,
  'not approved': `approved|confirmed|valid|accepted|genehmigt|bestatigt|freigegeben|approuve|aprobado|aprobada|approvato
    |goedgekeurd|aprovado|zatwierdzone|godkänd|godkendt|одобрено|подтверждено|承認済み|已批准|승인됨|onaylandı|schváleno`,
  inactive: 'active|aktiv|actif|activo|attivo|actief|ativo|enabled|activated|aktiviert|activé|habilitado|ingeschakeld',
  'no consent':
    'consent|consented|gdpr|gdprconsent|optin|optedin|einwilligung|dsgvo|consentement|consentimiento|consenso',
  'not completed': `completed|complete|abgeschlossen|captured|termine|terminee|completado|completada|completato|completata
    |voltooid|concluido|zrealizowane|slutford|succeeded|successful|erfolgreich`,
  'not eligible': 'eligible|qualified|payable',
  test: 'livemode',
};

/** Words that ask the same above a column, and that name a line of its own kind, or something else, below one. */
const LOST_NOUNS: Lists = {
  refunded: `refund|refunds|return|returns|erstattung|retoure|remboursement|reembolso|devolucion|rimborso|reso`,
  cancelled: 'cancellation|storno|stornierung|annulation|cancelacion|annullamento',
  disputed: 'dispute|disputes|chargebacks',
  'not eligible': 'ineligible|disqualified',
};
const KEPT_NOUNS: Lists = {
  'not approved': 'approval|genehmigung|freigabe|approbation|aprobacion|approvazione|goedkeuring|aprovacao',
  unpaid: `payment received|payment made|payment done|payout made|payout done|payment cleared|payment processed|payment sent
    |payment confirmed|zahlung erhalten|zahlung eingegangen|zahlungseingang|paiement recu|pago recibido|pagamento ricevuto
    |betaling ontvangen|pagamento recebido`,
};
/** Words that say of money that it was paid, and of an order or a letter something else. */
const SENT: Lists = {
  unpaid: `sent|settled|transferred|paidout|uberwiesen|ausgezahlt|gesendet|envoye|verse|enviado|inviato|verzonden|cleared
    |remitted|disbursed|processed|executed|released|settlement|remittance|disbursement|utbetald|udbetalt|utbetalt|выплачен`,
  'not done':
    'done|made|issued|erledigt|fait|hecho|fatto|gedaan|feito|received|erhalten|recu|recibido|ricevuto|ontvangen',
};
/** Sales for which nobody paid, or which came back. */
const UNSOLD: Lists = {
  sample: 'sample|samples|muster|musterbestellung|echantillon|muestra|campione|seeding|gifting',
  replacement:
    'replacement|replaced|ersatz|ersatzlieferung|remplacement|reemplazo|sostituzione|exchange|warranty|reshipment',
  'not delivered': 'rto|return to origin|return to sender|undelivered|undeliverable|zustellung fehlgeschlagen',
};
/** States that may hold beside others: nothing but the question tells what they mean for a record. */
const UNSURE = new Set('authorized authorised invited scheduled due open processing locked'.split(' '));

const index = (lists: Lists, by: State['by']): [string, State][] =>
  Object.entries(lists).flatMap(([status, words]) =>
    words.split(/[|\n]+/).flatMap((word): [string, State][] => {
      const joined = foldJoined(word);
      return joined === '' ? [] : [[joined, { status: foldJoined(status), by }]];
    }),
  );

const WORDS = new Map([...index(LOST, 'yes'), ...index(KEPT, 'no')]);
const NOUNS = new Map([...index(LOST_NOUNS, 'yes'), ...index(KEPT_NOUNS, 'no')]);
const OF_MONEY = new Map(index(SENT, 'no'));
const OF_SALES = new Map(index(UNSOLD, 'yes'));

/** Endings by which a word agrees with what it stands beside: stornierte, annulées, cancelados. */
const bareWord = (word: string): string => word.replace(/(?:e[nrsm]?|[aoi]s?|s)$/, '');
const BARE = new Map(
  [...NOUNS, ...WORDS].flatMap(([word, state]): [string, State][] =>
    word.length > 4 ? [[bareWord(word), state]] : [],
  ),
);

/** The state of a cell by which a sale, a payment or somebody is lost, in any form of its word, or its opposite. */
export function readLossState(word: string): State | undefined {
  const plain = WORDS.get(word) ?? NOUNS.get(word) ?? OF_SALES.get(word);
  if (plain || word.length < 5) return plain;
  return BARE.get(bareWord(word));
}

/** A joined word that names a state, in any of its forms, or its opposite. */
export function namesState(word: string): boolean {
  const isNamed = (each: string) => WORDS.has(each) || NOUNS.has(each) || OF_MONEY.has(each) || OF_SALES.has(each);
  if (isNamed(word)) return true;
  const bare = bareWord(word);
  if (bare.length > 4 && BARE.has(bare)) return true;
  return NEGATIONS.some((negation) => word.startsWith(negation) && WORDS.has(word.slice(negation.length)));
}

/** The state that a joined word names in a cell. */
export const readCellState = (word: string): State | undefined =>
  WORDS.get(word) ?? NOUNS.get(word) ?? OF_MONEY.get(word);

/** A word that stands in cells for a state. */
export const isStateWord = (word: string): boolean => WORDS.has(word);

/** A header that asks for a yes or no. */
export const isAskingWord = (word: string): boolean => WORDS.has(word) || NOUNS.has(word);

const readPlainState = (word: string, of: Kind): State | undefined =>
  WORDS.get(word) ??
  NOUNS.get(word) ??
  (isPaid(of) ? OF_MONEY.get(word) : undefined) ??
  (of === 'orders' ? OF_SALES.get(word) : undefined) ??
  // A word that is a known state below a status is one above a column, too.
  (isKnownState(word) && !UNSURE.has(word) && isLost(of, word) ? { status: word, by: 'yes' } : undefined);

const opposite = ({ status, by }: State): State => ({ status, by: by === 'yes' ? 'no' : 'yes' });

/** Beginnings of words that turn them into their opposite: unpaid, unbezahlt, obetald, niezapłacone, неоплачено, 未支付. */
const NEGATIONS = ['un', 'in', 'non', 'nie', 'ne', 'on', 'o', 'u', 'не', '未', '미', 'im'];

/** The state that a joined word above a column names in a kind of file, also in its opposite. */
function readHeaderState(word: string, of: Kind): State | undefined {
  const plain = readPlainState(word, of);
  if (plain || word === '') return plain;
  for (const negation of NEGATIONS) {
    const rest = word.startsWith(negation) ? readPlainState(word.slice(negation.length), of) : undefined;
    if (rest) return opposite(rest);
  }
  return undefined;
}

const NOT = new Set(
  'not non never nicht kein keine pas nie niet no sin sem senza nao nem ne nu ikke icke inte ej ei не μη δεν לא غير لم chua khong'.split(
    ' ',
  ),
);

const WITHOUT = new Set(['without', 'ohne', 'sans']);
/** A word by which others say the opposite: not, kein, sans. */
export const isNegation = (word: string): boolean => NOT.has(word) || WITHOUT.has(word);

/** Words of a header that say nothing of what its column asks. */
const FILLERS = new Set(
  `is was has been at on since from all time date yes no y n ja nein oui non si the of by to for a an already fully currently flag
   email emails mail marketing am le el il em op w dne den på`.split(/\s+/),
);
/** Words for what a record is, or a part of it. */
const RECORDS = new Set(
  `order orders payment payments transaction transactions invoice invoices payout payouts commission commissions sale sales purchase
   bestellung auftrag zahlung auszahlung rechnung provision commande paiement facture virement pedido pago pagos factura
   ordine pagamento fattura bestelling betaling uitbetaling factuur fatura comision comissao commissione
   affiliate partner creator influencer ambassador publisher program programme contract cooperation collaboration vertrag
   kooperation programm line row entry record`.split(/\s+/),
);
/** Words that ask about an order as well, where nothing stands beside them. */
const PAYMENTS = new Set(
  'payment payments transaction zahlung paiement pago pagos pagamento betaling płatność'.split(' ').map(foldJoined),
);
export const isRecordWord = (word: string): boolean => RECORDS.has(word);
export const isStateNoun = (word: string): boolean => STATE_NOUNS.has(word);
const STATE_NOUNS = new Set('status state zustand stand statut etat estado stato'.split(' '));
/** Subjects whose yes or no decides nothing about a record. */
const HARMLESS =
  /^(?:e?mails?|marketing|newsletters?|news|sms|whatsapp|phone|telefon|ads?|ad(?:vertising|verts?)|traffic|social|search|media|campaigns?|kampagne|membership|mitglied(?:schaft)?|subscri(?:ption|ptions|ber|bed)|abo|abonnement|trial|gifts?|geschenke?|cadeau|regalo|presente|wrap|wrapping|business|company|b2b|firma|gewerbe|unternehmen|entreprise|empresa|azienda|bedrijf|new|neue?|neukunde|nouveau|nuevo|nuovo|nieuw|first|erst(?:kauf|bestellung)|repeat|returning|recurring|stammkunde|lifetime|customer|customers|kunde|kunden|client|cliente|klant|klient|buyer|user|member|vip|coupons?|codes?|vouchers?|discount(?:ed)?|rabatt|gutschein|promo|tax|taxes|vat|mwst|steuer|w9|w8|1099|gst|duty|duties|exempt|shipping|shipped|versand|versandt|verschickt|label|package|tracking|delivered|fulfilled|fulfillment|terms|agb|nda|agreement|agreed|signed|consent|gdpr|dsgvo|notified|emailed|exported|synced|imported|printed|manual(?:ly)?|auto|automatic(?:ally)?|mobile|desktop|device|crossdevice|featured|bonus|tier|level|group|gruppe|self|whitelisted|follow(?:s|ed|ing|er)?|posted|content|post|story|reel|review|reviewed|reviews|rating|survey|feedback|photo|image|video|address|age|profile|instagram|tiktok|youtube|country|language|password|message|notes?|comment|id|sku|product|international|domestic|cookie|tracked|attributed|assisted|clicks?)$/;

interface Heading {
  /** Its words without those that say nothing, joined. */
  word: string;
  words: readonly string[];
  isNegated: boolean;
}

/** The words of a header that say something, and “not” before them. Answers in it, as in “Paid (yes/no)”, are none. */
function readHeading(header: string): Heading {
  const all = foldWords(header);
  const answers = all.filter((each) => readAnswer(each) !== undefined);
  const isNegated = NOT.has(all[0] ?? '') && answers.every((each) => readAnswer(each) === 'no');
  const words = (isNegated ? all.slice(1) : all).filter(
    (each) => !FILLERS.has(each) && (readAnswer(each) === undefined || each.length === 1),
  );
  return { word: words.join(''), words, isNegated };
}

/** The word of a header such as “Is refunded?”, “Order was cancelled” or “Cancelled at”, without the name of a record. */
export function findWord(header: string): string {
  const { words } = readHeading(header);
  return words.filter((each) => !RECORDS.has(each) || isAskingWord(each) || words.length === 1).join('');
}

/** States of a person, which say nothing of a sale or a payment. */
const PERSONAL = new Set(['inactive', 'blocked', 'unsubscribed', 'noconsent', 'deleted']);
const OF_PEOPLE = new Set([...PERSONAL, 'pending', 'rejected', 'notapproved', 'duplicate', 'test']);

const isAbout = ({ status }: State, of: Kind): boolean =>
  isOrders(of) || isPaid(of) ? !PERSONAL.has(status) : OF_PEOPLE.has(status) || isLost(of, status);

const LETTERS = new Set(['email', 'emails', 'mail', 'marketing']);

/** The state that a header names outright: by its words alone, or beside the name of a record. */
export function findState(header: string, of: Kind): State | undefined {
  const { word, words, isNegated } = readHeading(header);
  const turn = (state: State | undefined) => (state && isNegated ? opposite(state) : state);
  const rest = words.filter((each) => !RECORDS.has(each) && !STATE_NOUNS.has(each)).join('');
  const beside = turn(readHeaderState(rest, of));
  const state =
    readHeaderState(foldJoined(header), of) ??
    turn(readHeaderState(word, of)) ??
    (beside && isAbout(beside, of) ? beside : undefined);
  const isLetter = foldWords(header).some((each) => LETTERS.has(each));
  // A letter that was sent is no payment, and a buyer who wants no mails has bought all the same.
  if (isLetter && !isAskingWord(word) && !isAskingWord(rest)) return undefined;
  return state?.status === 'noconsent' && (isOrders(of) || isPaid(of)) ? undefined : state;
}

/** The answers below a header that no word settles and that may decide whether a record counts. */
export function findAsked(header: string, of: Kind): 'yes' | 'no' | 'each' | undefined {
  if (of === 'reconciliation' || of === 'directory') return undefined;
  const { words, isNegated } = readHeading(header);
  if (words.length === 0 || /\bw-?\s?[89]\b/i.test(header) || foldWords(header).some((each) => HARMLESS.test(each)))
    return undefined;
  const rest = words.filter((each) => !RECORDS.has(each) && !STATE_NOUNS.has(each));
  if (rest.some((each) => UNSURE.has(each))) return 'yes';
  const states = rest.flatMap((each) => readHeaderState(each, of) ?? []).filter((state) => isAbout(state, of));
  const [state] = states;
  if (state) {
    const isOne = states.every(({ by }) => by === state.by);
    const { by } = isNegated ? opposite(state) : state;
    return isOne ? by : 'each';
  }
  const isOfOrder = of === 'orders' && rest.length === 0 && words.some((each) => PAYMENTS.has(each));
  return isPaid(of) || isOfOrder ? 'each' : undefined;
}
