import type { Caller } from '../access/keys/callers.ts';
import type { Db } from '../engines/postgres/open.ts';
import { transact } from '../engines/postgres/transaction.ts';
import type { Emit, EventName } from '../outbox/events.ts';
import type { NewEntry } from '../outbox/ledger-entry.ts';
import { insertAudit, insertNumbered, type NewEvent } from '../outbox/outbox.ts';
import type { Clock } from '../values/clock.ts';
import { newId } from '../values/ids.ts';

export interface AuditEntry {
  resourceId: string;
  /** Null for a created row. */
  old: object | null;
  /** Null for a removed row. */
  new: object | null;
  /** Fields whose values are hidden; the entry shows "changed". Sealed fields and other bytes are always hidden. */
  secrets?: readonly string[];
  /** Fields of `new` that are generated at each run, such as a random code, so that a plan cannot predict them. */
  generated?: readonly string[];
  /** Unchanged fields that a plan shows for context, such as the recipient and the amount. */
  context?: readonly string[];
}

/** Columns of a row that hold money. */
interface MoneyColumns {
  minor: 'amountMinor' | 'compensationAmountMinor';
  currency: 'currency' | 'compensationCurrency';
}

/** The columns of audited rows that the brand's agent policy checks. */
export interface WeighedFields {
  /** A commission's rate, in millionths. */
  rate?: 'commissionRatePpm' | 'compensationRatePpm' | 'defaultCommissionRatePpm';
  /** Money that is paid out. */
  paid?: MoneyColumns;
  /** Money that a creator is offered or promised. */
  promised?: MoneyColumns;
  /** The currency of the policy's limits. */
  counted?: 'currency';
  /** A changed row with this value means that people are paid. */
  pays?: { column: 'of'; value: string };
}

/**
 * The tools of a writing operation: one transaction and its events, audit entries and ledger entries. It has no
 * engines, so it makes no outside calls.
 */
export interface Work {
  db: Db;
  /** The start of the work. */
  now: Date;
  brandId: string;
  /** Adds an event to the outbox at the end of the transaction. `data` is the noun's REST item. */
  emit: Emit;
  /** Adds an audit entry, unless only `updated_at` changed. */
  audit(entry: AuditEntry): void;
  /** Appends to the brand's ledger at the end of the transaction. */
  post(entry: NewEntry): void;
  /** Entries of a commission that this work has posted and the ledger does not have yet. */
  postedOf(commissionId: string): readonly NewEntry[];
}

const printUnstamped = (row: object) => JSON.stringify({ ...row, updatedAt: null });

/**
 * Drops the columns of the old row that the new one lacks: a row that was read with columns of other tables would make them
 * look cleared. A column that the new row adds stays, as a settled payout adds its commissions.
 */
function alignRows(entry: AuditEntry): AuditEntry {
  const { old, new: row } = entry;
  if (old === null || row === null) return entry;
  const names = new Set(Object.keys(row));
  return { ...entry, old: Object.fromEntries(Object.entries(old).filter(([name]) => names.has(name))) };
}

/** True if a change has any effect: a patch that changes no value leaves no audit entry. */
const isChange = ({ old, new: row }: AuditEntry): boolean =>
  old === null || row === null || printUnstamped(old) !== printUnstamped(row);

/** The author of a change, for the audit log. A creator on a public page has no key. */
export interface Actor {
  brandId: string;
  keyId: Caller['keyId'] | null;
  operation: string;
  requestId: string | null;
  /** True if an agent makes the change by MCP. */
  byAgent?: boolean;
}

/**
 * Runs `change` in its own transaction, and writes its audit entries and events before the commit. The ledger and the
 * outbox come last, so that the brand's numbers are locked briefly and are in commit order.
 */
export async function inWork<T>(db: Db, clock: Clock, actor: Actor, change: (work: Work) => Promise<T>): Promise<T> {
  return await transact(db, (trx) => inTransaction(trx, clock, actor, change));
}

const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;

function isSame(one: unknown, other: unknown): boolean {
  return isBytes(one) && isBytes(other) ? Buffer.compare(one, other) === 0 : one === other;
}

/** A row for display: an unchanged secret is omitted, a changed one shows "changed". */
export function shownRow(row: object, old: object | null, secrets: readonly string[] = []): object {
  const before = new Map<string, unknown>(Object.entries(old ?? {}));
  const fields = Object.entries(row).flatMap(([name, value]) => {
    if (!isBytes(value) && (!secrets.includes(name) || value === null)) return [[name, value]];
    return isSame(value, before.get(name)) ? [] : [[name, 'changed']];
  });
  return Object.fromEntries(fields);
}

/** Rows that changes collect and that are written at the end of their transaction. */
export interface PendingWrites {
  audits: Parameters<typeof insertAudit>[1];
  events: NewEvent[];
  ledger: NewEntry[];
}

export const noPendingWrites = (): PendingWrites => ({ audits: [], events: [], ledger: [] });

/** Begins a change in a transaction that is already open, and notes in `left` what it leaves behind. */
export function openWork(db: Db, now: Date, actor: Actor, pendingWrites: PendingWrites): Work {
  const { brandId, keyId, operation, requestId, byAgent = false } = actor;
  return {
    db,
    now,
    brandId,
    emit: (event, data) =>
      void pendingWrites.events.push({
        id: newId('evt', now.getTime()),
        event,
        data: JSON.stringify(data),
        createdAt: now,
      }),
    audit: (change) => {
      const entry = alignRows(change);
      if (!isChange(entry)) return;
      pendingWrites.audits.push({
        id: newId('aud', now.getTime()),
        brandId,
        keyId,
        operation,
        requestId,
        byAgent,
        at: now,
        resourceId: entry.resourceId,
        oldValues: entry.old === null ? null : JSON.stringify(shownRow(entry.old, entry.old, entry.secrets)),
        newValues: entry.new === null ? null : JSON.stringify(shownRow(entry.new, entry.old, entry.secrets)),
      });
    },
    post: (entry) => void pendingWrites.ledger.push(entry),
    postedOf: (commissionId) => pendingWrites.ledger.filter((entry) => entry.commissionId === commissionId),
  };
}

export async function flush(
  db: Db,
  brandId: string,
  times: Parameters<typeof insertNumbered>[2],
  { audits, events, ledger }: PendingWrites,
): Promise<void> {
  await insertAudit(db, audits);
  await insertNumbered(db, brandId, times, ledger, events);
}

/** Like `inWork`, within a transaction that is already open. */
export async function inTransaction<T>(
  db: Db,
  clock: Clock,
  actor: Actor,
  change: (work: Work) => Promise<T>,
): Promise<T> {
  const now = clock.now();
  const pendingWrites = noPendingWrites();
  const result = await change(openWork(db, now, actor, pendingWrites));
  await flush(db, actor.brandId, { now, clock }, pendingWrites);
  return result;
}

/** Thrown to roll a transaction back. */
class TakenBack extends Error {}

/** Runs `change` in a transaction that is rolled back. Returns when it began and what it would have written. */
export async function rehearse(
  db: Db,
  clock: Clock,
  { brandId }: Actor,
  change: (work: Work) => Promise<void>,
): Promise<{ at: Date; entries: AuditEntry[]; events: EventName[] }> {
  let at = clock.now();
  const entries: AuditEntry[] = [];
  const events: EventName[] = [];
  const rehearsal = transact(db, async (trx) => {
    const ledger: NewEntry[] = [];
    entries.length = 0;
    events.length = 0;
    at = clock.now();
    await change({
      db: trx,
      now: at,
      brandId,
      emit: (event) => void events.push(event),
      audit: (entry) => void entries.push(alignRows(entry)),
      post: (entry) => void ledger.push(entry),
      postedOf: (commissionId) => ledger.filter((entry) => entry.commissionId === commissionId),
    });
    throw new TakenBack();
  });
  await rehearsal.catch((error: unknown) => {
    if (!(error instanceof TakenBack)) throw error;
  });
  return { at, entries, events };
}
