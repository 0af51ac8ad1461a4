import { readSources, type Source } from './source.ts';

const EXPORTED = /^export\s+(?:async\s+)?(?:function\*?|const|let|class)\s+([A-Za-z_$][\w$]*)/gm;
/** `export const { get: getBrief } = …` */
const TAKEN_APART = /^export\s+const\s+\{([^}]*)\}/gm;
/** The pages of the web app are imported where the router needs them, by a path that is put together. */
const CHECKED = /^(?:src|indexer|bench|test)\//;

function exportedBy(code: string): string[] {
  const plain = [...code.matchAll(EXPORTED)].map(([, name = '']) => name);
  const apart = [...code.matchAll(TAKEN_APART)].flatMap(([, names = '']) =>
    names.split(',').flatMap((name) => name.split(':').at(-1)?.trim() || []),
  );
  return [...new Set([...plain, ...apart])];
}

const NAMES = /[A-Za-z_$][\w$]*/g;

/** What a file takes of others: the names between the braces, or any that it says where it takes a whole file. */
function namesTaken(code: string): Set<string> {
  if (/\bimport\s*\(|\*\s+as\s/.test(code)) return new Set(code.match(NAMES));
  return new Set(
    [...code.matchAll(/^import\s[^;'"]*?\{([^}]*)\}/gm)].flatMap(([, list = '']) => list.match(NAMES) ?? []),
  );
}

/**
 * Functions and values that are exported, and that no other file names. Types may be exported beside what takes or gives
 * them.
 */
export function deadExports(files: ReadonlyMap<string, string>): string[] {
  const sources = readSources(files);
  const importers = new Map<string, Source[]>();
  for (const source of sources) {
    for (const target of new Set(source.imports.map((one) => one.target))) {
      importers.set(target, [...(importers.get(target) ?? []), source]);
    }
  }
  const taken = new Map(sources.map((source) => [source, namesTaken(source.code)]));
  return sources.flatMap((source) => {
    if (!CHECKED.test(source.path)) return [];
    const users = importers.get(source.path) ?? [];
    return exportedBy(source.code)
      .filter((name) => !users.some((user) => taken.get(user)?.has(name)))
      .map((name) => `${source.path} exports ${name}, which no other file uses`);
  });
}
