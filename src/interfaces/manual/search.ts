import MiniSearch from 'minisearch';
import { type Html, html } from '../../kit/html/html.ts';
import { listTitles, readSections } from './read.ts';
import { describeEntry, ENTRIES, findShelf } from './shelves.ts';

/** A section that a search found. */
export interface Hit {
  href: string;
  page: string;
  /** The title of the shelf that has the page. */
  shelf: string;
  title: string;
  /** The sentence that says most about the words that were found, with the one before it and what follows. */
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
/** The README's list of all pages, which has every word and answers nothing. */
const LIST_OF_PAGES = 'the-manual';
const EXCERPT = 260;
/** The longest sentence that is read at a glance. */
const SHORT = 130;
const MIN_DEFINITION = 40;
/** So that a section that repeats a word does not come before one that answers in a sentence. */
const DAMPING = 0.5;
/** A section whose score is a smaller part of the best one's only mentions the words. */
const MIN_SHARE = 0.3;
/** Words that every section has. */
const COMMON = new Set(['a', 'an', 'and', 'the', 'to', 'of', 'in', 'is', 'it', 'do', 'i', 'how', 'for']);
/** JSON or a path of the API: a paragraph without them reads better. */
const API = /[{}]|\/v1\b/;
const CODE = /`[^`]*`/g;
const SENTENCE_END = /(?<=[.!?])\s+(?=\p{Lu})/u;

/** A page for brands comes before one for those who build on it or run it, and before what was decided, built or measured. */
const OUTER =
  /^(agents|clients|webhooks|jobs|legacy|indexing|operating|engines|administration|backup|scaling|people|assets-and-messages)$/;
const INNER = /^(decisions-|developing|measured|changelog)/;
const weigh = (name: string): number => (INNER.test(name) ? 0.15 : OUTER.test(name) ? 0.25 : 1);

/** Matches the words that a search found, as whole words, and not within a path or a name of the API. */
function matchWords(found: readonly string[]): RegExp {
  const long = found.filter(({ length }) => length > 2);
  const words = long.length > 0 ? long : found;
  const escaped = words
    .toSorted((one, other) => other.length - one.length)
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`(?<![\\p{L}\\p{N}/_.])(${escaped.join('|')})(?![\\p{L}\\p{N}/_]|\\.\\p{L})`, 'giu');
}

/** Cuts a text after a whole word, and not within code. */
function shorten(text: string): string {
  if (text.length <= EXCERPT) return text;
  const cut = text.slice(0, text.lastIndexOf(' ', EXCERPT));
  const isWithinCode = cut.split('`').length % 2 === 0;
  return `${(isWithinCode ? cut.slice(0, cut.lastIndexOf('`')) : cut).replace(/[\s,;:]+$/, '')} …`;
}

/** The paragraph that an excerpt begins in, and the place of its sentence. */
interface Place {
  sentences: readonly string[];
  at: number;
  score: number;
}

/** True for the row of a table that says what a word that was found means. */
const isDefinition = (cell: string, pattern: RegExp): boolean =>
  cell.length > MIN_DEFINITION && cell.replace(/:.*/s, '').replace(pattern, '').trim() === '';

/**
 * Finds the sentence that says most about some words: one that has more of them, has one early, as its subject, and is short.
 * "A refund takes back its part of the commission" answers more than a long sentence that ends with a refund.
 */
function findPlace({ prose, cells }: Pick<Section, 'prose' | 'cells'>, pattern: RegExp): Place | undefined {
  const rate = (sentence: string, isFirst: boolean): number => {
    // A name of the API says little about the word, and is not marked.
    const inProse = [...sentence.replace(CODE, (code) => '-'.repeat(code.length)).matchAll(pattern)];
    const found = inProse.length > 0 ? inProse : [...sentence.replaceAll('`', '').matchAll(pattern)];
    const [first] = found;
    if (!first) return 0;
    // A word and its plural are one.
    const kinds = new Set(found.map(([word]) => word.toLowerCase().slice(0, 5))).size;
    const isPlain = inProse.length > 0 && !API.test(sentence);
    const early = 0.4 + 1 / (1 + first.index / 20);
    return kinds * early * (sentence.length <= SHORT ? 1.3 : 1) * (isFirst ? 1.3 : 1) * (isPlain ? 1 : 0.4);
  };
  const list = (paragraph: string, weight: number): Place[] => {
    const sentences = paragraph.split(SENTENCE_END);
    return sentences.map((sentence, at) => ({ sentences, at, score: rate(sentence, at === 0) * weight }));
  };
  const places = [
    ...prose.flatMap((paragraph, i) => list(paragraph, i === 0 ? 1.2 : 1)),
    ...cells.flatMap((cell) => list(cell, isDefinition(cell, pattern) ? 1.5 : 0.3)),
  ];
  const [best] = places.toSorted((one, other) => other.score - one.score);
  return best && best.score > 0 ? best : undefined;
}

/** Marks words, and shows code as such. */
const renderExcerpt = (text: string, pattern: RegExp): Html =>
  // Every second part is code, and in the rest every second part is a word that the pattern captured.
  html`${text
    .split('`')
    .map((piece, at) =>
      at % 2 === 1
        ? html`<code>${piece}</code>`
        : html`${piece.split(pattern).map((part, i) => (i % 2 === 1 ? html`<mark>${part}</mark>` : html`${part}`))}`,
    )}`;

/** Takes whole sentences from the best one on, with the one before it, which its words may refer to. */
function excerpt({ about, prose, cells }: Pick<Section, 'about' | 'prose' | 'cells'>, place?: Place): string {
  const [paragraph = about] = [...prose.filter((one) => !API.test(one)), ...prose, ...cells];
  const { sentences, at } = place ?? { sentences: [paragraph], at: 0 };
  const before = sentences[at - 1];
  const from = before !== undefined && before.length <= SHORT ? at - 1 : at;
  return shorten(sentences.slice(from).join(' ').replace(/:$/, '.'));
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
    processTerm: (term) => (COMMON.has(term.toLowerCase()) ? null : term.toLowerCase()),
  });
  const byKey = new Map<string, Section>();
  for (const entry of ENTRIES) {
    const { name } = entry;
    const about = `${describeEntry(entry)}.`;
    const page = titles.get(name) ?? name;
    const shelf = findShelf(name)?.title ?? '';
    const ofPage = readSections(entry).filter(({ id }) => name !== 'start' || id !== LIST_OF_PAGES);
    const sections = ofPage.map(({ id, title, text, prose: all, cells }) => {
      // The last line of a page, which names others, answers nothing.
      const prose = all.filter((one) => !one.startsWith('Next: '));
      return {
        key: `${name}#${id}`,
        name,
        page,
        title,
        text,
        paragraphs: prose.join('\n').replaceAll('`', ''),
        prose,
        cells,
      };
    });
    for (const { key, title, prose, cells } of sections) {
      byKey.set(key, { href: `/manual/${key.replace(/#$/, '')}`, page, shelf, title, about, prose, cells });
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
    // A name such as `hold_days` is looked for as it was typed, too.
    const names = query.split(/\s+/).filter((word) => word.includes('_'));
    const all = index.search(query, { ...options, combineWith: 'AND' });
    const results = (all.length > 0 ? all : index.search(query, options)).flatMap(
      ({ id, name, terms, queryTerms, score }) => {
        const section = byKey.get(`${id}`);
        if (!section) return [];
        const pattern = matchWords([...terms, ...names]);
        const paragraphs = [...section.prose, ...section.cells];
        const isNamed = names.some((name) => paragraphs.some((text) => text.includes(name)));
        const place = findPlace(section, pattern);
        // A section that is named for all the words comes first.
        const inTitle =
          queryTerms.filter((term) => section.title.toLowerCase().includes(term)).length / queryTerms.length;
        return [
          {
            section,
            name: `${name}`,
            pattern,
            place,
            score: score ** DAMPING * (1 + inTitle ** 2 + (isNamed ? 2 : 0) + (place?.score ?? 0) / queryTerms.length),
          },
        ];
      },
    );
    const sorted = results.toSorted((one, other) => other.score - one.score);
    const good = sorted.filter(({ score }) => score >= MIN_SHARE * (sorted[0]?.score ?? 0));
    const byPage = Map.groupBy(good, ({ name }) => name);
    const bestOfPages = [...byPage.values()].flatMap((ofPage) => ofPage.slice(0, MAX_OF_PAGE));
    return bestOfPages.slice(0, MAX_HITS).map(({ section, pattern, place }) => {
      const { href, page, shelf, title } = section;
      return { href, page, shelf, title, excerpt: renderExcerpt(excerpt(section, place), pattern) };
    });
  };
}
