/** Each letter with the Latin ones that people write for it. The hard and the soft sign have none. */
const LETTERS =
  'аa бb вv гg ґg дd еe ёe єie жzh зz иi іi їi йi кk лl мm ' +
  'нn оo пp рr сs тt уu фf хkh цts чch шsh щshch ыy эe юyu яya ' +
  'ъ ь αa βv γg δd εe ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs τt υy φf χch ψps ωo';

const LATIN = new Map(LETTERS.split(' ').map((pair) => [pair.charAt(0), pair.slice(1)]));

/** A folded text with Latin letters for Cyrillic and Greek ones; undefined if it has none. */
export function toLatinLetters(foldedText: string): string | undefined {
  const latin = [...foldedText].map((letter) => LATIN.get(letter) ?? letter).join('');
  return latin === foldedText ? undefined : latin;
}
