import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Html, html } from './html.ts';

const STYLE = readFileSync(new URL('./page.css', import.meta.url), 'utf8');

/** Nothing runs and nothing is loaded; the one style is known by its digest. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A public page: HTML alone, in the one style. */
export function page(title: string, content: Html): string {
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
${content}
</main>
</body>
</html>
`.html;
}
