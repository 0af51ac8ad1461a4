import path from 'node:path';

export interface Import {
  line: number;
  /** A package's name, `node:…`, or a path inside the repository. */
  target: string;
}

export interface Violation {
  line: number;
  message: string;
}

/** One TypeScript file, taken apart just enough to be judged. */
export interface Source {
  path: string;
  text: string;
  /** The code, with comments and what strings, templates and regular expressions hold replaced by spaces. */
  code: string;
  lines: number;
  imports: readonly Import[];
}

const CODE = new RegExp(
  [
    String.raw`\/\/[^\n]*`,
    String.raw`\/\*[\s\S]*?\*\/`,
    String.raw`'(?:\\.|[^'\\\n])*'`,
    String.raw`"(?:\\.|[^"\\\n])*"`,
    // A slash after an operator or an opening bracket begins a regular expression; after a value it divides.
    String.raw`(?<=(?:^|[=(,:[!&|?{};>]|\breturn)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*`,
    '[`{}]',
  ].join('|'),
  'g',
);
const TEMPLATE = /\\[\s\S]|`|\$\{/g;
const IMPORT = /\b(?:from|import)\s*\(?\s*(['"])( *)\1/dg;

const blank = (text: string) => text.replace(/[^\n]/g, ' ');

function blankToken(token: string): string {
  if (token.length === 1 || token === '${') return token;
  return /^['"]/.test(token) ? `${token[0]}${blank(token.slice(1, -1))}${token[0]}` : blank(token);
}

/** The code alone: as long as the text, character by character, so that positions stay true. */
export function codeOf(text: string): string {
  /** Braces open inside each `${` that is open. */
  const holes: number[] = [];
  let inTemplate = false;
  let code = '';
  let at = 0;
  while (at < text.length) {
    const pattern = inTemplate ? TEMPLATE : CODE;
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    const before = text.slice(at, found?.index ?? text.length);
    code += inTemplate ? blank(before) : before;
    if (!found) break;
    const [token] = found;
    const braces = holes.at(-1);
    if (token === '`') inTemplate = !inTemplate;
    else if (token === '${') {
      holes.push(0);
      inTemplate = false;
    } else if (token === '}' && braces === 0) {
      holes.pop();
      inTemplate = true;
    } else if (braces !== undefined && token === '{') holes.push((holes.pop() ?? 0) + 1);
    else if (braces !== undefined && token === '}') holes.push((holes.pop() ?? 1) - 1);
    code += blankToken(token);
    at = found.index + token.length;
  }
  return code;
}

export function lineAt(code: string, index: number): number {
  return code.slice(0, index).split('\n').length;
}

function targetOf(file: string, specifier: string): string {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(file), specifier);
  return /^(?:node:.+|@[^/]+\/[^/]+|[^/]+)/.exec(specifier)?.[0] ?? specifier;
}

function importsOf(file: string, code: string, text: string): Import[] {
  return [...code.matchAll(IMPORT)].flatMap((found) => {
    const span = found.indices?.[2];
    if (!span) return [];
    return [{ line: lineAt(code, found.index), target: targetOf(file, text.slice(...span)) }];
  });
}

function readSource(file: string, text: string): Source {
  const code = codeOf(text);
  return {
    path: file,
    text,
    code,
    lines: text.trimEnd().split('\n').length,
    imports: importsOf(file, code, text),
  };
}

/** The TypeScript files of the repository. */
export const readSources = (files: ReadonlyMap<string, string>): Source[] =>
  [...files].filter(([file]) => /\.tsx?$/.test(file)).map(([file, text]) => readSource(file, text));
