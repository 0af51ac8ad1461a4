import { z } from 'zod';
import { Canary } from './canaries.ts';
import type { Comparison } from './comparison.ts';
import { type GuardedField, IDENTITY, type IdentityField, OWN_EMAILS } from './identity.ts';

/** An import that differs from the live directory by more than these bounds is held. */
export const Bounds = z.object({
  /** Percent of the live creators that may be missing. */
  maxShrink: z.number(),
  /** Points by which a field may be filled less. */
  maxFillDrop: z.number(),
  /** Points by which the share of a top value, or of creators in a metro, may move. */
  maxDrift: z.number(),
  /** `hold`: always held; `force`: never for these bounds. */
  mode: z.enum(['check', 'hold', 'force']),
  /** Searches that must keep finding what they find now, in every mode. */
  canaries: z.array(Canary),
});
export type Bounds = z.infer<typeof Bounds>;

export const DEFAULT_BOUNDS: Bounds = { maxShrink: 10, maxFillDrop: 10, maxDrift: 20, mode: 'check', canaries: [] };

/** A percentile may be at most this many times the other one. */
const MOST_RATIO = 2;
/** Percent of the kept creators whose username, name or email may change, and points by which different emails may fall. */
const MOST_IDENTITY = 5;

/** Why an import is outside its bounds, and the field whose values show it. */
export interface Breach {
  reason: string;
  field?: string;
}

const percent = (share: number) => `${(share * 100).toFixed(1)}%`;

function* checkShrink({ from, removed }: Comparison, { maxShrink }: Bounds): Generator<string> {
  const removedShare = from.profile.creators === 0 ? 0 : removed / from.profile.creators;
  if (removedShare * 100 <= maxShrink) return;
  yield `${removed} of ${from.profile.creators} live creators are gone (${percent(removedShare)}; at most ${maxShrink}%).`;
}

function* checkFill({ from, to }: Comparison, { maxFillDrop }: Bounds): Generator<string> {
  for (const [field, before] of Object.entries(from.profile.fill)) {
    if (field === OWN_EMAILS) continue;
    const after = to.profile.fill[field] ?? 0;
    if ((before - after) * 100 <= maxFillDrop) continue;
    yield `${field} is filled in ${percent(after)} of rows, previously in ${percent(before)} (at most ${maxFillDrop} points less).`;
  }
}

function* checkDrift({ from, to }: Comparison, { maxDrift }: Bounds): Generator<string> {
  const [before, after] = [from.profile, to.profile];
  for (const field of Object.keys(before.top)) {
    const [was, is] = [before.top[field] ?? {}, after.top[field] ?? {}];
    for (const value of new Set([...Object.keys(was), ...Object.keys(is)])) {
      const [old, fresh] = [was[value] ?? 0, is[value] ?? 0];
      if (Math.abs(fresh - old) * 100 <= maxDrift) continue;
      yield `${field} is ${JSON.stringify(value)} in ${percent(fresh)} of creators, before in ${percent(old)} (at most ${maxDrift} points apart).`;
    }
  }
  if (Math.abs(after.inMetro - before.inMetro) * 100 > maxDrift) {
    yield `${percent(after.inMetro)} of creators are in a metro, previously ${percent(before.inMetro)} (at most ${maxDrift} points apart).`;
  }
}

function* checkPercentiles({ from, to }: Comparison): Generator<string> {
  for (const [field, points] of Object.entries(from.profile.percentiles)) {
    for (const [point, before] of Object.entries(points)) {
      const after = to.profile.percentiles[field]?.[point] ?? null;
      if (before === null || after === null || before <= 0) continue;
      if (after <= before * MOST_RATIO && after * MOST_RATIO >= before) continue;
      const name = `The ${Number(point)}th percentile of ${field}`;
      yield `${name} is ${Number(after.toPrecision(6))}, before ${Number(before.toPrecision(6))} (at most ${MOST_RATIO} times apart).`;
    }
  }
}

const NAMES: Readonly<Record<IdentityField, string>> = {
  username: 'Usernames',
  full_name: 'Names',
  extracted_email: 'Emails',
};

/** One column that was sorted alone gives everybody somebody else's value, and changes no share. */
function* checkIdentity({ from, to, unchanged, changed, identity }: Comparison): Generator<Breach> {
  const keptCreators = unchanged + changed;
  for (const field of IDENTITY) {
    const count = identity[field] ?? 0;
    if (count * 100 <= keptCreators * MOST_IDENTITY) continue;
    const share = percent(count / keptCreators);
    yield {
      field,
      reason: `${NAMES[field]} change for ${count} of ${keptCreators} kept creators (${share}; at most ${MOST_IDENTITY}%).`,
    };
  }
  const [before, after] = [from.profile.fill[OWN_EMAILS], to.profile.fill[OWN_EMAILS]];
  if (before === undefined || after === undefined || (before - after) * 100 <= MOST_IDENTITY) return;
  yield {
    field: 'extracted_email',
    reason: `Emails fall together: ${percent(after)} are different ones, previously ${percent(before)} (at most ${MOST_IDENTITY} points less).`,
  };
}

/** Why an import is outside its bounds, a sentence each. */
export function listBreaches(comparison: Comparison, bounds: Bounds): Breach[] {
  const reasons = [
    ...checkShrink(comparison, bounds),
    ...checkFill(comparison, bounds),
    ...checkDrift(comparison, bounds),
    ...checkPercentiles(comparison),
  ];
  return [...reasons.map((reason) => ({ reason })), ...checkIdentity(comparison)];
}

/** Fields in which every value has a guard before it. */
export const listGuarded = (guarded: readonly GuardedField[]): Breach[] =>
  guarded.map(({ field, character, share }) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    const printedCharacter = /\s|\p{Cf}/u.test(character) ? `U+${code}` : character;
    return {
      field,
      reason: `${field} begins with ${printedCharacter} in ${percent(share)} of the rows that have one.`,
    };
  });
