import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';
import { html } from '../../kit/html/html.ts';
import { renderCode } from './code.ts';
import { PICTURE, renderPicture } from './pictures.ts';
import { ENTRIES, type Entry } from './shelves.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
/** Text below one heading. The first section of a page has the page's own title, and its id is empty. */
export interface Section {
  id: string;
  title: string;
  level: number;
  /** All of it, to be searched. */
  text: string;
  /** Its paragraphs, without tables and blocks of code. Code within them is between backticks. */
  prose: string[];
  /** Its tables: each cell behind the first one of its row. */
  cells: string[];
}

/** Matches the mark of a callout, as hosts of repositories write it. */
const CALLOUT = /^\[!(NOTE|WARNING)\]\s*/;

const toPlain = (text: string): string =>
  text
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/\[!(?:NOTE|WARNING)\]\s*/g, '')
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '');

/** A heading's id as hosts of repositories make it, so that one link works in both. */
function toId(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

/** Ids of headings in order; one that repeats gets a number. */
function openIds(): (title: string) => string {
  const counts = new Map<string, number>();
  return (title) => {
    const id = toId(title);
    const count = counts.get(id) ?? 0;
    counts.set(id, count + 1);
    return count === 0 ? id : `${id}-${count}`;
  };
}

/** Leads to another page of the manual, where a link leads to another file of it. Other files of the project have no address. */
function resolveLink(from: string, href: string): string | undefined {
  if (/^[a-z]+:|^[#/]/i.test(href)) return href;
  const [target = '', fragment] = href.split('#');
  const file = path.posix.join(path.posix.dirname(from), target);
  const entry = ENTRIES.find((one) => one.file === file);
  const anchor = fragment === undefined ? '' : `#${fragment}`;
  if (entry) return `/manual/${entry.name}${anchor}`;
  const [, picture] = PICTURE.exec(file) ?? [];
  return picture === undefined ? undefined : `/manual/pictures/${picture}`;
}

const flatten = (text: string): string => toPlain(text).replace(/\s+/g, ' ').trim();

/** Text as `flatten` makes it, whose code stays between backticks. */
const flattenAroundCode = (text: string): string =>
  text
    .split('`')
    .map((piece, i) => (i % 2 === 1 ? piece : toPlain(piece)))
    .join('`')
    .replace(/\s+/g, ' ')
    .trim();

function listCells(tokens: readonly Token[]): string[] {
  return tokens
    .filter((token): token is Tokens.Table => token.type === 'table')
    .flatMap(({ rows }) => rows)
    .flatMap((row) => {
      const [first = '', ...rest] = row.map(({ text }) => flatten(text));
      return rest.filter((text) => text !== '').map((text) => `${first}: ${text}`);
    });
}

/** Lists the paragraphs of a text, one of a list's points after the other. */
function listProse(tokens: readonly Token[]): string[] {
  return tokens.flatMap((token) => {
    if (token.type === 'list') return token.items.flatMap((item: Tokens.ListItem) => listProse(item.tokens));
    if (token.type === 'blockquote') return listProse(token.tokens ?? []);
    const isProse = token.type === 'paragraph' || token.type === 'text';
    const line = isProse ? flattenAroundCode(token.raw) : '';
    return line === '' ? [] : [line];
  });
}

/** Reads the sections of a page, for its contents and for the search. */
function listSections(tokens: readonly Token[], ids: (title: string) => string): Section[] {
  const sections: Section[] = [];
  for (const token of tokens) {
    if (token.type === 'heading') {
      const title = toPlain(token.text);
      const isTitle = token.depth === 1;
      sections.push({ id: isTitle ? '' : ids(title), title, level: token.depth, text: '', prose: [], cells: [] });
      continue;
    }
    const last = sections.at(-1);
    if (!last) continue;
    last.text += `${toPlain(token.raw)}\n`;
    last.prose.push(...listProse([token]));
    last.cells.push(...listCells([token]));
  }
  return sections;
}

const readText = ({ file }: Entry): string => readFileSync(path.join(ROOT, file), 'utf8');

/** The title of each page, by its name. */
export const listTitles = (): ReadonlyMap<string, string> =>
  new Map(
    ENTRIES.map((entry) => [entry.name, entry.title ?? toPlain(/^# (.+)$/m.exec(readText(entry))?.[1] ?? entry.name)]),
  );

/** Reads a page as it is now on the disk, without rendering it. */
export function readSections(entry: Entry): Section[] {
  return listSections(new Marked().lexer(readText(entry)), openIds());
}

/** Renders a quotation that begins with its kind, such as `[!WARNING]`, as a callout. */
function renderQuote(text: string, render: (text: string) => string): string {
  const [mark = '', kind] = CALLOUT.exec(text) ?? [];
  const content = render(text.slice(mark.length));
  if (kind === undefined) return `<blockquote>${content}</blockquote>\n`;
  const [name, label] = kind === 'WARNING' ? ['warning', 'Warning'] : ['note', 'Note'];
  return `<div class="callout ${name}" role="note"><p class="kind">${label}</p>${content}</div>\n`;
}

const MAX_UNBROKEN = 30;
const MAX_TERM = 24;

/**
 * On a phone each row is a block: its first cell is a heading, and each other cell begins with its column's name. A table of
 * two columns whose first one is short explains terms; all of them on a page have a first column of the same width, and so
 * have all tables of variables.
 */
function renderTable({ header, rows }: Tokens.Table, render: (tokens: Token[]) => string): string {
  const isGlossary = header.length === 2 && rows.every(([first]) => flatten(first?.text ?? '').length <= MAX_TERM);
  const labels = header.map(({ text }) => flatten(text));
  const body = rows.map((row) => {
    const cells = row.map(({ tokens }, i) => {
      if (isGlossary && i === 0) return `<th scope="row">${render(tokens)}</th>`;
      const label = labels.length > 2 && i > 0 ? html` data-label="${labels[i] ?? ''}"` : html``;
      return `<td${label.html}>${render(tokens)}</td>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  });
  const columns = header.map(({ tokens }) => (tokens.length > 0 ? `<th>${render(tokens)}</th>` : '<td></td>'));
  const head = labels.some((label) => label !== '') ? `<thead><tr>${columns.join('')}</tr></thead>` : '';
  const kind = isGlossary ? ' class="glossary"' : labels[0] === 'Variable' ? ' class="variables"' : '';
  // A keyboard can scroll what is wider than the page.
  return `<div class="scroll" tabindex="0"><table${kind}>${head}<tbody>${body.join('\n')}</tbody></table></div>\n`;
}

/** Renders the content of a page as HTML, without its title. */
export function renderBody(entry: Entry): string {
  const ids = openIds();
  const markdown = new Marked({
    renderer: {
      // Comments tell the test of the manual what it must not run.
      html: ({ text }) => (text.startsWith('<!--') ? '' : text),
      heading({ tokens, depth, text }: Tokens.Heading) {
        if (depth === 1) return '';
        const id = ids(toPlain(text));
        return `<h${depth} id="${id}"><a href="#${id}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens);
        const target = resolveLink(entry.file, href);
        return target === undefined ? text : `<a href="${html`${target}`.html}">${text}</a>`;
      },
      image({ href, text }: Tokens.Image) {
        const [, base] = /^\/manual\/pictures\/(.+)\.webp$/.exec(resolveLink(entry.file, href) ?? '') ?? [];
        return base === undefined ? html`${text}`.html : renderPicture(base, text);
      },
      // A browser would break a short command after the dashes of a flag.
      codespan: ({ text }: Tokens.Codespan) =>
        html`<code${text.length <= MAX_UNBROKEN ? html` class="whole"` : html``}>${text}</code>`.html,
      blockquote({ text }: Tokens.Blockquote) {
        return renderQuote(text, (content) => this.parser.parse(new Marked().lexer(content)));
      },
      table(token: Tokens.Table) {
        return renderTable(token, (tokens) => this.parser.parseInline(tokens));
      },
      code: renderCode,
    },
  });
  return markdown.parse(readText(entry), { async: false });
}
