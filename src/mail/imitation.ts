import { domainToUnicode } from 'node:url';

/** Names that fraud borrows, with the hosts that are theirs. No brand has one of them inside its own name by chance. */
const BORROWED: Readonly<Record<string, readonly string[]>> = {
  paypal: ['paypal.com', 'paypal.me'],
  venmo: ['venmo.com'],
  cashapp: ['cash.app'],
  coinbase: ['coinbase.com'],
  binance: ['binance.com'],
  metamask: ['metamask.io'],
  klarna: ['klarna.com'],
  revolut: ['revolut.com'],
  payoneer: ['payoneer.com'],
  mastercard: ['mastercard.com'],
  americanexpress: ['americanexpress.com'],
  wellsfargo: ['wellsfargo.com'],
  bankofamerica: ['bankofamerica.com'],
  westernunion: ['westernunion.com'],
  moneygram: ['moneygram.com'],
  microsoft: ['microsoft.com'],
  office365: ['office365.com'],
  google: ['google.com', 'google.de', 'google.fr', 'google.co.uk', 'withgoogle.com'],
  icloud: ['icloud.com'],
  facebook: ['facebook.com'],
  instagram: ['instagram.com'],
  whatsapp: ['whatsapp.com'],
  tiktok: ['tiktok.com'],
  youtube: ['youtube.com'],
  linkedin: ['linkedin.com'],
  pinterest: ['pinterest.com'],
  snapchat: ['snapchat.com'],
  netflix: ['netflix.com'],
  spotify: ['spotify.com'],
  shopify: ['shopify.com', 'myshopify.com'],
  docusign: ['docusign.com', 'docusign.net'],
  dropbox: ['dropbox.com'],
  rollcall: [],
};

/** Everyday words or short names: borrowed where an office stands beside them, such as `Apple Support`. */
const ORDINARY = [
  ...['apple', 'amazon', 'meta', 'stripe', 'visa', 'wise', 'square', 'chase', 'ebay', 'adobe', 'yahoo', 'outlook'],
  ...['citi', 'citibank', 'hsbc', 'barclays', 'santander', 'discover', 'zelle', 'dhl', 'ups', 'usps', 'fedex', 'irs'],
];
const OFFICES = [
  ...['security', 'support', 'service', 'services', 'billing', 'payment', 'payments', 'pay', 'account', 'accounts'],
  ...['verification', 'verify', 'alert', 'alerts', 'help', 'helpdesk', 'team', 'id', 'refund', 'refunds', 'copyright'],
  ...['trust', 'safety', 'fraud', 'login', 'delivery', 'tax', 'compliance', 'official'],
];

/** Letters of other scripts, and digits, that are read as Latin letters. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  ...{ 0: 'o', 3: 'e', 4: 'a', 5: 's', 7: 't', 8: 'b', $: 's', '@': 'a', '!': 'l', '|': 'l', 1: 'l', i: 'l', ı: 'l' },
  ...{ а: 'a', в: 'b', е: 'e', к: 'k', м: 'm', н: 'h', о: 'o', р: 'p', с: 'c', т: 't', у: 'y', х: 'x', ѕ: 's', і: 'l' },
  ...{ ј: 'j', ԁ: 'd', ԛ: 'q', ԝ: 'w', ӏ: 'l', α: 'a', ε: 'e', ι: 'l', κ: 'k', ν: 'v', ο: 'o', ρ: 'p', τ: 't', υ: 'u' },
};

/** A text as the eye takes it: `РayРаl`, `Pay-Pal` and `PAYPA1` are one. Words stay apart. */
const words = (text: string): string[] =>
  [
    ...text
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[\p{M}\p{Cf}]/gu, ''),
  ]
    .map((character) => LOOKALIKES[character] ?? character)
    .join('')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

const folded = (name: string): string => words(name).join('');
const borrowed = Object.entries(BORROWED).map(([name, hosts]) => ({ name: folded(name), hosts }));
const ordinary = new Set(ORDINARY.map(folded));
const offices = new Set(OFFICES.map(folded));

/** Whether a name is read as somebody else's, one that fraud often borrows. */
export function imitates(text: string): boolean {
  const read = words(text);
  const whole = read.join('');
  if (borrowed.some(({ name }) => whole.includes(name))) return true;
  return read.some((word) => ordinary.has(word)) && read.some((word) => offices.has(word));
}

const isWithin = (host: string, own: string): boolean => host === own || host.endsWith(`.${own}`);

/** Whether a host bears such a name and is not its owner's: `paypa1-login.example`. */
function isImitatingHost(host: string): boolean {
  const whole = folded(domainToUnicode(host) || host);
  return borrowed.some(({ name, hosts }) => whole.includes(name) && !hosts.some((own) => isWithin(host, own)));
}

/** Where creators post: a link to a post is what mails between a brand and a creator are about. */
const PLATFORMS = [
  ...['instagram.com', 'tiktok.com', 'youtube.com', 'youtu.be', 'twitch.tv', 'x.com', 'twitter.com', 'facebook.com'],
  ...['threads.net', 'threads.com', 'pinterest.com', 'snapchat.com', 'linkedin.com'],
];

const LINK = /(?:https?:\/\/|(?<![\p{L}\p{N}])www\.)[^\s<>"']+/giu;
/** What mail programs make a link of without being told. */
const BARE =
  /(?<![\p{L}\p{N}.@-])(?:[\p{L}\p{N}-]{1,63}\.){1,4}(?:com|net|org|info|biz|io|co|me|us|uk|eu|de|fr|ru|cn|app|dev|xyz|site|online|shop|store|click|link|live|top|club|example)(?![\p{L}\p{N}-])/giu;

function hostOf(link: string): string {
  const text = /^https?:\/\//i.test(link) ? link : `http://${link}`;
  return URL.parse(text.replace(/[.,;:!?)\]]+$/, ''))?.hostname.replace(/^www\./, '') ?? link;
}

/** The hosts that a text links to, each once. */
const hostsIn = (text: string): string[] => [
  ...new Set([...(text.match(LINK) ?? []), ...(text.match(BARE) ?? [])].map(hostOf)),
];

/** Whether a text links to a host that bears a name that is not its own. */
export const linksToImitation = (text: string): boolean => hostsIn(text).some(isImitatingHost);

/** Those of a text's hosts that are neither one of `own` nor a platform where creators post. */
export function foreignHosts(text: string, own: readonly (string | null | undefined)[]): string[] {
  const known = [...PLATFORMS, ...own.flatMap((address) => (address ? [hostOf(address)] : []))];
  return hostsIn(text).filter((host) => !known.some((one) => isWithin(host, one)));
}
