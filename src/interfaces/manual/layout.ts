import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Html, html } from '../../kit/html/html.ts';
import { FAVICON, LOGO } from '../../kit/html/logo.ts';
import { COLOURS } from '../../kit/html/page.ts';
import { listTitles, readSections, renderBody } from './read.ts';
import type { Hit } from './search.ts';
import {
  describeEntry,
  ENTRIES,
  type Entry,
  findShelf,
  listPages,
  ROUTES,
  SHELVES,
  SUBSHELVES,
  type Subshelf,
} from './shelves.ts';

const readOwn = (name: string): string => readFileSync(new URL(`./${name}`, import.meta.url), 'utf8');
const STYLE = `${COLOURS}${readOwn('manual.css')}${readOwn('content.css')}`;
const SCRIPT = readOwn('manual.js');
const digest = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`;

/** The one style and the one script are allowed by their digests. Every page can be read without the script. */
export const MANUAL_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src ${digest(STYLE)}`,
    `script-src ${digest(SCRIPT)}`,
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
};

const NOTHING = html``;

const titles = (() => {
  let titles: ReadonlyMap<string, string> | undefined;
  return () => {
    titles ??= new Map([...listTitles(), ...SUBSHELVES.map(({ name, title }) => [name, title] as const)]);
    return titles;
  };
})();

const getTitle = (name: string): string => titles().get(name) ?? name;

/** The part of a title before a colon, which is enough in a list. */
const beginTitle = (name: string): string => getTitle(name).replace(/:.*/, '');

const findSubshelf = (name: string): Subshelf | undefined =>
  SUBSHELVES.find((subshelf) => listPages(subshelf).some((entry) => entry.name === name));

const formatCount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const capitalize = (text: string): string => text.replace(/^./, (letter) => letter.toUpperCase());

/** The title of a page in the list of its part, which says the beginning. */
const shortenTitle = (name: string, part: string): string => capitalize(getTitle(name).replace(`${part}: `, ''));

/** The list of all pages. A subshelf lists its own only while one of them is open. */
function renderShelves(current: string): Html {
  const renderLink = (name: string, label: string): Html => {
    const mark = name === current ? html` aria-current="page"` : NOTHING;
    return html`<a href="/manual/${name}"${mark}>${label}</a>`;
  };
  const renderParts = ({ parts }: Subshelf): Html => html`
<ul>
${parts.map(
  ({ title, entries }) => html`<li class="part">${title}</li>
${entries.map(
  ({ name }) => html`<li>${renderLink(name, shortenTitle(name, title))}</li>
`,
)}`,
)}</ul>`;
  const open = findSubshelf(current);
  const renderEntry = (entry: Entry | Subshelf): Html => {
    const isOpen = 'parts' in entry && (entry === open || entry.name === current);
    return html`<li>${renderLink(entry.name, beginTitle(entry.name))}${isOpen ? renderParts(entry) : NOTHING}</li>
`;
  };
  return html`${SHELVES.map(
    ({ title, entries }) => html`<h2>${title}</h2>
<ul>
${entries.map(renderEntry)}</ul>
`,
  )}`;
}

interface Sheet {
  title: string;
  /** The name of the page, which the shelves mark. */
  current?: string;
  query?: string;
  /** The links to the page's sections, beside the content where there is room. */
  contents?: Html | undefined;
  /** The first page lists all pages itself. */
  isStart?: boolean;
}

/** One page with the shelves beside it. On a phone, they are folded above it. */
function render({ title, current = '', query = '', contents, isStart = false }: Sheet, content: Html): string {
  const shelves = isStart ? NOTHING : renderShelves(current);
  const nav = isStart
    ? NOTHING
    : html`<nav class="pages" aria-label="Pages">
<details class="fold"><summary>Pages</summary>
${shelves}
</details>
<div class="wide">
${shelves}
</div>
</nav>
`;
  const beside = contents
    ? html`<nav class="beside" aria-label="Sections">
<h2>On this page</h2>
${contents}
</nav>
`
    : NOTHING;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title === '' ? '' : `${title} · `}Rollcall manual</title>
<link rel="icon" href="${FAVICON}">
<style>${{ html: STYLE }}</style>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header class="top">
<div class="bar">
<a class="name" href="/manual">${LOGO}Rollcall manual</a>
<form action="/manual/search" role="search">
<label for="q">Search the manual</label>
<input id="q" name="q" type="search" value="${query}" placeholder="Search the manual" autocomplete="off">
<button>Search</button>
</form>
<nav class="elsewhere" aria-label="Rollcall"><a href="/docs/">API</a><a href="/app">Web app</a></nav>
</div>
</header>
<div class="columns${isStart ? ' start' : ''}">
${nav}${beside}<main id="content">
${content}
</main>
</div>
<script>${{ html: SCRIPT }}</script>
</body>
</html>
`.html;
}

interface Listed {
  name: string;
  title: string;
  about: string;
}

/** A list of pages with what they are about. */
const renderList = (entries: readonly Listed[]): Html => html`<dl class="entries">
${entries.map(
  ({ name, title, about }) => html`<div>
<dt><a href="/manual/${name}">${title}</a></dt>
<dd>${describeEntry({ about })}</dd>
</div>
`,
)}</dl>`;

/** The manual's first page: each shelf with what its pages are about. */
export function renderStart(): string {
  const shelves = SHELVES.map(
    ({ title, about, entries }) => html`<section>
<div>
<h2>${title}</h2>
<p class="quiet">${about}</p>
</div>
${renderList(entries.map((entry) => ({ ...entry, title: beginTitle(entry.name) })))}
</section>
`,
  );
  const routes = ROUTES.map(
    ({ reader, steps }) => html`<li class="route"><strong>${reader}</strong>
<ol class="route-steps">
${steps.map(
  ({ href, label }) => html`<li><a href="${href}">${label}</a></li>
`,
)}</ol></li>
`,
  );
  return render(
    { title: '', isStart: true },
    html`<h1>Manual</h1>
<p class="lead">How to work with creators in Rollcall, where its figures and amounts come from, and how to run it.</p>
<ul class="routes">
${routes}</ul>
${shelves}<p class="quiet">The <a href="/docs/">API reference</a> describes every operation and lets you try it with a key. Generators read
the <a href="/openapi.json">OpenAPI document</a>.</p>`,
  );
}

/** The pages of a subshelf, part by part. */
export function renderSubshelf({ name, title, about, parts }: Subshelf): string {
  const lists = parts.map(
    (part) => html`<h2>${part.title}</h2>
${renderList(part.entries.map((entry) => ({ ...entry, title: shortenTitle(entry.name, part.title) })))}
`,
  );
  return render(
    { title, current: name },
    html`<article>
${renderPlace(name)}<h1>${title}</h1>
<p>${describeEntry({ about })}.</p>
${lists}</article>`,
  );
}

/** The shelf of a page, above its title. */
function renderPlace(name: string): Html {
  const subshelf = findSubshelf(name);
  const shelf = findShelf(name);
  const above = subshelf ? html` › <a href="/manual/${subshelf.name}">${subshelf.title}</a>` : NOTHING;
  return html`<p class="place"><a href="/manual">Manual</a> › ${shelf?.title ?? ''}${above}</p>
`;
}

/** Links to the sections of a page; undefined if it has few. */
function renderContents(entry: Entry): Html | undefined {
  const sections = readSections(entry).filter(({ level }) => level === 2 || level === 3);
  if (sections.filter(({ level }) => level === 2).length < 3) return undefined;
  return html`<ul>
${sections.map(
  ({ id, title, level }) => html`<li${level === 3 ? html` class="inner"` : NOTHING}><a href="#${id}">${title}</a></li>
`,
)}</ul>`;
}

/** A page, with links to its sections and to the pages before and after it. */
export function renderPage(entry: Entry): string {
  const at = ENTRIES.indexOf(entry);
  const [before, after] = [ENTRIES[at - 1], ENTRIES[at + 1]];
  const contents = renderContents(entry);
  const folded = contents
    ? html`<details class="fold contents"><summary>On this page</summary>
${contents}
</details>
`
    : NOTHING;
  const title = getTitle(entry.name);
  return render(
    { title, current: entry.name, contents },
    html`<article>
${renderPlace(entry.name)}<h1>${title}</h1>
${folded}${{ html: renderBody(entry) }}</article>
<footer>
${before ? html`<a rel="prev" href="/manual/${before.name}"><span>← Previous</span>${beginTitle(before.name)}</a>` : html`<span></span>`}
${after ? html`<a rel="next" href="/manual/${after.name}"><span>Next →</span>${beginTitle(after.name)}</a>` : NOTHING}
</footer>`,
  );
}

/** The sections that a search found, under the page that they are on. */
function renderFound(page: string, hits: readonly Hit[]): Html {
  const [pagePath = ''] = hits[0]?.href.split('#') ?? [];
  return html`<div class="found">
<h2><a href="${pagePath}">${page}</a> <span class="shelf">${hits[0]?.shelf ?? ''}</span></h2>
<ol class="hits">${hits.map(
    ({ href, title, excerpt }) => html`<li>
<a href="${href}">${title === page ? 'Introduction' : title}</a>
<p>${excerpt}</p>
</li>
`,
  )}</ol>
</div>
`;
}

export function renderHits(query: string, hits: readonly Hit[]): string {
  const byPage = Map.groupBy(hits, ({ page }) => page);
  const found = [...byPage].map(([page, ofPage]) => renderFound(page, ofPage));
  const count = `${formatCount(hits.length, 'result')} on ${formatCount(byPage.size, 'page')}`;
  const none = query === '' ? 'Type one or more words above.' : 'No page has these words. Try fewer words, or others.';
  return render(
    { title: 'Search', query },
    html`<h1>${query === '' ? 'Search' : `Search for “${query}”`}</h1>
${hits.length === 0 ? html`<p>${none}</p>` : html`<p class="quiet">${count}</p>${found}`}`,
  );
}

export const renderMissing = (): string =>
  render(
    { title: 'No such page' },
    html`<h1>No such page</h1>
<p>The manual has no page at this address. Search above, or choose from <a href="/manual">all pages</a>.</p>`,
  );
