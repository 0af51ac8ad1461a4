import { domainToUnicode } from 'node:url';

let detector: Promise<(email: string) => boolean> | undefined;

async function open(): Promise<(email: string) => boolean> {
  const { disposableEmailBlocklist } = await import('disposable-email-domains-js');
  const domains = new Set(disposableEmailBlocklist());
  return (email) => {
    const labels = email
      .slice(email.lastIndexOf('@') + 1)
      .trim()
      .toLowerCase()
      .split('.');
    return labels.some((_, place) => domains.has(labels.slice(place).join('.')));
  };
}

/** Recognizes addresses of known providers of disposable ones, also at their subdomains. The list is read at first use. */
export function openDisposable(): Promise<(email: string) => boolean> {
  detector ??= open();
  return detector;
}

/** Names that fraud often imitates, with their owners' hosts. No other brand's name contains one by chance. */
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

/** Everyday words or short names. They count only beside a department, such as `Apple Support`. */
const ORDINARY = [
  ...['apple', 'amazon', 'meta', 'stripe', 'visa', 'wise', 'square', 'chase', 'ebay', 'adobe', 'yahoo', 'outlook'],
  ...['citi', 'citibank', 'hsbc', 'barclays', 'santander', 'discover', 'zelle', 'dhl', 'ups', 'usps', 'fedex', 'irs'],
];
const OFFICES = [
  ...['security', 'support', 'service', 'services', 'billing', 'payment', 'payments', 'pay', 'account', 'accounts'],
  ...['verification', 'verify', 'alert', 'alerts', 'help', 'helpdesk', 'team', 'id', 'refund', 'refunds', 'copyright'],
  ...['trust', 'safety', 'fraud', 'login', 'delivery', 'tax', 'compliance', 'official'],
];

/** Letters of other scripts, and digits, that look like Latin letters. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  0: 'o',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  8: 'b',
  $: 's',
  '@': 'a',
  '!': 'l',
  '|': 'l',
  1: 'l',
  i: 'l',
  ı: 'l',
  а: 'a',
  в: 'b',
  е: 'e',
  к: 'k',
  м: 'm',
  н: 'h',
  о: 'o',
  р: 'p',
  с: 'c',
  т: 't',
  у: 'y',
  х: 'x',
  ѕ: 's',
  і: 'l',
  ј: 'j',
  ԁ: 'd',
  ԛ: 'q',
  ԝ: 'w',
  ӏ: 'l',
  α: 'a',
  ε: 'e',
  ι: 'l',
  κ: 'k',
  ν: 'v',
  ο: 'o',
  ρ: 'p',
  τ: 't',
  υ: 'u',
};

/** The words of a text as they look: `РayРаl`, `Pay-Pal` and `PAYPA1` are the same. */
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

const foldName = (name: string): string => words(name).join('');
const borrowedNames = Object.entries(BORROWED).map(([name, hosts]) => ({ name: foldName(name), hosts }));
const ordinary = new Set(ORDINARY.map(foldName));
const offices = new Set(OFFICES.map(foldName));

/** True if a name looks like one that fraud often imitates. */
export function imitates(text: string): boolean {
  const foundWords = words(text);
  const whole = foundWords.join('');
  if (borrowedNames.some(({ name }) => whole.includes(name))) return true;
  return foundWords.some((word) => ordinary.has(word)) && foundWords.some((word) => offices.has(word));
}

const isWithin = (host: string, own: string): boolean => host === own || host.endsWith(`.${own}`);

/** True if a host imitates such a name without belonging to its owner: `paypa1-login.example`. */
function isImitatingHost(host: string): boolean {
  const whole = foldName(domainToUnicode(host) || host);
  return borrowedNames.some(({ name, hosts }) => whole.includes(name) && !hosts.some((own) => isWithin(host, own)));
}

/** Platforms where creators post. Links to posts are normal in mails between brands and creators. */
const PLATFORMS = [
  ...['instagram.com', 'tiktok.com', 'youtube.com', 'youtu.be', 'twitch.tv', 'x.com', 'twitter.com', 'facebook.com'],
  ...['threads.net', 'threads.com', 'pinterest.com', 'snapchat.com', 'linkedin.com'],
];

const LINK = /(?:https?:\/\/|(?<![\p{L}\p{N}])www\.)[^\s<>"']+/giu;
/** Bare host names that mail programs turn into links. */
const BARE =
  /(?<![\p{L}\p{N}.@-])(?:[\p{L}\p{N}-]{1,63}\.){1,4}(?:com|net|org|info|biz|io|co|me|us|uk|eu|de|fr|ru|cn|app|dev|xyz|site|online|shop|store|click|link|live|top|club|example)(?![\p{L}\p{N}-])/giu;

function parseHost(link: string): string {
  const text = /^https?:\/\//i.test(link) ? link : `http://${link}`;
  return URL.parse(text.replace(/[.,;:!?)\]]+$/, ''))?.hostname.replace(/^www\./, '') ?? link;
}

/** The hosts that a text links to, each once. */
const hostsIn = (text: string): string[] => [
  ...new Set([...(text.match(LINK) ?? []), ...(text.match(BARE) ?? [])].map(parseHost)),
];

/** True if a text links to a host that imitates another company. */
export const linksToImitation = (text: string): boolean => hostsIn(text).some(isImitatingHost);

/** The hosts in a text that are neither one of `own` nor a platform where creators post. */
export function foreignHosts(text: string, own: readonly (string | null | undefined)[]): string[] {
  const knownHosts = [...PLATFORMS, ...own.flatMap((address) => (address ? [parseHost(address)] : []))];
  return hostsIn(text).filter((host) => !knownHosts.some((one) => isWithin(host, one)));
}
