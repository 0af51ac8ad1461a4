import { money } from './format.ts';

/** The same as in `src/kit/values/money.ts`. `Intl` does not fit: it has no decimals for HUF or IDR, which have two. */
const NOT_TWO: readonly (readonly [decimals: number, codes: string])[] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
];
const DECIMALS: ReadonlyMap<string, number> = new Map(
  NOT_TWO.flatMap(([decimals, codes]) => codes.split(' ').map((code) => [code, decimals] as const)),
);

/** Minor units as the currency counts them: yen have none. */
export const major = (minor: number, currency: string): number => minor / 10 ** (DECIMALS.get(currency) ?? 2);

/** An amount in minor units as text; null is unknown. */
export const minorMoney = (minor: number | null, currency: string): string =>
  money(minor === null ? null : major(minor, currency), currency);
