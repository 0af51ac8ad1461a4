import { createHash } from 'node:crypto';
import { z } from 'zod';
import { newId } from '../values/ids.ts';

export const LEDGER_KINDS = [
  'sale',
  'refund',
  'approval',
  'rejection',
  'payment',
  'adjustment',
  'payout',
  'manual',
  'void',
  'return',
  'claw_back',
  'test',
] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

/**
 * Double-entry: debits are positive, credits negative, and an entry's postings add up to zero.
 *   sale        customers +A / sales −A;  commission_expense +C / commission_pending −C
 *   refund      sales_refunds +R / customers −R;  what it takes off an unpaid commission: its state's account + / commission_expense −;
 *               off a paid one: refund_adjustment + / commission_expense −
 *   approval    from commission_pending (or commission_expense, of a rejected one) to commission_approved
 *   rejection   from commission_pending or commission_approved back to commission_expense
 *   payment     commission_approved + / commission_paid −
 *   payout      the day the money went: unallocated + / cash − (of a fee: fees +);  what it pays: commission_settled + /
 *               unallocated −, and adjustments_netted − for what refunds had taken back (given back: +)
 *   manual      a commission that the brand recorded: commission_expense +C / commission_pending −C
 *   void        an unpaid payout moved no money: two lines of 0
 *   return      a paid payout that came back: the opposite of what its payout and payment entries say, and of refunds that were
 *               taken back from its commissions
 *   claw_back   what the brand takes back of a paid commission: refund_adjustment + / commission_expense −
 *   test        the store says that the order is a test: the opposite of all that is left of it, so that it counts as no order
 *   adjustment  what a newer snapshot of the order changed
 */
export const ACCOUNTS = [
  'customers',
  'sales',
  'sales_refunds',
  'commission_expense',
  'commission_pending',
  'commission_approved',
  'commission_paid',
  'refund_adjustment',
  'commission_settled',
  'adjustments_netted',
  'unallocated',
  'fees',
  'cash',
] as const;
export type Account = (typeof ACCOUNTS)[number];

/**
 * One line of an entry. `at` is the time that analytics count it at: the time of the sale for a sale and its
 * commission.
 */
export interface Posting {
  account: Account;
  amountMinor: number;
  at: Date;
}

export interface NewEntry {
  kind: LedgerKind;
  currency: string;
  creatorId: string;
  linkId: string | null;
  orderId: string | null;
  commissionId: string | null;
  payoutId: string | null;
  postings: readonly Posting[];
}

/** Postings in the form that is stored and hashed. */
export const StoredPostings = z.array(
  z.object({ account: z.enum(ACCOUNTS), amount_minor: z.number().int(), at: z.string() }),
);
export type StoredPosting = z.infer<typeof StoredPostings>[number];

function storedPostings(postings: readonly Posting[]): StoredPosting[] {
  const sum = postings.reduce((total, { amountMinor }) => total + amountMinor, 0);
  if (sum !== 0 || postings.length < 2) throw new Error(`An entry's postings must add up to zero; they give ${sum}.`);
  return postings.map(({ account, amountMinor, at }) => ({ account, amount_minor: amountMinor, at: at.toISOString() }));
}

export interface HashedFacts extends Omit<NewEntry, 'postings'> {
  id: string;
  brandId: string;
  seq: number;
  recordedAt: Date;
  postings: readonly StoredPosting[];
}

/** The hash of an entry: over the previous hash and all its fields in a fixed order. */
export function hashEntry(previous: Buffer | null, entry: HashedFacts): Buffer {
  const { id, brandId, seq, recordedAt, kind, currency, creatorId, linkId, orderId, commissionId, payoutId } = entry;
  const facts = [
    ...[id, brandId, seq, recordedAt.toISOString(), kind, currency, creatorId],
    ...[linkId, orderId, commissionId, payoutId],
    entry.postings.map((posting) => [posting.account, posting.amount_minor, posting.at]),
  ];
  return createHash('sha256')
    .update(previous ?? Buffer.alloc(0))
    .update(JSON.stringify(facts))
    .digest();
}

/** Numbers the entries and chains their hashes after the ledger's last entry. */
export function chained(
  { ledgerSeq, ledgerHash }: { ledgerSeq: number; ledgerHash: Buffer | null },
  brandId: string,
  recordedAt: Date,
  entries: readonly NewEntry[],
) {
  let hash = ledgerHash;
  return entries.map(({ postings, ...facts }, i) => {
    const id = newId('led', recordedAt.getTime());
    const entry = { ...facts, id, brandId, seq: ledgerSeq + 1 + i, recordedAt, postings: storedPostings(postings) };
    hash = hashEntry(hash, entry);
    return { ...entry, hash };
  });
}
