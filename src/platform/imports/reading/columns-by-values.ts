import { type Assigned, type Assignment, isCounted, listTakenColumns } from './columns.ts';
import { readSign } from './currencies.ts';
import { type FieldType, isOrders, isPaid, type Kind } from './kinds.ts';
import { readPlatform } from './people.ts';
import type { ColumnProfile } from './profile.ts';

const share = (part: number, profile: ColumnProfile) => (profile.filled === 0 ? 0 : part / profile.filled);

/** A column fits a type if all of its cells do. */
export function fits(type: FieldType, profile: ColumnProfile): boolean {
  if (profile.filled === 0) return false;
  if (type === 'email') return share(profile.email, profile) === 1;
  if (type === 'money')
    return (
      share(profile.money.read, profile) === 1 &&
      profile.time.texts === 0 &&
      [...profile.money.symbols.keys()].every((symbol) => readSign(symbol) !== undefined)
    );
  if (type === 'time')
    return share(profile.time.read, profile) === 1 && (profile.time.texts > 0 || profile.time.digits.size === 1);
  if (type === 'handle') return share(profile.handle, profile) === 1;
  return type === 'id' || type === 'text';
}

/** Fields without which nothing can be read; of several in a row, one suffices. */
export function listNeeded(of: Kind): readonly (readonly string[])[] {
  if (isOrders(of)) {
    const goods = ['amount', 'subtotal', 'total'];
    const identity = ['order_id', 'order_number'];
    return of === 'reconciliation' ? [identity, goods] : [identity, ['placed_at', 'paid_at'], goods];
  }
  if (isPaid(of)) return [['email', 'handle', 'name', 'code'], ['amount'], ['paid_at']];
  if (of === 'directory') return [['username']];
  if (of === 'payment_details')
    return [
      ['email', 'instagram', 'tiktok', 'code', 'name'],
      ['payment_email', 'payment_method'],
    ];
  return [['email', 'instagram', 'tiktok']];
}

/** The type that stands for a group of needed fields when no header says which column it is. */
const NEEDED_TYPE: Readonly<Record<string, FieldType>> = {
  order_id: 'id',
  placed_at: 'time',
  amount: 'money',
  email: 'email',
  instagram: 'handle',
  paid_at: 'time',
  username: 'handle',
  payment_email: 'email',
};

/** The fields of a group that cells can show a column to be, with their types. */
export const listWanted = (group: readonly string[]): { field: string; type: FieldType }[] =>
  group.flatMap((field) => {
    const type = NEEDED_TYPE[field];
    return type === undefined ? [] : [{ field, type }];
  });

const findFitting = (
  type: FieldType,
  takenColumns: ReadonlySet<number>,
  profiles: ReadonlyMap<number, ColumnProfile>,
) => [...profiles].filter(([at, profile]) => !takenColumns.has(at) && fits(type, profile)).map(([at]) => at);

/** Puts the likelier columns first: amounts with decimals before numbers of something, handles that are written so. */
function rank(
  type: FieldType,
  positions: readonly number[],
  headers: readonly string[],
  profiles: ReadonlyMap<number, ColumnProfile>,
): number[] {
  const isRather = (position: number): boolean => {
    const profile = profiles.get(position);
    if (!profile) return false;
    if (type === 'money') return profile.money.fractions > 0 || profile.money.symbols.size > 0;
    if (type === 'handle')
      return profile.samples.every((text) => text.startsWith('@') || readPlatform(text) !== undefined);
    return false;
  };
  const meantPositions =
    type === 'money' ? positions.filter((position) => !isCounted(headers[position] ?? '')) : positions;
  const candidates = meantPositions.length > 0 ? meantPositions : positions;
  return [...candidates.filter(isRather), ...candidates.filter((position) => !isRather(position))];
}

interface ValuesRequest {
  of: Kind;
  headers: readonly string[];
  constants: Readonly<Record<string, string>>;
  /** Columns that say whether a record counts. */
  flagged: readonly number[];
}

/** A column that only a word names is none if all of its cells are empty. */
const isFilled = (assigned: Assigned | undefined, profiles: ReadonlyMap<number, ColumnProfile>): boolean =>
  assigned !== undefined &&
  assigned.positions.length > 0 &&
  (assigned.by !== 'word' || assigned.positions.some((position) => (profiles.get(position)?.filled ?? 0) > 0));

/** Columns that may be a needed field by their cells. One of addresses is settled; everything else becomes a question. */
export function assignByValues(
  assignment: Assignment,
  { of, headers, constants, flagged }: ValuesRequest,
  profiles: ReadonlyMap<number, ColumnProfile>,
): void {
  const takenColumns = new Set([...listTakenColumns(assignment), ...flagged]);
  for (const group of listNeeded(of)) {
    const isThere = (field: string) => isFilled(assignment.get(field), profiles) || constants[field] !== undefined;
    if (group.some((field) => isThere(field) || assignment.get(field)?.by === 'mapping')) continue;
    const fittingField = listWanted(group)
      .map(({ field, type }) => ({ field, type, positions: findFitting(type, takenColumns, profiles) }))
      .find(({ positions }) => positions.length > 0);
    if (!fittingField) continue;
    const { field, type, positions } = fittingField;
    const isSettled = type === 'email' && positions.length === 1;
    assignment.set(field, {
      field,
      type,
      positions: rank(type, positions, headers, profiles).slice(0, 8),
      by: 'values',
      confidence: isSettled ? 'proved' : 'asked',
    });
  }
}

/** Columns that have the same cells throughout are one: which of them is read makes no difference. */
export function mergeSame(assignment: Assignment, profiles: ReadonlyMap<number, ColumnProfile>): void {
  for (const [field, assigned] of assignment) {
    const { positions, confidence, by } = assigned;
    if (confidence !== 'asked') continue;
    const filledPositions = positions.filter((position) => (profiles.get(position)?.filled ?? 0) > 0);
    const keptPositions = filledPositions.length > 0 ? filledPositions : positions.slice(0, 1);
    const digests = new Set(keptPositions.map((position) => profiles.get(position)?.digest));
    // A column that no word names is looked for even if it is the only one that may be meant.
    if (digests.size > 1 || by === 'values') assignment.set(field, { ...assigned, positions: keptPositions });
    else assignment.set(field, { ...assigned, positions: keptPositions.slice(0, 1), confidence: 'proved' });
  }
}
