import { fold, foldWords } from './fold.ts';
import type { Kind } from './kinds.ts';
import { readEmail } from './people.ts';
import { isNegation, isRecordWord, isStateNoun, namesState } from './state-words.ts';
import { foldStatus, isKnownState, isType } from './statuses.ts';

/** Words that a heading has beside its state, and that say nothing of its lines. */
const FILLERS = new Set(
  `the of in for on and all list report export overview summary filter date by new this last month year week quarter q1 q2 q3 q4 file batch run mass
   der die das den im für und alle liste bericht monat jahr le la les des du de en et tous toutes liste el los las del y todos todas
   il lo gli dei e tutti i het een van do da dos das os as o a
   creators affiliates partners influencers ambassadors publishers invoices items lines records
   bestellungen auftrage zahlungen auszahlungen rechnungen provisionen commandes paiements factures virements
   pedidos comisiones facturas ordini pagamenti commissioni fatture bestellingen betalingen facturen comissoes
   january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
   januar februar marz mai juni juli oktober dezember`
    .split(/\s+/)
    .map(fold),
);

const toWords = (list: string): ReadonlySet<string> =>
  new Set(
    list
      .split('|')
      .map((words) => foldWords(words).join(''))
      .filter(Boolean),
  );

/** Words and phrases that only a heading has for lines that are still to be paid, came back, or are none yet. */
const HEADING_WORDS = toWords(
  `offen|offene|offener|fällig|fällige|due|owed|owing|payable|upcoming|scheduled|next|future|later|waiting|open|outstanding|overdue
   |planned|forecast|estimated|estimate|projected|queue|queued|archive|archives|archiv|in review|under review|in prüfung|to pay|to be paid
   |do not pay|don't pay|not to pay|zu zahlen|à payer|à régler|por pagar|da pagare|te betalen|a pagar|to do|resi|free products|gifted
   |pendientes|geplant|prévu|prévus|previsto|former|formerly|ex|ehemalige|ehemaliger|anciens|antiguos|ausgeschieden`,
);
/** The same for people. */
const OF_PEOPLE = toWords(
  `old|alumni|applicants|applications|bewerber|bewerbungen|candidates|candidats|candidatos|waitlist|waiting list|warteliste|prospects|leads
   |interested|blacklist|black list|do not work with|do not contact|no longer with us|on a break|dormant`,
);

/** Words that name a state alone, and beside others may be a part of somebody's name or say something else. */
const WEAK = new Set(
  `left ended quit made done issued fait hecho fatto feito gedaan complete valid active aktiv actif activo test testing sample samples draft
   open processed locked released next future later new ex exchange sent received return returns hold warranty dispute removed old leads
   archive queue estimate gifted interested planned`.split(/\s+/),
);

const isState = (of: Kind, word: string): boolean =>
  namesState(word) ||
  isKnownState(word) ||
  HEADING_WORDS.has(word) ||
  (of === 'roster' && OF_PEOPLE.has(word)) ||
  ([word, word.replace(/(?:e[nrs]?|n|s)$/, '')].some(isType) && !isRecordWord(word));

const MOST_JOINED = 4;

/** Some words that stand beside each other name a state together: `en attente de paiement`. */
const hasJoinedState = (of: Kind, words: readonly string[]): boolean =>
  words.some((_, from) =>
    Array.from({ length: MOST_JOINED - 1 }, (__, i) => words.slice(from, from + i + 2)).some(
      (some) => some.length > 1 && !some.every(isRecordWord) && isState(of, some.join('')),
    ),
  );

export interface Heading {
  status: string;
  /** The heading says a state and nothing else that is not known. */
  isPlain: boolean;
}

/** The status that a line of one text gives the lines below it; undefined if it names no state. */
export function readHeading(of: Kind, text: string): Heading | undefined {
  if (text === '' || text.length > 60 || text.startsWith('@') || readEmail(text) !== undefined) return undefined;
  // `TEST-1001` is an id.
  if (/^\S*(?:\p{L}[-_#/.]?\d|\d[-_#/.]?\p{L})\S*$/u.test(text)) return undefined;
  const words = foldWords(text).filter((word) => !/^\d+$/.test(word));
  if (words.length === 0 || words.length > 8) return undefined;
  const rest = words.filter((word) => !FILLERS.has(word) && !isRecordWord(word) && !isStateNoun(word));
  const joined = rest.join('');
  if (rest.length > 0 && isState(of, joined)) return { status: foldStatus(joined), isPlain: true };
  const whole = foldStatus(text);
  if (isState(of, words.join(''))) return { status: foldStatus(words.join('')), isPlain: true };
  if (rest.length === 0 && isType(text)) return { status: whole, isPlain: true };
  const isNegated = words.some(isNegation);
  const isNamed =
    hasJoinedState(of, words) ||
    (rest.length > 0 && rest.every((word) => isState(of, word))) ||
    rest.some((word) => isState(of, word) && (isNegated || !WEAK.has(word)));
  return isNamed ? { status: whole, isPlain: false } : undefined;
}
