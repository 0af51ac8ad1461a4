import type { Compared, Comparison } from '../src/directory/imports/indexing/comparison.ts';
import { type Example, IDENTITY } from '../src/directory/imports/indexing/identity.ts';
import { groupDigits } from './terminal.ts';

const percent = (share: number) => `${(share * 100).toFixed(1)}%`;
const shorten = (value: number | null | undefined) => (value == null ? '-' : Number(value.toPrecision(4)));
/** Only the top values are known. */
const shareText = (share: number | undefined) => (share === undefined ? 'rare' : percent(share));
const SHOWN_VALUES = 5;

function* listChanges({ changed, changedFields, isEstimated }: Comparison): Generator<string> {
  yield `${groupDigits(changed)} changed${isEstimated ? ' (by field: estimated from a sample)' : ''}`;
  for (const [field, count] of Object.entries(changedFields).sort(([, a], [, b]) => b - a)) {
    yield `  ${field}: ${groupDigits(count)}`;
  }
}

function* compareProfiles({ from, to }: Comparison): Generator<string> {
  const [before, after] = [from.profile, to.profile];
  yield `in a metro: ${percent(before.inMetro)} -> ${percent(after.inMetro)}`;
  yield 'filled:';
  for (const [field, share] of Object.entries(before.fill)) {
    yield `  ${field}: ${percent(share)} -> ${percent(after.fill[field] ?? 0)}`;
  }
  for (const [field, points] of Object.entries(before.percentiles)) {
    const texts = Object.entries(points).map(([point, value]) => {
      return `p${Number(point)} ${shorten(value)} -> ${shorten(after.percentiles[field]?.[point])}`;
    });
    yield `${field}: ${texts.join(', ')}`;
  }
  for (const [field, shares] of Object.entries(after.top)) {
    const texts = Object.entries(shares)
      .slice(0, SHOWN_VALUES)
      .map(([value, share]) => `${value} ${shareText(before.top[field]?.[value])} -> ${percent(share)}`);
    yield `${field}: ${texts.join(', ')}`;
  }
}

/** A comparison as lines for people. */
export function* comparisonLines(comparison: Comparison): Generator<string> {
  const { from, to, added, removed, unchanged, samples } = comparison;
  yield `${from.index} (${groupDigits(from.profile.creators)} creators) -> ${to.index} (${groupDigits(to.profile.creators)})`;
  yield `${groupDigits(added)} added, ${groupDigits(removed)} removed, ${groupDigits(unchanged)} unchanged`;
  yield* listChanges(comparison);
  yield* compareProfiles(comparison);
  for (const [kind, pks] of Object.entries(samples))
    if (pks.length > 0) yield `${kind}, for example: ${pks.join(', ')}`;
}

const shown = (value: string | null) => (value === null ? '(none)' : value.replace(/\s+/g, ' ').slice(0, 60));

/** Values before and after, by field. */
export function* exampleLines(examples: readonly Example[]): Generator<string> {
  for (const field of new Set(examples.map((example) => example.field))) {
    yield `${field}, for example:`;
    for (const { pk, from, to } of examples.filter((example) => example.field === field))
      yield `  ${pk}: ${shown(from)} → ${shown(to)}`;
  }
}

/** Who creators are, before and after. */
export const identityLines = ({ examples }: Compared): Generator<string> =>
  exampleLines(examples.filter(({ field }) => IDENTITY.some((one) => one === field)));

/** A comparison as JSON, in the names of the API. */
export function toJson({ comparison, examples }: Compared): object {
  const { changedFields, isEstimated, from, to, ...rest } = comparison;
  const version = ({ index, profile: { inMetro, ...profile } }: Comparison['from']) => ({
    index,
    profile: { ...profile, in_metro: inMetro },
  });
  return {
    from: version(from),
    to: version(to),
    ...rest,
    changed_fields: changedFields,
    is_estimated: isEstimated,
    examples,
  };
}
