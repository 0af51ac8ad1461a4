import { fold } from './fold.ts';

const RATE_TYPES = new Set(
  [
    ...['rate type', 'commission type', 'type of commission', 'commission rate type', 'reward type', 'payout type'],
    ...['commission unit', 'rate unit', 'commission kind', 'commission value type'],
    ...['provisionsart', 'provisionstyp', 'type de commission', 'tipo de comisión', 'tipo di commissione'],
  ].map(fold),
);
const FLAT =
  /^(?:flat|fix|fixed|amount|money|cash|cp[acls]\b|per[ -]?(?:sale|order|lead|click|item)|pauschal|betrag|montant|forfait|fij[oa]|fiss[oa]|\p{Sc}|(?:usd|eur|gbp)$)/iu;
const PERCENT =
  /^(?:%|per ?cent(?:age|ual)?|pct|prozent|prozentual|pourcentage|porcentaje|porcentual|percentuale|procent)/i;

/** The header of a column that says of each rate whether it is a percentage. */
export const isRateType = (header: string): boolean => RATE_TYPES.has(fold(header));

/** The kind of rate that a cell beside it names; undefined for any other word. */
export function readRateType(text: string): 'flat' | 'percent' | undefined {
  if (FLAT.test(text)) return 'flat';
  return PERCENT.test(text) ? 'percent' : undefined;
}
