import { html } from './html.ts';

/** The mark of the product, as the web app has it: web/src/icon.svg. It stands beside the name, so it has none of its own. */
export const LOGO = html`<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#0f766e"/><path d="M10 24V8h7.5a5 5 0 0 1 0 10H10m7 0 5 6" fill="none" stroke="#fff" stroke-width="3" stroke-linejoin="round" stroke-linecap="round"/></svg>`;

/** The mark in a browser's tab. */
export const FAVICON = `data:image/svg+xml,${encodeURIComponent(LOGO.html)}`;
