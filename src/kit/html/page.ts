import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { PICTURE_IN_URL } from '../values/web-address.ts';
import { type Html, html } from './html.ts';
import { LOGO } from './logo.ts';

/** The colours of every page that the server writes, light and dark. */
export const COLOURS = readFileSync(new URL('./colours.css', import.meta.url), 'utf8');
const SHEETS = ['page.css', 'facts.css', 'tables.css', 'print.css'];
const STYLE = COLOURS + SHEETS.map((name) => readFileSync(new URL(name, import.meta.url), 'utf8')).join('');

/**
 * Shows the buttons of `copyButton` and `printButton`, which need it, and writes the times of `localTimeTag` in the
 * reader's own zone. A browser's tab in which a creator's own page was open keeps its path, so that `ownPageLink` leads
 * back to it. A page is complete without it.
 */
const SCRIPT = `
for (const button of navigator.clipboard ? document.querySelectorAll('[data-copy]') : []) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = 'Copied';
    button.removeAttribute('aria-label');
  });
}
for (const button of document.querySelectorAll('[data-print]')) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}
for (const time of document.querySelectorAll('[data-local]')) {
  const at = new Date(time.dateTime);
  const isLong = time.dataset.local === 'long';
  const isOfThisYear = at.getFullYear() === new Date().getFullYear();
  time.title = time.textContent;
  time.textContent = at.toLocaleString('en-US', {
    year: isLong || !isOfThisYear ? 'numeric' : undefined,
    month: isLong ? 'long' : 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: isLong ? 'short' : undefined,
  });
}
for (const { dataset } of document.querySelectorAll('[data-own]')) sessionStorage.setItem(dataset.own, location.pathname);
for (const link of document.querySelectorAll('[data-back]')) link.href = sessionStorage.getItem(link.dataset.back) ?? '/me';
`;
const NEEDS_SCRIPT = / data-(?:copy|print|local|own|back)="/;
const digest = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The brand in a page's header. */
export interface BrandFace {
  name: string;
  /** Linked if it is an http or https URL. */
  website?: string | null;
  /** Shown if it is an https URL with a plain host, or a small picture in a data URL. */
  logo: string | null;
}

const NOTHING = html``;
/** A host name goes into the policy unescaped, so no other characters are allowed. */
const PLAIN_ORIGIN = /^https:\/\/[a-z0-9.-]+(?::\d+)?$/;

function findLogo(brand: BrandFace | undefined): URL | undefined {
  const logo = brand?.logo && URL.canParse(brand.logo) ? new URL(brand.logo) : undefined;
  return logo && (PLAIN_ORIGIN.test(logo.origin) || PICTURE_IN_URL.test(logo.href)) ? logo : undefined;
}

/**
 * Nothing is loaded but the brand's logo. The one style and the one script are allowed by their digests.
 * `formLeadsTo` is the origin that the page's form redirects to.
 */
export function contentPolicy(brand?: BrandFace, formLeadsTo?: string): string {
  const logo = findLogo(brand);
  return [
    "default-src 'none'",
    `style-src ${digest(STYLE)}`,
    `img-src data:${logo?.protocol === 'https:' ? ` ${logo.origin}` : ''}`,
    formLeadsTo === undefined ? "form-action 'self'" : `form-action 'self' ${formLeadsTo}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    `script-src ${digest(SCRIPT)}`,
  ].join('; ');
}

/** For every page: its URL is secret and must not reach other hosts or search engines. */
export const pageHeaders = (brand?: BrandFace, formLeadsTo?: string): Record<string, string> => ({
  'content-security-policy': contentPolicy(brand, formLeadsTo),
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
});

/** Links to the site that shows a creator who the brand is. */
function renderSite({ website }: BrandFace): Html {
  const site = website && URL.canParse(website) ? new URL(website) : undefined;
  if (!site || !/^https?:$/.test(site.protocol)) return NOTHING;
  return html`<a class="site" href="${site.href}" rel="noreferrer">${site.host.replace(/^www\./, '')}</a>`;
}

function renderHead(brand: BrandFace): Html {
  const logo = findLogo(brand);
  // The name is next to the picture, so the picture needs no alt text.
  const picture = logo ? html`<img class="logo" src="${logo.href}" alt="" height="40">` : NOTHING;
  return html`<header class="brand">${picture}<span>${brand.name}${renderSite(brand)}</span></header>
`;
}

/** The header of a page that belongs to no brand. */
const PRODUCT_HEAD = html`<header class="brand">${LOGO}<span>Rollcall</span></header>
`;

/** A button that copies a text, hidden where no script runs. */
export const copyButton = (text: string): Html =>
  html`<button type="button" class="copy" data-copy="${text}" aria-label="Copy ${text}" hidden>Copy</button>`;

/** A button that opens the browser's printing, which also saves as PDF; hidden where no script runs. */
export const printButton = (label: string): Html =>
  html`<button type="button" class="quiet slim" data-print="" hidden>${label}</button>`;

/** A creator's own page with a brand in this tab. The name is part of it, because a tab may show pages of several brands. */
const ownPageKey = ({ name }: Pick<BrandFace, 'name'>): string => `me:${name}`;

/** The title of a creator's own page, which `ownPageLink` leads back to. */
export const ownPageTitle = (brand: Pick<BrandFace, 'name'>, title: string): Html =>
  html`<h1 data-own="${ownPageKey(brand)}">${title}</h1>`;

/** Leads back to the creator's own page if this tab came from it; else to the form that mails its link. */
export const ownPageLink = (brand: Pick<BrandFace, 'name'>, content: Html): Html =>
  html`<a href="/me" data-back="${ownPageKey(brand)}">${content}</a>`;

/** A public page: only HTML, with the one style. With a brand it starts with the brand's name and logo. */
export function page(title: string, content: Html, brand?: BrandFace): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${{ html: STYLE }}</style>
</head>
<body>
<main>
${brand ? renderHead(brand) : PRODUCT_HEAD}${content}
</main>
${NEEDS_SCRIPT.test(content.html) ? html`<script>${{ html: SCRIPT }}</script>\n` : NOTHING}</body>
</html>
`.html;
}
