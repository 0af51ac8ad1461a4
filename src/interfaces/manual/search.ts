import MiniSearch from 'minisearch';
import { type Html, html } from '../../kit/html/html.ts';
import { listTitles, readSections } from './read.ts';
import { describeEntry, ENTRIES } from './shelves.ts';

/** A section that a search found. */
export interface Hit {
  href: string;
  page: string;
  title: string;
  /** The sentence with the first word that was found, and what follows it. */
  excerpt: Html;
}

/** A section to be found. */
interface Section extends Omit<Hit, 'excerpt'> {
  /** The subject of its page, for a section without a paragraph. */
  about: string;
  prose: readonly string[];
  cells: readonly string[];
}

const MAX_HITS = 15;
/** So that one long page does not hide the others. */
const MAX_OF_PAGE = 3;
const EXCERPT = 220;
/** JSON or a path of the API: a paragraph without them reads better. */
const API = /[{}]|\/v1\b/;
const SENTENCE_END = /(?<=[.!?])\s+(?=\p{Lu})/u;

/** A page for brands comes before one for those who build on it or run it, and before what was decided, built or measured. */
const OUTER =
  /^(agents|clients|webhooks|jobs|legacy|indexing|operating|engines|administration|backup|scaling|people|assets-and-messages)$/;
const INNER = /^(decisions-|developing|measured|changelog)/;
const weigh = (name: string): number => (INNER.test(name) ? 0.15 : OUTER.test(name) ? 0.25 : 1);

/** Matches the words that a search found, as whole words, and not within a path or a name of the API. */
function matchWords(words: readonly string[]): RegExp {
  const escaped = words
    .toSorted((one, other) => other.length - one.length)
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`(?<![\\p{L}\\p{N}/_.])(${escaped.join('|')})(?![\\p{L}\\p{N}/_]|\\.\\p{L})`, 'giu');
}

/** Cuts a text after a whole word. */
const shorten = (text: string): string =>
  text.length <= EXCERPT ? text : `${text.slice(0, text.lastIndexOf(' ', EXCERPT)).replace(/[\s,;:]+$/, '')} …`;

/** Takes whole sentences from the first one with a word that was found, and marks those words. */
function excerpt({ about, prose, cells }: Pick<Section, 'about' | 'prose' | 'cells'>, words: readonly string[]): Html {
  const long = words.filter(({ length }) => length > 2);
  const pattern = matchWords(long.length > 0 ? long : words);
  const plain = prose.filter((one) => !API.test(one));
  const [paragraph = about] = [
    ...plain.filter((one) => one.search(pattern) === 0),
    ...plain.filter((one) => one.search(pattern) > 0),
    ...[...prose, ...cells].filter((one) => one.search(pattern) >= 0),
    ...plain,
    ...prose,
    ...cells,
  ];
  const sentences = paragraph.split(SENTENCE_END);
  const from = Math.max(
    0,
    sentences.findIndex((one) => one.search(pattern) >= 0),
  );
  const text = shorten(sentences.slice(from).join(' ').replace(/:$/, '.'));
  // Every second part is a word that the pattern captured.
  return html`${text.split(pattern).map((part, i) => (i % 2 === 1 ? html`<mark>${part}</mark>` : html`${part}`))}`;
}

/**
 * Indexes every section, in turns that leave the process free for others in between. Beginnings of words count, and so does a
 * word with a letter wrong; if no section has all words, those with some of them are returned.
 */
export async function openSearch(): Promise<(query: string) => Hit[]> {
  const titles = listTitles();
  const index = new MiniSearch({
    idField: 'key',
    fields: ['title', 'page', 'paragraphs', 'text'],
    storeFields: ['name'],
  });
  const byKey = new Map<string, Section>();
  for (const entry of ENTRIES) {
    const { name } = entry;
    const about = `${describeEntry(entry)}.`;
    const page = titles.get(name) ?? name;
    const sections = readSections(entry).map(({ id, title, text, prose, cells }) => ({
      key: `${name}#${id}`,
      name,
      page,
      title,
      text,
      paragraphs: prose.join('\n'),
      prose,
      cells,
    }));
    for (const { key, title, prose, cells } of sections) {
      byKey.set(key, { href: `/manual/${key.replace(/#$/, '')}`, page, title, about, prose, cells });
    }
    await index.addAllAsync(sections, { chunkSize: 10 });
  }
  const options = {
    boost: { title: 4, page: 2, paragraphs: 2 },
    boostDocument: (_key: unknown, _term: string, stored?: Record<string, unknown>) => weigh(`${stored?.name}`),
    prefix: (word: string) => word.length > 2,
    fuzzy: 0.15,
  };
  return (query) => {
    const all = index.search(query, { ...options, combineWith: 'AND' });
    const results = all.length > 0 ? all : index.search(query, options);
    const byPage = Map.groupBy(results, ({ name }) => `${name}`);
    const bestOfPages = [...byPage.values()].flatMap((ofPage) => ofPage.slice(0, MAX_OF_PAGE));
    return bestOfPages.slice(0, MAX_HITS).flatMap(({ id, terms }) => {
      const section = byKey.get(`${id}`);
      if (!section) return [];
      const { href, page, title } = section;
      return [{ href, page, title, excerpt: excerpt(section, terms) }];
    });
  };
}
