import { describe, expect, it } from 'vitest';
import { fromMinor, getDecimals } from '../../src/kit/values/decimals.ts';
import { formatMoney } from '../../src/kit/values/format.ts';
import { Currency, multiplyPpm, toMinor } from '../../src/kit/values/money.ts';

const isCurrency = (code: string) => Currency.safeParse(code).success;

/** ISO 4217's list one as the maintenance agency publishes it, not as `Intl` shows money. */
describe('a currency', () => {
  it.each([
    [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
    [2, 'AFN ALL COP HUF IDR IRR KPW LAK LBP MGA MMK MRU PKR SOS SYP YER'],
    [2, 'AED AUD BRL CAD CHF CNY CZK DKK EUR GBP INR MXN NOK PLN SEK SLE TRY TWD USD VED VES XCD XCG ZAR ZWG'],
    [3, 'BHD IQD JOD KWD LYD OMR TND'],
    [4, 'CLF UYW'],
  ])('has the decimals of its minor unit in ISO 4217: %i for %s', (decimals, codes) => {
    const list = codes.split(' ');
    expect(list.filter((code) => !isCurrency(code))).toEqual([]);
    expect(list.filter((code) => getDecimals(code) !== decimals)).toEqual([]);
  });

  it.each([
    ['was withdrawn', 'ANG BGN BYR CUC DEM HRK LTL MRO SLL STD VEF ZMK ZWD ZWL ZWR'],
    ['is a fund or a unit of account', 'BOV CHE CHW COU MXV USN XAD XDR XSU XUA'],
    ['is a metal, a bond market, a test or nothing', 'XAG XAU XPD XPT XBA XBB XBC XBD XTS XXX'],
    ['is no code of ISO', 'usd BTC GGP ZZZ EURO U$D'],
  ])('that %s cannot be used: %s', (_what, codes) => {
    expect(codes.split(' ').filter(isCurrency)).toEqual([]);
  });

  it('is one of the 158 in use', () => {
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
    const codes = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)));
    expect(codes.filter(isCurrency)).toHaveLength(158);
  });

  it('that ISO withdraws can still be read if something was sold in it', () => {
    expect([getDecimals('BGN'), fromMinor(1_250, 'BGN'), formatMoney(1_250, 'HRK')]).toEqual([
      2,
      12.5,
      'HRK\u00a012.50',
    ]);
  });
});

describe('money', () => {
  it.each([
    [12.34, 'HUF', 1_234],
    [0.5, 'IDR', 50],
    [1.234, 'IQD', 1_234],
    [1.2345, 'CLF', 12_345],
    [100, 'JPY', 100],
    [0.5, 'JPY', undefined],
    [0.001, 'MGA', undefined],
  ])('of %d %s is stored in its minor units', (amount, currency, minor) => {
    expect(toMinor(amount, currency)).toBe(minor);
    if (minor !== undefined) expect(fromMinor(minor, currency)).toBe(amount);
  });

  it.each([
    [50_000, 'USD', '$500.00'],
    [125_050, 'EUR', '€1,250.50'],
    [9_000, 'JPY', '¥9,000'],
    [1_234, 'HUF', 'HUF\u00a012.34'],
    [100_000, 'IDR', 'IDR\u00a01,000.00'],
    [1_234, 'IQD', 'IQD\u00a01.234'],
    [12_345, 'CLF', 'CLF\u00a01.2345'],
  ])('of %d %s is shown with its currency’s decimals: %s', (minor, currency, text) => {
    expect(formatMoney(minor, currency)).toBe(text);
  });
});

describe('a share of an amount', () => {
  it('is rounded half to even, exactly, up to the largest amounts', () => {
    expect([
      multiplyPpm(5, 100_000),
      multiplyPpm(15, 100_000),
      multiplyPpm(25, 100_000),
      multiplyPpm(35, 100_000),
    ]).toEqual([0, 2, 2, 4]);
    expect(multiplyPpm(Number.MAX_SAFE_INTEGER, 1_000_000)).toBe(Number.MAX_SAFE_INTEGER);
    expect(multiplyPpm(Number.MAX_SAFE_INTEGER, 333_333)).toBe(3_002_396_749_180_579);
  });
});
