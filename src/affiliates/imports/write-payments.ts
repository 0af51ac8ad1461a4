import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Line, PersonRecord } from '../../platform/imports/reading/shapes.ts';
import {
  fillPayment,
  fitPayments,
  type ListedPayment,
  type PaymentFit,
  undoFilling,
} from '../../workflow/payments/payments.ts';
import type { ImportRow } from './imports.ts';
import { findPeople } from './people.ts';
import type { Judged } from './tallies.ts';
import {
  differs,
  insertWrites,
  isKnown,
  isNew,
  type JudgeFacts,
  refuse,
  selectRecords,
  type Writer,
} from './writer.ts';

/** Ways of payment in other tools' words. */
const METHODS: readonly (readonly [NonNullable<ListedPayment['method']>, RegExp])[] = [
  ['wallet', /paypal|\bwise\b|transferwise|wallet/i],
  ['bank_transfer', /bank|wire|transfer|sepa|ach\b|iban|überweisung|virement|bonifico|transferencia/i],
  ['manual', /manual|che(?:que|ck)|cash|other|store credit/i],
];

/** Services that pay to addresses of their own, which no file for PayPal or Wise may pay to. */
const OTHER_WALLETS =
  /venmo|payoneer|skrill|neteller|cash\s?app|zelle|revolut|tipalti|alipay|wechat|paytm|\bupi\b|gcash|mobilepay|vipps|swish|twint|bizum|lydia|google\s?pay|apple\s?pay|crypto|bitcoin|\bbtc\b|usdt|usdc|coinbase|stripe/i;

const findMethod = (text: string) => METHODS.find(([, words]) => words.test(text))?.[0];

const DIFFERENCES: Readonly<Record<Exclude<PaymentFit, 'same' | 'missing'>, string>> = {
  waiting: 'a change of their payment address waits; nothing else is entered before it holds or is stopped.',
  other_address: 'they are paid at another address, which only their payment profile changes: the old one hears of it.',
  other_method: 'they are paid in another way, which only their payment profile changes.',
};

interface Payment extends ListedPayment {
  line: Line;
  creatorId: string;
}

/** Where a record says that a creator is paid; otherwise the reason to refuse it. */
function toPayment(line: Line, record: PersonRecord, creatorId: string | null | undefined): Payment | Judged {
  const { email, instagram, tiktok, codes, name, payment_email: walletEmail, payment_method: said } = record;
  const who = email ?? instagram ?? tiktok ?? codes[0]?.code ?? name ?? 'Nobody';
  if (creatorId === null) return refuse(line, 'ambiguous_person', `${who} may be several creators.`);
  if (creatorId === undefined) return refuse(line, 'unknown_creator', `${who} is not on the roster.`);
  if (said !== null && OTHER_WALLETS.test(said))
    return refuse(
      line,
      'method_unknown',
      `An address of “${said}” is not entered: payments go to addresses at PayPal or Wise. Pay ${who} by hand, or enter another address.`,
    );
  const method = said === null ? null : findMethod(said);
  if (method === undefined)
    return refuse(
      line,
      'method_unknown',
      `“${said}” is no way of payment; right are wallet, bank transfer and manual.`,
    );
  return { line, creatorId, walletEmail, method };
}

async function listPayments(db: Db, row: ImportRow, lines: readonly Line[]): Promise<(Payment | Judged)[]> {
  const records = selectRecords(lines, 'person');
  const people = records.map(({ record: { email, instagram, tiktok, name, codes } }) => ({
    email,
    handle: instagram ?? tiktok,
    name,
    code: codes[0]?.code ?? null,
  }));
  const find = await findPeople(db, row.brandId, people, { ...row.stored, ...row.mapping });
  return records.map(({ line, record }, i) => {
    const who = people[i];
    return toPayment(line, record, who && find(who));
  });
}

const isPayment = (one: Payment | Judged): one is Payment => 'creatorId' in one;

async function judge(db: Db, row: ImportRow, lines: readonly Line[], { now }: JudgeFacts): Promise<Judged[]> {
  const linePayments = await listPayments(db, row, lines);
  const payments = linePayments.filter(isPayment);
  const fits = await fitPayments(db, row.brandId, payments, now);
  const judgments = new Map(
    payments.map((payment, i): [Payment, Judged] => {
      const { line, creatorId } = payment;
      const fit = fits[i] ?? 'other_address';
      if (fit === 'missing') return [payment, isNew(line)];
      return [payment, fit === 'same' ? isKnown(line, creatorId) : differs(line, creatorId, DIFFERENCES[fit])];
    }),
  );
  return linePayments.flatMap((one) => (isPayment(one) ? (judgments.get(one) ?? []) : one));
}

const byCreator = (a: Payment, b: Payment) => (a.creatorId < b.creatorId ? -1 : 1);

/** Enters payment addresses of creators who have none; an address that is known stays as it is. */
export const paymentsWriter: Writer = {
  judge,
  lock: async () => undefined,
  write: async (work, _context, row, judgedLines) => {
    const lines = judgedLines.flatMap(({ line, outcome }) => (outcome === 'new' ? [line] : []));
    // In one order, so that two runs never wait for each other's creators.
    const payments = (await listPayments(work.db, row, lines)).filter(isPayment).toSorted(byCreator);
    let writtenCount = 0;
    for (const { creatorId, ...listed } of payments) {
      const before = await fillPayment(work, creatorId, listed);
      if (before === undefined) continue;
      writtenCount += 1;
      await insertWrites(work, row, [{ noun: 'payment_profile', rowId: creatorId, before }]);
    }
    return { written: writtenCount, updated: 0 };
  },
  undo: async (work, _row, writes) => {
    let undoneCount = 0;
    for (const { rowId, before } of writes.toSorted((a, b) => (a.rowId < b.rowId ? -1 : 1)))
      if (before !== null && (await undoFilling(work, rowId, before))) undoneCount += 1;
    return undoneCount;
  },
};
