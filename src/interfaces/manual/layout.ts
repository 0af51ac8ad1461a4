import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Html, html } from '../../kit/html/html.ts';
import { COLOURS } from '../../kit/html/page.ts';
import { listTitles, readSections, renderBody } from './read.ts';
import type { Hit } from './search.ts';
import { describeEntry, ENTRIES, type Entry, SHELVES } from './shelves.ts';

const STYLE = `${COLOURS}${readFileSync(new URL('./manual.css', import.meta.url), 'utf8')}`;

/** No scripts run, and the one style is allowed by its digest. */
export const MANUAL_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
};

const titles = (() => {
  let titles: ReadonlyMap<string, string> | undefined;
  return () => {
    titles ??= listTitles();
    return titles;
  };
})();

const getTitle = (name: string): string => titles().get(name) ?? name;

function renderShelves(current: string): Html {
  const shelves = SHELVES.map(
    ({ title, entries }) => html`<h2>${title}</h2>
<ul>
${entries.map(({ name }) => {
  const mark = name === current ? html` aria-current="page"` : html``;
  return html`<li><a href="/manual/${name}"${mark}>${getTitle(name)}</a></li>
`;
})}</ul>
`,
  );
  return html`${shelves}<h2>API</h2>
<ul>
<li><a href="/docs/">Every operation, to try with a key</a></li>
<li><a href="/openapi.json">The OpenAPI document</a></li>
</ul>`;
}

interface Sheet {
  title: string;
  /** The name of the page, which the shelves mark. */
  current?: string;
  query?: string;
}

/** One page with the shelves beside it. On a phone, they are folded above it. */
function render({ title, current = '', query = '' }: Sheet, content: Html): string {
  const shelves = renderShelves(current);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title === '' ? '' : `${title} · `}Rollcall manual</title>
<link rel="icon" href="data:,">
<style>${{ html: STYLE }}</style>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header>
<a class="name" href="/manual">Rollcall manual</a>
<form action="/manual/search" role="search">
<label for="q">Search the manual</label>
<input id="q" name="q" type="search" value="${query}" placeholder="Search the manual" autocomplete="off">
<button>Search</button>
</form>
<a href="/app">Web app</a>
</header>
<div class="columns">
<nav aria-label="Pages">
<details class="small"><summary>Pages</summary>
${shelves}
</details>
<div class="wide">
${shelves}
</div>
</nav>
<main id="content">
${content}
</main>
</div>
</body>
</html>
`.html;
}

/** The manual's first page: each shelf with what its pages are about. */
export function renderStart(): string {
  const shelves = SHELVES.map(
    ({ title, entries }) => html`<section>
<h2>${title}</h2>
<dl>
${entries.map(
  (entry) => html`<dt><a href="/manual/${entry.name}">${getTitle(entry.name)}</a></dt>
<dd>${describeEntry(entry)}</dd>
`,
)}</dl>
</section>
`,
  );
  return render(
    { title: '' },
    html`<h1>Manual</h1>
<p>What a brand can do with creators here, how its figures and its money come about, and how to run it.</p>
<div class="shelves">
${shelves}</div>`,
  );
}

/** A page, with links to its sections and to the pages before and after it. */
export function renderPage(entry: Entry): string {
  const at = ENTRIES.indexOf(entry);
  const [before, after] = [ENTRIES[at - 1], ENTRIES[at + 1]];
  const parts = readSections(entry).filter(({ level }) => level === 2);
  const contents =
    parts.length < 3
      ? html``
      : html`<details class="contents"><summary>On this page</summary>
<ul>
${parts.map(
  ({ id, title }) => html`<li><a href="#${id}">${title}</a></li>
`,
)}</ul>
</details>
`;
  const title = getTitle(entry.name);
  return render(
    { title, current: entry.name },
    html`<article>
<h1>${title}</h1>
${contents}${{ html: renderBody(entry) }}</article>
<footer>
${before ? html`<a rel="prev" href="/manual/${before.name}">← ${getTitle(before.name)}</a>` : html`<span></span>`}
${after ? html`<a rel="next" href="/manual/${after.name}">${getTitle(after.name)} →</a>` : html``}
</footer>`,
  );
}

export function renderHits(query: string, hits: readonly Hit[]): string {
  const list = hits.map(
    ({ href, page, title, excerpt }) => html`<li>
<a href="${href}">${title}</a>${title === page ? html`` : html` <span class="quiet">in ${page}</span>`}
<p>${excerpt}</p>
</li>
`,
  );
  const none = query === '' ? 'Type one or several words above.' : 'No page has these words. Try fewer or other ones.';
  return render(
    { title: 'Search', query },
    html`<h1>Search</h1>
${hits.length === 0 ? html`<p>${none}</p>` : html`<ol class="hits">${list}</ol>`}`,
  );
}

export const renderMissing = (): string =>
  render(
    { title: 'No such page' },
    html`<h1>No such page</h1>
<p>The manual has no page at this address. <a href="/manual">All pages</a> are on its first one.</p>`,
  );
