/** The web app loads this file as well, so it imports nothing. */

/**
 * Currencies by the decimals of their minor unit: ISO 4217's list one as of 2026-09-17, without funds (but for the
 * units that prices are quoted in: CLF, UYI, UYW), metals and codes for tests. `Intl` does not fit: it has the digits
 * used for display (none for HUF or IQD) and keeps withdrawn currencies.
 */
const ISO_4217: readonly (readonly [number, string])[] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [
    2,
    `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE
    CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR
    KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB
    PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY
    TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG`,
  ],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
];

const DECIMALS: ReadonlyMap<string, number> = new Map(
  ISO_4217.flatMap(([decimals, codes]) => codes.split(/\s+/).map((code) => [code, decimals] as const)),
);

/** True if ISO 4217 lists the code today. */
export const isCurrencyCode = (code: string): boolean => DECIMALS.has(code);

/** Decimals of a currency: 2 for USD, 0 for JPY, 3 for KWD. A currency that ISO has withdrawn since counts as 2. */
export const getDecimals = (currency: string): number => DECIMALS.get(currency) ?? 2;

/** An amount in minor units as the currency counts it: yen have none. */
export function fromMinor(minor: number, currency: string): number {
  return minor / 10 ** getDecimals(currency);
}
