import { foldWords } from './fold.ts';
import type { Glance } from './glance.ts';
import { FIELDS, isOrders, isPaid, type Kind } from './kinds.ts';
import { isQuantity } from './line-totals.ts';
import { isNegation, isStateNoun, readLossState } from './state-words.ts';
import { isBackType, isMainType, isType } from './statuses.ts';
import { findFields } from './words.ts';

/** States in which a sale or a payment is lost, and those in which somebody does not work for the brand any more. */
const OF_MONEY = new Set(
  'refunded partiallyrefunded cancelled voided rejected disputed failed test notdelivered'.split(' '),
);
const OF_PEOPLE = new Set('rejected blocked inactive deleted'.split(' '));

const TAKEN_BACK = /^(?:clawback|clawedback)$/;
/** Words that say something else beside others: a return label, a test product, the left column. */
const ALONE = new Set('return returns test testing left ended quit removed archived sample'.split(' '));

/** A cell such as “Returned to sender”, “charged back” or “void”, beside a status by which the record counts. */
export function saysLoss(of: Kind, text: string): boolean {
  if (text.length > 40) return false;
  const words = foldWords(text);
  const [first = ''] = words;
  if (words.length === 0 || words.length > 5 || first === 'un' || isNegation(first)) return false;
  const lost = isOrders(of) || isPaid(of) ? OF_MONEY : OF_PEOPLE;
  const isLoss = (word: string) => {
    if (TAKEN_BACK.test(word)) return isPaid(of);
    const state = readLossState(word);
    return state?.by === 'yes' && lost.has(state.status);
  };
  return isLoss(words.join('')) || words.some((word) => !ALONE.has(word) && isLoss(word));
}

/** Headers below which states are looked for, also where none stands in the first rows. */
const DECIDES =
  /^(?:environment|mode|review|result|outcome|decision|stage|settlement|transfer|payout|payment|capture|fraud|risk|dispute|chargeback|approval|reversal|delivery|fulfillment|fulfilment|umgebung|ergebnis|lieferung|zahlung|livraison|entrega|consegna)$/;
/** Subjects whose states decide nothing about a record. */
const ELSEWHERE =
  /^(?:e?mails?|newsletters?|sms|whatsapp|marketing|subscri\p{L}*|abo|abonnement|membership|trial|coupons?|codes?|vouchers?|promo|tax|vat|kyc|w9|customers?|buyer|user|member|address|phone|contract|notes?|comments?|tags?|sku|product|title|name|variant|consent|gdpr|label|content|post|story|reel)$/u;
const ASIDE = new Set(['id', 'currency', 'zone', 'email', 'handle', 'list', 'text', 'money', 'time', 'clock']);

/** A column that no field takes, and whose cells may say that a record is lost. */
export function mayLose(header: string, { filled, states, texts, emails, times, money }: Glance, of: Kind): boolean {
  if (of === 'directory' || of === 'payment_details') return false;
  const words = foldWords(header);
  const hasNoun = words.some(isStateNoun);
  if (words.some((word) => ELSEWHERE.test(word))) return false;
  if (!hasNoun && findFields(of, header).some((field) => ASIDE.has(FIELDS[of][field] ?? 'text'))) return false;
  if (filled > 0 && (emails === filled || times === filled || money === filled)) return false;
  if (hasNoun || words.some((word) => DECIDES.test(word))) return true;
  return states > 0 && (states * 3 >= filled || ([...texts].some((text) => saysLoss(of, text)) && texts.size <= 8));
}

/** A header of how many pieces of an order came back: “Refunded quantity”, “Items returned”. */
export const countsLosses = (header: string, of: Kind): boolean => {
  const words = foldWords(header);
  const isCounted = isQuantity(header) || words.some((word) => word === 'items' || word === 'count');
  return isCounted && words.some((word) => saysLoss(of, word)) && !words.some((word) => ELSEWHERE.test(word));
};

const MOST_TYPES = 8;
/** Further things that a line may be beside a sale. */
const MORE_TYPES = new Set(['exchange', 'giftcard', 'storecredit', 'discount', 'shippingrefund', 'payment', 'sale']);

/** The cells alone say what each line is: a sale or a payment, and others beside it; or one that came back. */
export function areTypes({ filled, texts, times, money }: Glance, of: Kind): boolean {
  if (filled === 0 || texts.size > MOST_TYPES || times === filled || money === filled) return false;
  const all = [...texts];
  const hasMain = all.some((text) => isMainType(of, text));
  const hasBack = all.some(isBackType);
  if (hasMain && hasBack) return true;
  const isKnown = (text: string) => isType(text) || MORE_TYPES.has(foldWords(text).join(''));
  return (hasMain || hasBack) && all.every(isKnown);
}
