import { fromMinor, fromPpm } from '../values/money.ts';
import { isRecord } from '../values/wire.ts';

type Fields = Record<string, unknown>;

interface PlannedChange {
  resource_id: string;
  old: Fields | null;
  new: Fields | null;
  generated?: string[] | undefined;
}

/** Columns that no answer of the API has. */
const INTERNAL = new Set(['brand_id', 'slug']);
const SHOWN_FIELDS = 4;

const isCurrency = (name: string): boolean => name === 'currency' || name.endsWith('_currency');

/** The currency of a row's amounts: `compensation_currency` of `compensation_amount_minor`, else `currency`. */
function findCurrency(fields: Fields, name: string): string | undefined {
  const [own] = Object.entries(fields).filter(
    ([key, value]) => isCurrency(key) && typeof value === 'string' && name.startsWith(key.replace(/currency$/, '')),
  );
  const currency = own?.[1] ?? fields.currency;
  return typeof currency === 'string' ? currency : undefined;
}

const toApiName = (name: string): string => name.replace(/_(?:minor|ppm)$/, '');

function toApiValue(fields: Fields, name: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  if (name.endsWith('_ppm')) return fromPpm(value);
  const currency = name.endsWith('_minor') ? findCurrency(fields, name) : undefined;
  return currency === undefined ? value : fromMinor(value, currency);
}

/** A stored row in the units and names of the API: percent and major units, without what only the database has. */
function toApiFields(fields: Fields | null): Fields | null {
  if (fields === null) return null;
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => !INTERNAL.has(name))
      .map(([name, value]) => {
        const isUnknown = name.endsWith('_minor') && findCurrency(fields, name) === undefined;
        return [isUnknown ? name : toApiName(name), toApiValue(fields, name, value)];
      }),
  );
}

export function toApiChange<C extends PlannedChange>(change: C): C {
  return {
    ...change,
    old: toApiFields(change.old),
    new: toApiFields(change.new),
    generated: (change.generated ?? []).filter((name) => !INTERNAL.has(name)).map(toApiName),
  };
}

/** The names of a row's currencies, which say what its amounts are even if they stay. */
export const listCurrencies = (row: object | null): string[] =>
  Object.keys(row ?? {}).filter((name) => /^currency$|Currency$/.test(name));

const show = (value: unknown): string =>
  value === null || value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);

/** Fields that name a record, in the order in which people look for them. */
const NAMING = ['title', 'name', 'creator_email', 'value', 'email', 'status'];

function describeCreated(fields: Fields): string {
  const { amount, currency } = fields;
  const names = NAMING.flatMap((name) => (typeof fields[name] === 'string' ? [fields[name]] : [])).slice(0, 2);
  const money = typeof amount === 'number' && typeof currency === 'string' ? [`${amount} ${currency}`] : [];
  return [...money, ...names].join(', ');
}

function describeChanged(old: Fields, now: Fields): string {
  const names = Object.keys(now).filter(
    (name) => !isCurrency(name) && !name.endsWith('_at') && JSON.stringify(old[name]) !== JSON.stringify(now[name]),
  );
  const shown = names.slice(0, SHOWN_FIELDS).map((name) => `${name} ${show(old[name])} → ${show(now[name])}`);
  const more = names.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** Sums the amounts of several records by currency. */
function sumAmounts(changes: readonly PlannedChange[]): string[] {
  const sums = new Map<string, number>();
  for (const { new: row } of changes) {
    if (!isRecord(row) || typeof row.amount !== 'number' || typeof row.currency !== 'string') continue;
    sums.set(row.currency, (sums.get(row.currency) ?? 0) + row.amount);
  }
  return [...sums].map(([currency, sum]) => `${Number(sum.toFixed(4))} ${currency}`);
}

/** Terms that a person decides about, named once where all new records have the same. */
const SHARED = ['commission_rate', 'method'];

function describeShared(created: readonly PlannedChange[]): string {
  const [first] = created;
  const shared = SHARED.filter(
    (name) => show(first?.new?.[name]) !== 'none' && created.every((one) => one.new?.[name] === first?.new?.[name]),
  );
  return shared.length === 0
    ? ''
    : `, each with ${shared.map((name) => `${name} ${show(first?.new?.[name])}`).join(', ')}`;
}

/** One sentence for the person who decides: "Change the brand: default_commission_rate 10 → 12." */
export function summarizePlan(summary: string, changes: readonly PlannedChange[]): string {
  const [first] = changes;
  if (first === undefined) return `${summary}: nothing would change.`;
  if (changes.length === 1) {
    const { old, new: now } = first;
    const text = old === null ? describeCreated(now ?? {}) : now === null ? 'removed' : describeChanged(old, now);
    return text === '' ? `${summary}.` : `${summary}: ${text}.`;
  }
  const created = changes.filter(({ old }) => old === null);
  const removed = changes.filter(({ new: now }) => now === null).length;
  const counts = [
    [created.length, 'new'],
    [changes.length - created.length - removed, 'changed'],
    [removed, 'removed'],
  ] as const;
  const parts = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  const sums = sumAmounts(created);
  return `${summary}: ${parts.join(', ')}${sums.length > 0 ? `, ${sums.join(' and ')} in all` : ''}${describeShared(created)}.`;
}
