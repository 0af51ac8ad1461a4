/** A spreadsheet shows 15 digits; further ones are what binary fractions leave over. */
const SHOWN_DIGITS = 15;

/**
 * A number's digits without an exponent, times a power of ten, with at least so many decimals. A third decimal gets a
 * zero: its mark cannot be taken for grouping then.
 */
export function writeNumber(text: string, { power = 0, leastDecimals = 0 } = {}): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text);
  if (!match) return text;
  const [, minus = '', whole = '', fraction = '', exponent = '0'] = match;
  const shift = Number(exponent) + power;
  if (Math.abs(shift) > 40) return text;
  const digits = whole + fraction;
  const point = whole.length + shift;
  const paddedDigits = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0');
  const at = Math.max(point, 1);
  // A number of a workbook keeps no whole number above 2^53: an id that was longer is lost, and shown so.
  if (point > SHOWN_DIGITS && Number(text) > Number.MAX_SAFE_INTEGER) return `${Number(text).toExponential()}`;
  const [left, right] = roundDigits(
    paddedDigits.slice(0, at).replace(/^0+(?=\d)/, ''),
    paddedDigits.slice(at).replace(/0+$/, ''),
  );
  const padded = right.padEnd(leastDecimals, '0');
  const decimals = padded.length === 3 ? `${padded}0` : padded;
  return `${minus}${left}${decimals === '' ? '' : `.${decimals}`}`;
}

/** Fractions with more digits than a spreadsheet shows are rounded as it shows them; whole numbers are kept. */
function roundDigits(whole: string, fraction: string): [string, string] {
  const length = (whole === '0' ? '' : whole).length + fraction.replace(/^0+/, whole === '0' ? '' : '$&').length;
  if (fraction === '' || length <= SHOWN_DIGITS) return [whole, fraction];
  const excess = length - SHOWN_DIGITS;
  const keptDecimals = Math.max(fraction.length - excess, 0);
  const isUp = (fraction[keptDecimals] ?? '0') >= '5';
  const scaledDigits = (BigInt(whole + fraction.slice(0, keptDecimals)) + (isUp ? 1n : 0n))
    .toString()
    .padStart(keptDecimals + 1, '0');
  return [
    scaledDigits.slice(0, scaledDigits.length - keptDecimals),
    scaledDigits.slice(scaledDigits.length - keptDecimals).replace(/0+$/, ''),
  ];
}
