import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import type {
  ComparedRecord,
  Fault,
  Line,
  ReadRecord,
  Sum as ReadSum,
  Refusal,
} from '../../platform/imports/reading/shapes.ts';
import { maskEmail } from '../orders/customers.ts';
import { type ImportLine, type LineOutcome, type OptionLine, OUTCOMES } from './imports.shapes.ts';

/** A line of the file with what the brand's own records make of it. */
export interface Judged {
  line: Line;
  outcome: LineOutcome;
  kind: string | null;
  message: string | null;
  knownId: string | null;
}

interface Sum {
  currency: string;
  outcome: LineOutcome;
  records: number;
  amount: number;
  refunded: number;
  net: number;
}

const MONEY: readonly string[] = ['amount', 'refunded', 'sale_amount', 'fee'];

/** An order to compare; a range of goods is shown by both ends. */
function toShownOrder({ goods, ...order }: ComparedRecord): Record<string, unknown> {
  const { order_id, order_number, is_refunded, is_cancelled } = order;
  const { currency = null, least = 0, most = 0, refunded = 0 } = goods ?? {};
  const toMajor = (minor: number) => (currency === null ? null : fromMinor(minor, currency));
  const amounts = { currency, amount: toMajor(least), amount_most: toMajor(most), refunded: toMajor(refunded) };
  return { order_id, order_number, ...amounts, is_refunded, is_cancelled };
}

/** What a record adds to the sums; undefined for records without money. */
function findMoney(record: ReadRecord | null): { currency: string; amount: number; refunded: number } | undefined {
  if (record?.kind === 'order') return record;
  if (record?.kind === 'paid') return { ...record, refunded: 0 };
  if (record?.kind !== 'compared' || record.goods === null) return undefined;
  const { currency, least, refunded } = record.goods;
  return { currency, amount: least, refunded };
}

/** A record with its amounts in major units. */
function toShownRecord(record: ReadRecord): Record<string, unknown> {
  if (record.kind === 'compared') return toShownOrder(record);
  const { kind: _kind, ...fields } = record;
  if (!('currency' in record)) return { ...fields };
  const { currency } = record;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      MONEY.includes(name) && typeof value === 'number' ? fromMinor(value, currency) : value,
    ]),
  );
}

/** A record as the API shows it: buyers are masked, as in orders. They are stored whole, so that an erasure finds them. */
export const maskRecord = (record: Record<string, unknown> | null): Record<string, unknown> | null =>
  typeof record?.customer_email === 'string' ? { ...record, customer_email: maskEmail(record.customer_email) } : record;

/** The cell that a refusal is about; nulls where no cell alone is wrong. */
export const toShownFault = (fault: Fault | null | undefined) =>
  fault ?? { field: null, column: null, value: null, expected: null };

export const toShownLine = ({ line, outcome, kind, message, knownId }: Judged): Omit<ImportLine, 'cells'> => ({
  line: line.line,
  lines: line.lines,
  outcome,
  kind,
  message,
  record: line.record && toShownRecord(line.record),
  known_id: knownId,
  ...toShownFault(line.fault),
});

/** A record as an answer to a question would read it. */
export const toOptionLine = ({ line, cells, record, message }: Line): OptionLine => ({
  line,
  cells: cells.flat(),
  record: record && toShownRecord(record),
  message,
});

/** Sums of a reading, which are in minor units, in major ones. */
export const toMajorSums = (sums: readonly ReadSum[]): ReadSum[] =>
  sums.map(({ currency, records, amount, refunded, net }) => ({
    currency,
    records,
    amount: fromMinor(amount, currency),
    refunded: fromMinor(refunded, currency),
    net: fromMinor(net, currency),
  }));

/** Counts and sums of records by outcome. */
export class Tallies {
  readonly #counts = new Map<LineOutcome, number>();
  readonly #sums = new Map<
    string,
    { currency: string; outcome: LineOutcome; records: number; minor: [number, number] }
  >();
  readonly #refusals = new Map<string, Refusal>();

  add({ line, outcome, kind, message }: Judged): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
    if (outcome === 'refused' && kind !== null) this.#refuse(kind, line, message ?? kind);
    const money = findMoney(line.record);
    if (!money) return;
    const { currency, amount, refunded } = money;
    const key = `${outcome} ${currency}`;
    const sum = this.#sums.get(key) ?? { currency, outcome, records: 0, minor: [0, 0] };
    sum.records += 1;
    sum.minor[0] += amount;
    sum.minor[1] += refunded;
    this.#sums.set(key, sum);
  }

  #refuse(kind: string, { line, fault }: Line, message: string): void {
    const refusal = this.#refusals.get(kind) ?? { kind, lines: 0, first_lines: [], message, fault };
    refusal.lines += 1;
    if (refusal.first_lines.length < 10) refusal.first_lines.push(line);
    this.#refusals.set(kind, refusal);
  }

  count(outcome: LineOutcome): number {
    return this.#counts.get(outcome) ?? 0;
  }

  get records(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  get refusals() {
    return [...this.#refusals.values()];
  }

  get sums(): Sum[] {
    return [...this.#sums.values()].map(({ minor: [amount, refunded], currency, ...sum }) => ({
      ...sum,
      currency,
      amount: fromMinor(amount, currency),
      refunded: fromMinor(refunded, currency),
      net: fromMinor(amount - refunded, currency),
    }));
  }
}

interface ImportFigures {
  of: string;
  status: string;
  imports: number;
  records: Record<LineOutcome, number>;
}

/** Imports of all brands by kind and status, with their records by outcome. */
export async function readImportFigures(db: Db): Promise<ImportFigures[]> {
  const sums = OUTCOMES.map(
    (outcome) => sql`${sql.lit(outcome)}, coalesce(sum((reading -> 'counts' ->> ${sql.lit(outcome)})::bigint), 0)`,
  );
  const { rows } = await sql<ImportFigures>`
    select of, status, count(*)::int as imports, jsonb_build_object(${sql.join(sums)}) as records
    from imports group by of, status`.execute(db);
  return rows;
}
