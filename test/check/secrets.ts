import { lineAt } from './source.ts';

/** What must not be in the repository. Each pattern is written so that it does not find itself. */
const FORBIDDEN: [what: string, pattern: RegExp][] = [
  [
    'the host of a package registry',
    /\b(?:(?:registry|repo1?|nexus|artifactory|proxy|mirrors?)[.-]|(?:npmjs|pypi|pythonhosted|yarnpkg)[.])[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:org|com|io|net|dev)\b/g,
  ],
  ['a package registry', /\b(?:npmjs|pypi|pythonhosted|yarnpkg)[.](?:org|com)\b/g],
  ['a path of one machine', /(?<=^|[\s"'`=(:[,])\/(?:root|work|(?:home|Users)\/[a-z]\w*)(?=[/\s"'`),\]:]|$)/gm],
  ['an API key', /\bsvk_[0-9A-Za-z]{40}\b/g],
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/g],
  ['a token', /\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_[0-9A-Za-z]{36}|npm_[0-9A-Za-z]{36}|xox[abprs]-[0-9A-Za-z-]{10,})/g],
  ['a password in a URL', /:\/\/[^\s:/@"'`$]+:[^\s:/@"'`$]+@/g],
];

/** Where a file holds a secret, or what is true on one machine only. */
export function leaks(files: ReadonlyMap<string, string>): string[] {
  return [...files].flatMap(([file, text]) =>
    FORBIDDEN.flatMap(([what, pattern]) =>
      [...text.matchAll(pattern)].map((found) => `${file}:${lineAt(text, found.index)} names ${what}`),
    ),
  );
}
