import { createHash } from 'node:crypto';
import { canonicalJson, type Json } from '../../kit/values/canonical.ts';
import type { Terms } from './terms.shapes.ts';

/** One text for one deal, whatever the order of its fields was. */
export function canonicalTerms(terms: Terms): string {
  const json: Json = JSON.parse(JSON.stringify(terms));
  return canonicalJson(json);
}

/** The SHA-256 of the canonical text, in hex. */
export const hashTerms = (terms: Terms): string => createHash('sha256').update(canonicalTerms(terms)).digest('hex');

/** The highest percentage of the base and of all rules; null if they pay flat amounts only. */
export function highestPercent({ rate, rules }: Terms): number | null {
  const percents = [rate, ...rules.map((rule) => rule.rate)].flatMap(({ percent = [] }) => percent);
  return percents.length === 0 ? null : Math.max(...percents);
}
