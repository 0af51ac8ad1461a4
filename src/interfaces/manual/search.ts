import MiniSearch from 'minisearch';
import { listTitles, readSections } from './read.ts';
import { ENTRIES } from './shelves.ts';

/** A section that a search found. */
export interface Hit {
  href: string;
  page: string;
  title: string;
  /** The text around the first word that was found. */
  excerpt: string;
}

const MAX_HITS = 20;
const EXCERPT = 220;
/** A user's page comes before what was decided, built or measured. */
const INNER = /^(decisions-|developing|measured|changelog)/;

function excerpt(text: string, words: readonly string[]): string {
  const flat = text.replace(/[\s|]+/g, ' ').trim();
  const lower = flat.toLowerCase();
  const at = Math.min(...words.map((word) => lower.indexOf(word)).filter((index) => index >= 0));
  const from = Number.isFinite(at) ? Math.max(0, flat.lastIndexOf(' ', at - 60) + 1) : 0;
  const part = flat.slice(from, from + EXCERPT);
  return `${from > 0 ? '… ' : ''}${part}${from + EXCERPT < flat.length ? ' …' : ''}`;
}

/**
 * Indexes every section, in turns that leave the process free for others in between. Beginnings of words count, and so does a
 * word with a letter wrong; if no section has all words, those with some of them are returned.
 */
export async function openSearch(): Promise<(query: string) => Hit[]> {
  const titles = listTitles();
  const index = new MiniSearch({ idField: 'key', fields: ['title', 'page', 'text'], storeFields: ['name'] });
  const byKey = new Map<string, Hit & { text: string }>();
  for (const entry of ENTRIES) {
    const { name } = entry;
    const page = titles.get(name) ?? name;
    const sections = readSections(entry).map(({ id, title, text }) => ({
      key: `${name}#${id}`,
      name,
      page,
      title,
      text,
    }));
    for (const { key, title, text } of sections) {
      byKey.set(key, { href: `/manual/${key.replace(/#$/, '')}`, page, title, text, excerpt: '' });
    }
    await index.addAllAsync(sections, { chunkSize: 10 });
  }
  const options = {
    boost: { title: 4, page: 2 },
    boostDocument: (_key: unknown, _term: string, stored?: Record<string, unknown>) =>
      INNER.test(`${stored?.name}`) ? 0.4 : 1,
    prefix: true,
    fuzzy: 0.15,
  };
  return (query) => {
    const all = index.search(query, { ...options, combineWith: 'AND' });
    const results = all.length > 0 ? all : index.search(query, options);
    return results.slice(0, MAX_HITS).flatMap(({ id, terms }) => {
      const section = byKey.get(`${id}`);
      return section ? [{ ...section, excerpt: excerpt(section.text, terms) }] : [];
    });
  };
}
