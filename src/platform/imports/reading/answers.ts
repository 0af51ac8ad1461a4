import { fold } from './fold.ts';

type Answer = 'yes' | 'no';

const toWords = (list: string) => new Set(list.split(/\s+/).map(fold));

/** The words for yes, and those that spreadsheets write for true, in the languages of both. */
const YES = toWords(
  `yes y true t 1 x on checked ja j wahr oui vrai si s verdadero vero sim verdadeiro waar tak prawda sant sand sann kyllä
   tosi da adevărat igen igaz ano áno pravda istina evet doğru cert benar ya да истина так істина ναι αληθής はい 是 예 네 כן
   نعم có đúng ใช่ 済 已`,
);
const NO = new Set([
  ...toWords(
    `no n false f 0 off unchecked nein falsch non faux falso não nao nee onwaar nie fałsz nej falskt falsk nei usann ei
     epätosi nu fals nem hamis ne nepravda neistina hayır yanlış salah tidak нет ложь ні хибність όχι ψευδής いいえ 否 아니오
     아니요 לא لا не không chưa sai ไม่ใช่ ไม่ 未`,
  ),
  '',
]);

const TICKS = new Set(['✓', '✔', '☑', '✅', '🗸', '🗹']);
const CROSSES = new Set(['✗', '✘', '✕', '✖', '❌', '🗴']);
const EMPTY_BOXES = new Set(['☐', '⬜', '□', '[]']);

/** Signs that look the same with colours or another tone, and boxes with blanks in them. */
const bareSign = (text: string): string => text.replace(/\s|\ufe0e|\ufe0f|\p{Emoji_Modifier}/gu, '');

/** A cross says no, but where nothing says yes and other cells are empty, it may tick a box as well. */
export const isCross = (text: string): boolean => CROSSES.has(bareSign(text));

/** A cell that says yes or no in one of the languages of words and spreadsheets; a tick says yes, a dash says no. */
export function readAnswer(text: string): Answer | undefined {
  if (text.length > 12) return undefined;
  const sign = bareSign(text);
  if (TICKS.has(sign)) return 'yes';
  if (CROSSES.has(sign) || EMPTY_BOXES.has(sign)) return 'no';
  const word = fold(text);
  if (YES.has(word)) return /\?/.test(text) ? undefined : 'yes';
  return NO.has(word) && (word !== '' || /^[-–—]?$/.test(text)) && !/\?/.test(text) ? 'no' : undefined;
}

const STATES = new Set(['on', 'off', 'checked', 'unchecked']);

/** A sign or a whole word that answers in a column of states, where letters are short for other things. */
export function readSaid(text: string): Answer | undefined {
  const word = fold(text);
  if (STATES.has(word) || word.length === 1 || text.trim().length === 0 || /^[-–—]$/.test(text)) return undefined;
  return readAnswer(text);
}

const GOOD = new Set(['🟢', '👍', '🆗']);
const BAD = new Set(['🔴', '👎', '⛔', '🚫']);

/** A light beside something good says that it is so; beside a refund, nobody knows what a red one says. */
export function readLight(text: string): Answer | undefined {
  const sign = bareSign(text);
  if (GOOD.has(sign)) return 'yes';
  return BAD.has(sign) ? 'no' : undefined;
}

const WARNS = new Set([...CROSSES, ...EMPTY_BOXES, ...BAD, ...'?❓❗⏳⌛🕒🕐⚠🟡🟠☒❎🗷×']);
const SIGN = /[\p{So}?×]/gu;

/** The signs of a text, which make another value of the word beside them. */
export const listSigns = (text: string): string[] => bareSign(text.normalize('NFKC')).match(SIGN) ?? [];

/** A sign beside a word may take back what the word says: `❌ Paid`, `⏳ Paid`, `Paid?`. */
export const warns = (signs: readonly string[]): boolean => signs.some((sign) => WARNS.has(sign));
