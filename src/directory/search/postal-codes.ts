/** States by the first three digits of their ZIP codes, each range by its first and last. */
const ZIPS =
  `005 005 NY,006 009 PR,010 027 MA,028 029 RI,030 038 NH,039 049 ME,050 059 VT,060 069 CT,070 089 NJ,100 149 NY,150 196 PA,
   197 199 DE,200 205 DC,206 219 MD,220 246 VA,247 268 WV,270 289 NC,290 299 SC,300 319 GA,320 349 FL,350 369 AL,370 385 TN,
   386 397 MS,398 399 GA,400 427 KY,430 459 OH,460 479 IN,480 499 MI,500 528 IA,530 549 WI,550 567 MN,570 577 SD,580 588 ND,
   590 599 MT,600 629 IL,630 658 MO,660 679 KS,680 693 NE,700 714 LA,716 729 AR,730 749 OK,750 799 TX,800 816 CO,820 831 WY,
   832 838 ID,840 847 UT,850 865 AZ,870 884 NM,885 885 TX,889 898 NV,900 961 CA,967 968 HI,970 979 OR,980 994 WA,995 999 AK`
    .split(',')
    .map((range) => range.trim().split(' '));

/** Cities by the letters that their British postcodes begin with. */
const BRITISH: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['E', 'EC', 'N', 'NW', 'SE', 'SW', 'W', 'WC'].map((area) => [area, 'London, UK'])),
  B: 'Birmingham, UK',
  BS: 'Bristol, UK',
  BT: 'Belfast, UK',
  CF: 'Cardiff, UK',
  EH: 'Edinburgh, UK',
  G: 'Glasgow, UK',
  L: 'Liverpool, UK',
  LS: 'Leeds, UK',
  M: 'Manchester, UK',
  S: 'Sheffield, UK',
};
/** Cities by the letter that their Canadian postal codes begin with. */
const CANADIAN: Readonly<Record<string, string>> = { M: 'Toronto', H: 'Montreal' };

interface PostalPlace {
  parameter: 'city' | 'state';
  value: string;
}

/** The place of a postal code: `10001`, `SW1A 1AA`, `M5V 2T6`. The directory knows no codes. */
export function listPostalPlaces(value: string): PostalPlace[] {
  const text = value.trim();
  const [, zip] = /^(\d{3})\d{2}(?:-\d{4})?$/.exec(text) ?? [];
  if (zip !== undefined) {
    const [, , state] = ZIPS.find(([from = '', to = '']) => from <= zip && zip <= to) ?? [];
    return state === undefined ? [] : [{ parameter: 'state', value: state }];
  }
  const [, area = ''] = /^([A-Z]{1,2})\d[A-Z\d]?(?:\s*\d[A-Z]{2})?$/i.exec(text) ?? [];
  const british = BRITISH[area.toUpperCase()];
  const [, letter = ''] = /^([A-Z])\d[A-Z]\s*\d[A-Z]\d$/i.exec(text) ?? [];
  const city = CANADIAN[letter.toUpperCase()] ?? british;
  return city === undefined ? [] : [{ parameter: 'city', value: city }];
}
