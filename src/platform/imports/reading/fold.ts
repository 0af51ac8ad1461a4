const MARKUP = /<[^>]{0,200}>|&[a-z]{2,8};|&#\d{1,6};/gi;

const FOLDED = new Map<string, string>();

/** A header, or a status, without case, blanks, signs, HTML and accents. */
export function fold(text: string): string {
  const known = FOLDED.get(text);
  if (known !== undefined) return known;
  const folded = foldWords(text).join('');
  if (FOLDED.size > 20_000) FOLDED.clear();
  FOLDED.set(text, folded);
  return folded;
}

/** The words of a text, each folded. */
export function foldWords(text: string): string[] {
  return text
    .replace(MARKUP, ' ')
    .replaceAll('ß', 'ss')
    .replace(/ł/gi, 'l')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{Nd}]+/u)
    .filter((word) => word !== '');
}
