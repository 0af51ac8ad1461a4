import { fold as foldText } from '../../../kit/values/fold.ts';

const MARKUP = /<[^>]{0,200}>|&[a-z]{2,8};|&#\d{1,6};/gi;

const FOLDED = new Map<string, string>();

/** A header, or a status, without case, blanks, signs, HTML and accents. */
export function fold(text: string): string {
  const cachedText = FOLDED.get(text);
  if (cachedText !== undefined) return cachedText;
  const foldedText = foldWords(text).join('');
  if (FOLDED.size > 20_000) FOLDED.clear();
  FOLDED.set(text, foldedText);
  return foldedText;
}

/** The words of a text, each folded. */
export const foldWords = (text: string): string[] =>
  foldText(text.replace(MARKUP, ' '))
    .split(/[^\p{L}\p{Nd}]+/u)
    .filter((word) => word !== '');
