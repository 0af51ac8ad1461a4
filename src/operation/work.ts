import type { Caller } from '../access/keys/queries.ts';
import type { Db } from '../engines/postgres/open.ts';
import { transact } from '../engines/postgres/transaction.ts';
import type { Emit, EventName } from '../outbox/events.ts';
import type { NewEntry } from '../outbox/ledger-entry.ts';
import { insertAudit, insertNumbered } from '../outbox/queries.ts';
import type { Clock } from '../values/clock.ts';
import { newId } from '../values/ids.ts';

export interface AuditEntry {
  resourceId: string;
  /** Null for what was made. */
  old: object | null;
  /** Null for what was removed. */
  new: object | null;
  /** Fields whose values are nobody's to read; the line says "changed". Bytes, such as what is sealed, never stand in one. */
  secrets?: readonly string[];
  /** Fields of `new` that are generated each time, such as a drawn code: a plan cannot show what they will be. */
  generated?: readonly string[];
  /** Fields that a plan shows though they stay as they are: to whom, how much. */
  context?: readonly string[];
}

/** Columns of a row in which money stands. */
interface MoneyColumns {
  minor: 'amountMinor' | 'compensationAmountMinor';
  currency: 'currency' | 'compensationCurrency';
}

/** Where the audited rows of an operation say what the brand's policy for agents weighs: the names of their columns. */
export interface Weighed {
  /** A commission's rate, in millionths. */
  rate?: 'commissionRatePpm' | 'compensationRatePpm' | 'defaultCommissionRatePpm';
  /** Money that goes out. */
  paid?: MoneyColumns;
  /** Money that a creator is offered or promised. */
  promised?: MoneyColumns;
  /** The currency in which the policy itself counts. */
  counted?: 'currency';
}

/** What a writing operation may touch: one transaction, and what it leaves behind. No engine, so no outside call. */
export interface Work {
  db: Db;
  /** When the work began. */
  now: Date;
  brandId: string;
  /** Puts an event into the outbox, as the transaction's last statement. `data` is its noun's REST item. */
  emit: Emit;
  /** What changed nothing but when it was changed is left out. */
  audit(entry: AuditEntry): void;
  /** Appends to the brand's ledger, at the end of the transaction. */
  post(entry: NewEntry): void;
}

const unstamped = (row: object) => JSON.stringify({ ...row, updatedAt: null });

/** A patch that sets nothing, or what stands there already, leaves no line. */
const isChange = ({ old, new: row }: AuditEntry): boolean =>
  old === null || row === null || unstamped(old) !== unstamped(row);

/** Who does the work, for the audit log. A creator on a public page has no key. */
export interface Actor {
  brandId: string;
  keyId: Caller['keyId'] | null;
  operation: string;
  requestId: string | null;
  /** An agent, by MCP. */
  byAgent?: boolean;
}

/**
 * Runs `change` in a transaction of its own, and writes what it audited and emitted before the commit. The ledger
 * and the outbox come last: the brand's numbers are locked for the shortest time, and are in commit order.
 */
export async function inWork<T>(db: Db, clock: Clock, actor: Actor, change: (work: Work) => Promise<T>): Promise<T> {
  return await transact(db, (trx) => inTransaction(trx, clock, actor, change));
}

const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;

function isSame(one: unknown, other: unknown): boolean {
  return isBytes(one) && isBytes(other) ? Buffer.compare(one, other) === 0 : one === other;
}

/** A row as people are shown it: a secret is left out where it stayed as it was in `old`, else it is "changed". */
export function shownRow(row: object, old: object | null, secrets: readonly string[] = []): object {
  const before = new Map<string, unknown>(Object.entries(old ?? {}));
  const shown = Object.entries(row).flatMap(([name, value]) => {
    if (!isBytes(value) && (!secrets.includes(name) || value === null)) return [[name, value]];
    return isSame(value, before.get(name)) ? [] : [[name, 'changed']];
  });
  return Object.fromEntries(shown);
}

/** As `inWork`, within a transaction that is already open. */
export async function inTransaction<T>(
  db: Db,
  clock: Clock,
  actor: Actor,
  change: (work: Work) => Promise<T>,
): Promise<T> {
  const { brandId } = actor;
  const now = clock.now();
  const events: { event: EventName; data: object }[] = [];
  const entries: AuditEntry[] = [];
  const ledger: NewEntry[] = [];
  const result = await change({
    db,
    now,
    brandId,
    emit: (event, data) => void events.push({ event, data }),
    audit: (entry) => void (isChange(entry) && entries.push(entry)),
    post: (entry) => void ledger.push(entry),
  });
  await insertAudit(
    db,
    entries.map((entry) => ({
      id: newId('aud', now.getTime()),
      brandId,
      keyId: actor.keyId,
      operation: actor.operation,
      requestId: actor.requestId,
      byAgent: actor.byAgent ?? false,
      resourceId: entry.resourceId,
      oldValues: entry.old === null ? null : JSON.stringify(shownRow(entry.old, entry.old, entry.secrets)),
      newValues: entry.new === null ? null : JSON.stringify(shownRow(entry.new, entry.old, entry.secrets)),
      at: now,
    })),
  );
  await insertNumbered(
    db,
    brandId,
    { now, clock },
    ledger,
    events.map(({ event, data }) => ({ id: newId('evt', now.getTime()), event, data: JSON.stringify(data) })),
  );
  return result;
}

/** Thrown to take a transaction back. */
class TakenBack extends Error {}

/** Runs `change` in a transaction that is taken back, and says when it began and what it would have left behind. */
export async function rehearse(
  db: Db,
  clock: Clock,
  { brandId }: Actor,
  change: (work: Work) => Promise<void>,
): Promise<{ at: Date; entries: AuditEntry[]; events: EventName[] }> {
  let at = clock.now();
  const entries: AuditEntry[] = [];
  const events: EventName[] = [];
  const run = transact(db, async (trx) => {
    entries.length = 0;
    events.length = 0;
    at = clock.now();
    await change({
      db: trx,
      now: at,
      brandId,
      emit: (event) => void events.push(event),
      audit: (entry) => void entries.push(entry),
      post: () => undefined,
    });
    throw new TakenBack();
  });
  await run.catch((error: unknown) => {
    if (!(error instanceof TakenBack)) throw error;
  });
  return { at, entries, events };
}
