import { lineAt, type Source, type Violation } from './source.ts';

/** Words that names had once, and what to say instead: the reader must not learn a private language. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['circle', 'roster'],
  ['gathering', 'batcher'],
  ['mend', 'reconcile'],
  ['mended', 'reconciled'],
  ['mending', 'reconciliation'],
  ['refold', 'rebuild'],
  ['restate', 'recompute'],
  ['restated', 'recomputed'],
  ['tell', 'report'],
  ['telling', 'report'],
  ['told', 'reported, or received'],
  ['asked', 'requested'],
  ['verdict', 'outcome'],
  ['sitting', 'session'],
  ['clicker', 'load generator'],
]);
/** `hold` is the time that a commission waits; what keeps others from a row is a lock. */
const HOLD = /^(?:hold|tryHold)(?!Days|EndsAt)[A-Z]/;
/** Names of columns that stand in every installation. */
const COLUMNS: readonly string[] = ['toldAt'];

const partsOf = (name: string) => name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];

function insteadOf(name: string): string | undefined {
  if (COLUMNS.includes(name)) return undefined;
  if (HOLD.test(name)) return 'lock';
  return partsOf(name)
    .map((part) => INSTEAD.get(part.toLowerCase()))
    .find((instead) => instead !== undefined);
}

export function words({ code }: Source): Violation[] {
  return [...code.matchAll(/(?<![\w$])[A-Za-z_$][\w$]*/g)].flatMap(({ 0: name, index }) => {
    const instead = insteadOf(name);
    return instead === undefined ? [] : [{ line: lineAt(code, index), message: `says ${name}; say ${instead}` }];
  });
}

/** Turns of phrase that an English speaker would not write, and what to write instead. */
const PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\bthat of which\b/gi, 'whose'],
  [/(?<!\bthere )\b(?:is|are) none\b/gi, 'is not a …'],
  [/(?<!\bthere )\bis no (?!longer\b|more\b|less\b|later\b|such\b)(?=[a-z])/gi, 'is not a …'],
  [/\bnone of it\b/gi, 'is excluded'],
  [/\bsomebody\b/gi, 'who it is: the caller, a person, the creator'],
  [/\bwhoever\b/gi, 'who it is: the caller, the reader'],
  [/\bnobody's\b/gi, 'what becomes of it'],
  [/\basked for\b/gi, 'requested'],
  [/\bas people read it\b/gi, 'displayed'],
  [/\bas it is(?=[.,;:])/gi, 'unchanged'],
  [/\bof its own\b/gi, 'its own …, dedicated or separate'],
  [/\bwhere it stands\b/gi, 'the status'],
  [/\bwhich type it is\b/gi, 'the type'],
  [/\bon (?:its|their) way of\b/gi, 'pending'],
  [/\banew\b/gi, 'again'],
  [/\bof late\b/gi, 'recently'],
  [/\b(?:come|comes|came|coming) to (?:its|their|an) end\b/gi, 'ends, or is finished'],
  [/, the (?:newest|oldest|latest|highest) first\b/gi, 'newest first, oldest first …'],
  [/\bwork(?:s|ed)? no more\b/gi, 'no longer works'],
  [/\bnot any more\b/gi, 'no longer'],
  [/\bsave (?:that|where)\b/gi, 'except'],
  [/\btelephone\b/gi, 'phone'],
  [/(?<!^)\bmeanwhile\b/g, 'in the meantime'],
  [/\bso many of\b/g, 'this many …'],
  [/\bwhat of (?:it|them)\b/g, 'what is left of it'],
  [/(?<=[.?!] )Who has\b/g, 'people who have'],
  [/\blooked at by (?:itself|themselves)\b/g, 'handled one by one'],
  [/\b(?:is|are|was) told of\b/g, 'is reported'],
  [/\bwhat (?:became|becomes) of\b/gi, 'the outcome of'],
  [/\bgo(?:es)? on (?:with|without|from|at|after|by)\b/gi, 'continues'],
  [/\bgoes on(?=[.,;:])/gi, 'continues'],
  [/\bas (?:ever|it stands)\b/gi, 'as usual, unchanged'],
  [/\b(?:is|are) asked\b/gi, 'is queried, is requested'],
  [/\b(?:is|are) under null\b/gi, 'has the key null'],
  [/\b(?:is|are) not right\b/gi, 'is invalid'],
  [/\bis not one of (?:your|our|the brand's)\b/gi, 'is not a … of this brand'],
  [/\b(?:row|one|line) a (?:currency|creator|problem)\b/gi, 'one per …'],
  [/\bknown that long\b/gi, 'known for … days'],
];
const GUARDED = /^(?:(?:src|web\/src|indexer)\/|(?:docs\/.*|README|CHANGELOG)\.md$)/;

/** A line break inside a comment, with its star, reads as a space. */
const unwrapped = (text: string): string =>
  text.replace(/\n[ \t]*(?:\*(?!\/)|\/\/) ?/g, (line) => `\n${' '.repeat(line.length - 1)}`);

/** Phrases are sought in code, too: no code has them. */
export function phrases({ path, text }: Pick<Source, 'path' | 'text'>): Violation[] {
  if (!GUARDED.test(path)) return [];
  const prose = unwrapped(text);
  return PHRASES.flatMap(([phrase, instead]) => {
    const source = phrase.source.replaceAll(' ', '\\s+');
    return [...prose.matchAll(new RegExp(source, phrase.flags))].map(({ 0: found, index }) => ({
      line: lineAt(prose, index),
      message: `says "${found.replace(/\s+/g, ' ')}"; say ${instead}`,
    }));
  });
}
