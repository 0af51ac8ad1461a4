import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Html, html } from './html.ts';

const STYLE = readFileSync(new URL('./page.css', import.meta.url), 'utf8');

/** Whose page it is, as its head shows it. */
export interface BrandFace {
  name: string;
  /** Shown when it is an https address of a plain host. */
  logo: string | null;
}

const NOTHING = html``;
/** A host name goes into the policy unescaped, so no other characters are allowed. */
const PLAIN_ORIGIN = /^https:\/\/[a-z0-9.-]+(?::\d+)?$/;

function logoOf(brand: BrandFace | undefined): URL | undefined {
  const logo = brand?.logo && URL.canParse(brand.logo) ? new URL(brand.logo) : undefined;
  return logo && PLAIN_ORIGIN.test(logo.origin) ? logo : undefined;
}

/**
 * Nothing runs, and nothing is loaded but the brand's logo; the one style is known by its digest. `formLeadsTo` is where the
 * page's form redirects.
 */
export function contentPolicy(brand?: BrandFace, formLeadsTo?: string): string {
  const logo = logoOf(brand);
  return [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    `img-src data:${logo ? ` ${logo.origin}` : ''}`,
    formLeadsTo === undefined ? "form-action 'self'" : `form-action 'self' ${formLeadsTo}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Of every page: its address is a secret, and nobody is told it. */
export const pageHeaders = (brand?: BrandFace, formLeadsTo?: string): Record<string, string> => ({
  'content-security-policy': contentPolicy(brand, formLeadsTo),
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
});

function headOf(brand: BrandFace): Html {
  const logo = logoOf(brand);
  // The name is next to the picture, so the picture needs no alt text.
  const picture = logo ? html`<img class="logo" src="${logo.href}" alt="" height="40">` : NOTHING;
  return html`<header class="brand">${picture}<span>${brand.name}</span></header>
`;
}

/** A public page: HTML alone, in the one style. With a brand it begins with the brand's name and logo. */
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
${brand ? headOf(brand) : NOTHING}${content}
</main>
</body>
</html>
`.html;
}
