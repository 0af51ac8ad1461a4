import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';
import { html } from '../../kit/html/html.ts';
import { ENTRIES, type Entry } from './shelves.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const PICTURE = /^docs\/pictures\/([a-z-]+\.webp)$/;

/** Reads a picture by its name in `docs/pictures`, which `npm run pictures` makes; undefined if there is none. */
export function readPicture(name: string): Buffer | undefined {
  const file = `docs/pictures/${name}`;
  return PICTURE.test(file) && existsSync(path.join(ROOT, file)) ? readFileSync(path.join(ROOT, file)) : undefined;
}

/** Text below one heading. The first section of a page has the page's own title, and its id is empty. */
export interface Section {
  id: string;
  title: string;
  level: number;
  /** All of it, to be searched. */
  text: string;
  /** Its paragraphs, without tables and code. */
  prose: string[];
}

const toPlain = (text: string): string =>
  text
    .replace(/<!--[\s\S]*?-->/g, '')
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

/** Lists the paragraphs of a text, one of a list's points after the other, and what a table says of the first cell of a row. */
function listProse(tokens: readonly Token[]): string[] {
  return tokens.flatMap((token) => {
    if (token.type === 'list') return token.items.flatMap((item: Tokens.ListItem) => listProse(item.tokens));
    if (token.type === 'blockquote') return listProse(token.tokens ?? []);
    if (token.type === 'table') {
      return token.rows.flatMap((row: readonly Tokens.TableCell[]) => {
        const [first = '', ...rest] = row.map(({ text }) => flatten(text));
        return rest.filter((text) => text !== '').map((text) => `${first}: ${text}`);
      });
    }
    const isProse = token.type === 'paragraph' || token.type === 'text';
    const line = isProse ? flatten(token.raw) : '';
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
      sections.push({ id: isTitle ? '' : ids(title), title, level: token.depth, text: '', prose: [] });
      continue;
    }
    const last = sections.at(-1);
    if (!last) continue;
    last.text += `${toPlain(token.raw)}\n`;
    last.prose.push(...listProse([token]));
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

/** Renders the content of a page as HTML, without its title. */
export function renderBody(entry: Entry): string {
  const ids = openIds();
  const markdown = new Marked({
    walkTokens: (token) => {
      if (token.type === 'image') token.href = resolveLink(entry.file, token.href) ?? token.href;
    },
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
      // A keyboard can scroll what is wider than the page.
      table(token: Tokens.Table) {
        const render = (row: readonly Tokens.TableCell[], isHead: boolean) => {
          const cells = row.map(({ tokens }) => {
            const tag = isHead && tokens.length > 0 ? 'th' : 'td';
            return `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
          });
          return `<tr>${cells.join('')}</tr>`;
        };
        const head = token.header.some(({ text }) => text !== '') ? `<thead>${render(token.header, true)}</thead>` : '';
        const body = token.rows.map((row) => render(row, false)).join('\n');
        return `<div class="scroll" tabindex="0"><table>${head}<tbody>${body}</tbody></table></div>\n`;
      },
      code: ({ text }: Tokens.Code) => html`<pre tabindex="0"><code>${text}</code></pre>\n`.html,
    },
  });
  return markdown.parse(readText(entry), { async: false });
}
