import { lineAt, type Source, type Violation } from './source.ts';

/** `import … from`, `export { … }` and the keys of a mapped type rename with `as`; once blanked, any other `as` is a cast. */
const RENAMING = /\b(?:import|export)\b[^;'"=(]*?(?:\{[^}]*\}|\*\s+as\s+\w+)|\[\w+ in [^\];=]*?\bas\b/g;

function matches(code: string, pattern: RegExp, message: string): Violation[] {
  return [...code.matchAll(pattern)].map(({ index }) => ({ line: lineAt(code, index), message }));
}

/** `any` and `!` are Biome's to find. */
function checkCasts({ code }: Source): Violation[] {
  const bare = code.replace(RENAMING, (text) => text.replace(/[^\n]/g, ' '));
  return matches(bare, /\bas\s+(?!const\b)/g, 'casts with `as`; parse the unknown value instead');
}

/** A call that has begun may fail during the wait, when nothing listens to it, and an unhandled rejection ends the process. */
function checkWaits({ code }: Source): Violation[] {
  const message =
    'waits inside the list of `Promise.all` after parts of it began; wait in a function that the list calls';
  return matches(code, /\bPromise\.all\(\[(?:(?!=>|\]\)|\bfunction\b)[\s\S])*?\bawait\b/g, message);
}

function checkEnvironment({ path: file, code, imports }: Source): Violation[] {
  if (file === 'src/config.ts' || /^test\/(?:harness|run)\//.test(file)) return [];
  const message = 'reads the environment; only src/config.ts does';
  const imported = imports.filter(({ target }) => target === 'node:process').map(({ line }) => ({ line, message }));
  return [...matches(code, /\bprocess\s*\.\s*env\b|\bprocess\s*\[/g, message), ...imported];
}

const RULES = [checkCasts, checkWaits, checkEnvironment];

/** Casts, unsafe waits and reads of the environment, as `file:line what is wrong`. Text of pages is no code. */
export const checkCode = (sources: readonly Source[]): string[] =>
  sources
    .filter(({ path }) => path.endsWith('.ts'))
    .flatMap((source) =>
      RULES.flatMap((rule) => rule(source)).map(({ line, message }) => `${source.path}:${line} ${message}`),
    );
