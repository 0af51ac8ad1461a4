import { domainToASCII, domainToUnicode } from 'node:url';
import { z } from 'zod';

/** RFC 5321 has no longer ones. */
const MAX_LENGTH = 254;
const BEYOND_ASCII = /[^\p{ASCII}]/u;
/** The last label of a domain in another script is written `xn--p1ai`, which zod's own pattern refuses. */
const ADDRESS = new RegExp(z.regexes.email.source.replace('[A-Za-z]{2,}$', '(?:[A-Za-z]{2,}|xn--[A-Za-z0-9-]+)$'));
const OTHER_SCRIPT =
  'must have only the letters a to z, digits and signs before the @, because mail programs cannot carry other letters there';

/** Rewrites the domain of an address; what is no domain stays as it is, for the check that follows. */
function rewriteDomain(address: string, rewrite: (domain: string) => string): string {
  const at = address.lastIndexOf('@') + 1;
  const domain = rewrite(address.slice(at));
  return at === 0 || domain === '' ? address : address.slice(0, at) + domain;
}

/** Marks that address books and chats put around an address for the direction of its letters, and their like. */
const INVISIBLE = /\p{Cf}/gu;
const FULL_WIDTH = /[\uff01-\uff5e]/g;

/** An address as mail programs carry it: its domain by UTS 46, `ana@xn--bcher-kva.example`. */
export function toAsciiAddress(address: string): string {
  if (!BEYOND_ASCII.test(address)) return address;
  const plain = address.replace(INVISIBLE, '').replace(FULL_WIDTH, (sign) => sign.normalize('NFKC'));
  return rewriteDomain(plain.trim(), domainToASCII);
}

const NAMED = /<\s*([^\s<>@]+@[^\s<>@]+)\s*>$/;

/**
 * The address in what a shop passes on, which may be all that somebody typed: `Ana <ana@x.example>`, `mailto:ana@x.example`
 * or `ana@x.example.` Undefined without an address: all guests with `none` or `n/a` are not one customer.
 */
export function readReportedAddress(text: string | null | undefined): string | undefined {
  const plain = (text ?? '').replace(INVISIBLE, '').trim();
  const address = NAMED.exec(plain)?.[1] ?? plain;
  const reported = address.replace(/^mailto:\s*/i, '').replace(/\.$/, '');
  return /[^@]@[^@]/.test(reported) ? reported : undefined;
}

/** A part of an address, such as a domain alone, as it is kept. */
export const toAsciiPart = (text: string): string =>
  text.includes('@') ? toAsciiAddress(text) : BEYOND_ASCII.test(text) ? domainToASCII(text.trim()) || text : text;

/** An address as people write it: `ana@bücher.example`. */
export const showAddress = (address: string): string =>
  address.includes('xn--') ? rewriteDomain(address, domainToUnicode) : address;

/** The forms in which a file may have an address: as it was written, in ASCII, and as people write it. */
export function listForms(address: string): string[] {
  if (!BEYOND_ASCII.test(address) && !address.includes('xn--')) return [address];
  const ascii = toAsciiAddress(address);
  return [...new Set([address, ascii, showAddress(ascii)])];
}

const GMAIL = ['gmail.com', 'googlemail.com'];

/**
 * Returns one spelling for all that reach the same mailbox: case, a `+` suffix and the script of the domain do not
 * matter, and at Gmail neither do dots. Only to compare: mail goes to the address as it was written.
 */
export function toMailbox(email: string): string {
  const text = toAsciiAddress(email.trim().toLowerCase());
  const at = text.lastIndexOf('@');
  if (at < 0) return text;
  const domain = text.slice(at + 1);
  const local = text.slice(0, at).replace(/(?<=.)\+.*$/s, '');
  return GMAIL.includes(domain) ? `${local.replaceAll('.', '')}@gmail.com` : `${local}@${domain}`;
}

/** Spellings in which the same mailbox is usual, to find one of which only a hash is kept. */
export function listSpellings(email: string): string[] {
  const mailbox = toMailbox(email);
  const own = [email, toAsciiAddress(email), showAddress(mailbox), mailbox];
  const isGmail = mailbox.endsWith('@gmail.com');
  const others = isGmail ? own.flatMap((one) => GMAIL.map((domain) => one.replace(/@.*$/s, `@${domain}`))) : [];
  return [...new Set([...own, ...others])];
}

/** A second's work: all spellings of up to 15 letters, and at least three dots in the longest. */
const MOST_SPELLINGS = 32_768;
const LONGEST_GMAIL = 30;

/** The local part with up to so many dots from a place on. */
function listDotted(local: string, from: number, dots: number): string[] {
  const others: string[] = [];
  for (let place = from; dots > 0 && place < local.length; place += 1) {
    others.push(...listDotted(`${local.slice(0, place)}.${local.slice(place)}`, place + 2, dots - 1));
  }
  return [local, ...others];
}

/** The number of dots up to which there are no more spellings than can be tried. */
function countDots(places: number): number {
  let [dots, ways, sum] = [0, 1, 1];
  while (dots < places) {
    ways = (ways * (places - dots)) / (dots + 1);
    sum += ways;
    if (sum * GMAIL.length > MOST_SPELLINGS) break;
    dots += 1;
  }
  return dots;
}

/** Spellings of a Gmail address with as many dots as can be tried, where only hashes are kept; none of another address. */
export function listGmailSpellings(email: string): string[] {
  const [local = '', domain] = toMailbox(email).split('@');
  if (domain !== 'gmail.com' || local === '' || local.length > LONGEST_GMAIL) return [];
  const spellings = listDotted(local, 1, countDots(local.length - 1));
  return spellings.flatMap((one) => GMAIL.map((host) => `${one}@${host}`));
}

/** The domains of which an address may be in the same mailbox. */
export function listMailboxDomains(email: string): string[] {
  const domain = toMailbox(email).replace(/^.*@/s, '');
  return domain === 'gmail.com' ? GMAIL : [domain];
}

const hasOtherScript = (address: unknown): boolean => BEYOND_ASCII.test(String(address).replace(/@[^@]*$/, ''));

/** An address with a domain in any script, kept in ASCII, for forms with messages of their own. */
export const addressField = (error: string, tooLong: string) =>
  z
    .string()
    .trim()
    .overwrite(toAsciiAddress)
    .pipe(z.email({ pattern: ADDRESS, error }).max(MAX_LENGTH, tooLong));

/** An email address in a request, with a domain in any script. */
export const Email = z
  .string()
  .trim()
  .max(MAX_LENGTH)
  .overwrite(toAsciiAddress)
  .pipe(
    z
      .email({ pattern: ADDRESS, error: ({ input }) => (hasOtherScript(input) ? OTHER_SCRIPT : undefined) })
      .max(MAX_LENGTH),
  )
  .meta({ example: 'ana@example.com' });
