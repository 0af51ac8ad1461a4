/** Words above numbers that are counted in cents, thousands or millions, with the power of ten that they stand for. */
const SCALES: readonly (readonly [power: number, words: string])[] = [
  [-2, 'cents?|ct|pence|pennies|centimes?|centavos?|céntimos?|centesimi|minor units?|öre|øre|groszy'],
  [3, "tsd|tys|ths|thousands?|tausend|milliers|miles|migliaia|duizend(?:en)?|тыс|['’]?000['’]?s?"],
  [6, 'mio|mln|mn|mm|millions?|millionen|millones|milioni|milhões|miljoen|млн'],
];
const SIGN = '[€$£¥]|eur|usd|gbp|chf|cad|aud|pln|sek|nok|dkk';
const START = '(?<![\\p{L}\\p{N}.,])';
const AFTER = '(?![\\p{L}\\p{N}])';

/** Letters are a scale only beside a currency, or alone in brackets: `k€`, `TEUR`, `$k`, `(K)`. */
const LETTERS: readonly (readonly [power: number, pattern: RegExp])[] = [
  [3, new RegExp(`${START}[kt]\\s?(?=(?:${SIGN})${AFTER})|(?<=[€$£¥])k${AFTER}|(?<=[([])k(?=[)\\]])`, 'iu')],
  [6, new RegExp(`${START}m(?=(?:${SIGN})${AFTER})|(?<=[€$£¥])m${AFTER}|(?<=[([])m(?=[)\\]])`, 'iu')],
];
const PATTERNS = [
  ...SCALES.map(([power, words]) => {
    const pattern = new RegExp(`${START}(?:${words})${AFTER}\\.?(?:\\s(?:of|de|di)\\s)?`, 'iu');
    return [power, pattern] as const;
  }),
  ...LETTERS,
];

export interface Scaled {
  /** The power of ten by which the numbers below are to be multiplied. */
  power: number;
  /** The header without its scale. */
  rest: string;
}

/** `Amount (in  USD)` as `Amount (USD)`, and `Amount ()` as `Amount`. */
const tidy = (header: string): string =>
  header
    .replace(/([([])\s*(?:in|en)\s+/i, '$1')
    .replace(/[([]\s*[)\]]/, '')
    .replace(/\s+/g, ' ')
    .trim();

const MOST_CACHED = 5_000;
const cache = new Map<string, Scaled>();

/** The scale of a header such as `Commission (k€)`, `Umsatz in T€` or `Amount ($000s)`. Headers are asked about again for each row. */
export function splitScale(header: string): Scaled {
  const scaled = cache.get(header) ?? findScale(header);
  if (cache.size > MOST_CACHED) cache.clear();
  cache.set(header, scaled);
  return scaled;
}

function findScale(header: string): Scaled {
  for (const [power, pattern] of PATTERNS)
    if (pattern.test(header)) return { power, rest: tidy(header.replace(pattern, '')) };
  return { power: 0, rest: header };
}
