import type { Tokens } from 'marked';
import { type Html, html } from '../../kit/html/html.ts';

/** Matches the lines that only name the keys for the commands below them. */
const SETUP = /^\. \.rollcall\/demo\.env\n(?:AUTH=.*\n)?/;

const STRING = /"(?:[^"\\\n]|\\.)*"|'[^']*'|`[^`]*`/.source;
const FLAG = /(?<=\s)--[\w-]+/.source;
const HASH_COMMENT = /(?<=^|\s)#.*$/.source;
const WORDS =
  'import|from|export|const|let|async|await|function|return|if|else|for|of|in|try|catch|throw|new|def|except|as';

const toPattern = (comment: string, ...others: string[]): RegExp =>
  new RegExp([`(?<comment>${comment})`, `(?<string>${STRING})`, ...others].join('|'), 'gm');

const SHELL = toPattern(HASH_COMMENT, `(?<whole>${FLAG})`);
const PYTHON = toPattern(HASH_COMMENT, `(?<word>\\b(?:${WORDS})\\b)`);
const SCRIPT = toPattern('(?<=^|\\s)//.*$', `(?<word>\\b(?:${WORDS})\\b)`);

const PATTERNS: Readonly<Record<string, RegExp>> = { sh: SHELL, python: PYTHON, ts: SCRIPT, json: SCRIPT };

/** Marks comments, strings and words of a language. A flag is kept whole, because a browser would break it after its dashes. */
function highlight(text: string, lang: string | undefined): Html {
  const pattern = PATTERNS[lang ?? ''];
  if (!pattern) return html`${text}`;
  const parts: Html[] = [];
  let end = 0;
  for (const { 0: part, index, groups = {} } of text.matchAll(pattern)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined) ?? '';
    // A command in quotes can be as long as its block, and its own lines are more than one colour can show.
    const isPlain = kind === 'string' && part.includes('\n');
    parts.push(html`${text.slice(end, index)}`, isPlain ? html`${part}` : html`<span class="${kind}">${part}</span>`);
    end = index + part.length;
  }
  return html`${parts}${text.slice(end)}`;
}

/**
 * Renders a block of code. Its lines break, but no flag does. A drawing, which has no language, cannot be broken, and JSON is
 * scrolled as well, because broken lines would hide its nesting. The lines that load the keys are quiet, so that the first
 * command is what the reader sees first.
 */
export function renderCode({ text, lang }: Tokens.Code): string {
  const setup = SETUP.exec(text)?.[0] ?? '';
  const commands = highlight(text.slice(setup.length), lang);
  const code = setup === '' ? commands : html`<span class="setup">${setup}</span>${commands}`;
  const kind = lang === 'json' ? 'code data' : lang ? 'code' : 'code drawing';
  // Nobody copies a drawing.
  const button = lang ? html`<button type="button" class="copy" hidden>Copy</button>` : html``;
  return html`<div class="${kind}">${button}<pre tabindex="0"><code>${code}</code></pre></div>
`.html;
}
