import type { Judged } from './judge.ts';
import { addLine, type LineList } from './profile.ts';
import type { Line, Reading, RecordOutcome, Sum } from './shapes.ts';

const SAMPLE = 20;
const MOST_PEOPLE = 200;

interface Amounts {
  records: number;
  amount: number;
  refunded: number;
}

function addTo(sums: Map<string, Amounts>, currency: string, amount: number, refunded: number): void {
  const sum = sums.get(currency);
  if (!sum) {
    sums.set(currency, { records: 1, amount, refunded });
    return;
  }
  sum.records += 1;
  sum.amount += amount;
  sum.refunded += refunded;
}

const toSums = (sums: ReadonlyMap<string, Amounts>): Sum[] =>
  [...sums].map(([currency, sum]) => ({ currency, ...sum, net: sum.amount - sum.refunded }));

export interface StatusTally {
  value: string;
  list: LineList;
  rows: number;
  isUndecided: boolean;
  sums: Sum[];
  /** The sums if the status means that orders were given back. */
  givenBack: Sum[];
}

interface StatusAmounts extends Omit<StatusTally, 'sums' | 'givenBack'> {
  sums: Map<string, Amounts>;
  givenBack: Map<string, Amounts>;
}

const startStatus = (value: string, isUndecided: boolean): StatusAmounts => ({
  value,
  list: { count: 0, first: [] },
  rows: 0,
  isUndecided,
  sums: new Map(),
  givenBack: new Map(),
});

/** The records of one reading add up to this. */
export class Tally {
  readonly counts: Reading['counts'] = { lines: 0, records: 0, read: 0, repeated: 0, left_out: 0, refused: 0 };
  readonly #sums = new Map<RecordOutcome, Map<string, Amounts>>();
  readonly refusals = new Map<string, LineList>();
  readonly #statuses = new Map<string, StatusAmounts>();
  readonly sample: Line[] = [];
  /** The records that depend on each rule of `USES`, counted, with their first lines. */
  readonly uses = new Map<number, LineList>();
  /** People whose lines name them differently. */
  renamed = 0;
  /** People whose handle could not be read. */
  handlesLost = 0;
  /** People with the number of an account at a bank. */
  banksLost = 0;
  ofWise = 0;
  /** Records of people whose cell has several addresses, of which the first counts. */
  severalEmails = 0;
  /** People whose rate is an amount of money. */
  ratesLost = 0;
  /** Orders of several rows that each have the amount. */
  repeating = 0;
  /** Each set of meanings of the amount is counted by the records in which it holds. */
  readonly holding = new Map<number, number>();
  readonly people = new Map<string, LineList & { sums: Map<string, Amounts> }>();

  add(judgedEntry: Judged): void {
    const { line, money, status } = judgedEntry;
    this.counts.records += 1;
    this.counts[line.outcome] += 1;
    if (this.sample.length < SAMPLE) this.sample.push(line);
    if (line.outcome === 'refused') this.#addRefusal(line);
    if (status) this.#addStatus(judgedEntry, status);
    if (judgedEntry.holding !== null)
      this.holding.set(judgedEntry.holding, (this.holding.get(judgedEntry.holding) ?? 0) + 1);
    if (money && line.outcome !== 'refused') {
      const sums = this.#sums.get(line.outcome) ?? new Map<string, Amounts>();
      this.#sums.set(line.outcome, sums);
      addTo(sums, money.currency, money.amount, money.refunded);
    }
    if (judgedEntry.isRenamed) this.renamed += 1;
    if (judgedEntry.isHandleLost) this.handlesLost += 1;
    if (judgedEntry.isRateLost) this.ratesLost += 1;
    if (judgedEntry.isBankLost) this.banksLost += 1;
    if (judgedEntry.isOfWise) this.ofWise += 1;
    if (judgedEntry.hasOtherEmails) this.severalEmails += 1;
    if (judgedEntry.repeatsAmount) this.repeating += 1;
    // Lines that contradict each other may be parts of their order.
    if (counts(judgedEntry) || line.kind === 'contradicting_lines') this.#addUses(judgedEntry);
    if (judgedEntry.person !== null) this.#addPerson(judgedEntry.person, judgedEntry);
  }

  #addRefusal({ kind, line }: Line): void {
    const list = this.refusals.get(kind ?? '') ?? { count: 0, first: [] };
    this.refusals.set(kind ?? '', list);
    addLine(list, line);
  }

  #addStatus({ line, money }: Judged, { value, isUndecided }: { value: string; isUndecided: boolean }): void {
    // A status may leave some of its records open, and not others.
    const key = `${isUndecided ? '?' : ''}${value}`;
    const status = this.#statuses.get(key) ?? startStatus(value, isUndecided);
    if (!this.#statuses.has(key) && this.#statuses.size >= 300) return;
    this.#statuses.set(key, status);
    status.rows += line.lines.length;
    // A line that is left out or refused whatever its status means depends on no answer.
    if (isUndecided && line.kind !== 'status_unknown') return;
    addLine(status.list, line.line);
    if (!money || line.outcome === 'refused') return;
    const { currency, amount, refunded } = money;
    addTo(status.sums, currency, amount, refunded);
    addTo(status.givenBack, currency, amount, refunded === 0 ? amount : refunded);
  }

  #addUses({ uses, line }: Judged): void {
    for (let bit = 1; bit <= uses; bit <<= 1) {
      if ((uses & bit) === 0) continue;
      const list = this.uses.get(bit) ?? { count: 0, first: [] };
      this.uses.set(bit, list);
      addLine(list, line.line);
    }
  }

  #addPerson(name: string, { line, money }: Judged): void {
    const person = this.people.get(name) ?? { count: 0, first: [], sums: new Map() };
    if (!this.people.has(name) && this.people.size >= MOST_PEOPLE) return;
    this.people.set(name, person);
    addLine(person, line.line);
    if (money) addTo(person.sums, money.currency, money.amount, money.refunded);
  }

  sums(outcome: RecordOutcome): Sum[] {
    return toSums(this.#sums.get(outcome) ?? new Map());
  }

  statuses(): StatusTally[] {
    return [...this.#statuses.values()].map((status) => ({
      ...status,
      sums: toSums(status.sums),
      givenBack: toSums(status.givenBack),
    }));
  }
}

/** A record counts if it is written, or would be once its status is known. */
export const counts = ({ line }: Judged): boolean => line.outcome === 'read' || line.kind === 'status_unknown';

/** Sums added currency by currency. */
export function addSums(a: readonly Sum[], b: readonly Sum[]): Sum[] {
  const all = new Map<string, Sum>();
  for (const sum of [...a, ...b]) {
    const knownSum = all.get(sum.currency);
    if (!knownSum) all.set(sum.currency, { ...sum });
    else {
      knownSum.records += sum.records;
      knownSum.amount += sum.amount;
      knownSum.refunded += sum.refunded;
      knownSum.net += sum.net;
    }
  }
  return [...all.values()];
}
