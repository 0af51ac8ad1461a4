import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '../../..');

/** Commands of a page, as a reader copies them. */
export interface Block {
  line: number;
  text: string;
  /** Why no test runs it, where the page says so in a comment that readers do not see. */
  skipped: string | undefined;
  /** The reader has stopped the server before. */
  isStopped: boolean;
}

const FENCE = /^([ \t]*)```(?:sh|bash)\n([\s\S]*?)^\1```$/gm;
const COMMENT = /<!-- (.*?) -->\s*$/;

/** The shell commands of a page of the manual, in order. `<!-- not run: why -->` before a block leaves it out. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(path.join(ROOT, page), 'utf8');
  return [...text.matchAll(FENCE)].map((found) => {
    const [, indent = '', commands = ''] = found;
    const before = text.slice(0, found.index);
    const says = COMMENT.exec(before)?.[1] ?? '';
    return {
      line: before.split('\n').length,
      text: commands.replace(new RegExp(`^${indent}`, 'gm'), ''),
      skipped: /^not run: (.+)$/.exec(says)?.[1],
      isStopped: says === 'the server is stopped',
    };
  });
}

/** Blocks of a page without a language: drawings and tables, but no commands. */
export function unnamedBlocksOf(page: string): string[] {
  const fences = readFileSync(path.join(ROOT, page), 'utf8').matchAll(/^[ \t]*```(\w*)\n([\s\S]*?)^[ \t]*```$/gm);
  return [...fences].filter(([, language]) => language === '').map(([, , text = '']) => text);
}
