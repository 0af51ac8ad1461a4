import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fold, foldAccents, variants } from '../../src/kit/values/fold.ts';

const PLAIN = 'abcdefghijklmnopqrstuvwxyz';
const CAPITALS = PLAIN.toUpperCase();

/** The letters from two code points on, for capitals and small letters. */
function alphabetFrom(capital: number, small: number): (letter: string) => string {
  return (letter) => {
    const isCapital = CAPITALS.includes(letter);
    const at = (isCapital ? CAPITALS : PLAIN).indexOf(letter);
    return at < 0 ? letter : String.fromCodePoint((isCapital ? capital : small) + at);
  };
}

const SMALL = 'ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡxʏᴢ';

/** With a Cyrillic F and an O with a tail for the Q. */
const GENERATED = 'ᴀʙᴄᴅᴇғɢʜɪᴊᴋʟᴍɴᴏᴘǫʀsᴛᴜᴠᴡxʏᴢ';

/** The alphabets of the generators that people paste their names from. */
const ALPHABETS: Record<string, (letter: string) => string> = {
  bold: alphabetFrom(0x1d400, 0x1d41a),
  'bold italic': alphabetFrom(0x1d468, 0x1d482),
  'bold script': alphabetFrom(0x1d4d0, 0x1d4ea),
  'bold fraktur': alphabetFrom(0x1d56c, 0x1d586),
  sans: alphabetFrom(0x1d5a0, 0x1d5ba),
  'bold sans': alphabetFrom(0x1d5d4, 0x1d5ee),
  mono: alphabetFrom(0x1d670, 0x1d68a),
  'full-width': alphabetFrom(0xff21, 0xff41),
  circled: alphabetFrom(0x24b6, 0x24d0),
  'black circled': alphabetFrom(0x1f150, 0x1f150),
  'black squared': alphabetFrom(0x1f170, 0x1f170),
  squared: alphabetFrom(0x1f130, 0x1f130),
  parenthesized: alphabetFrom(0x1f110, 0x249c),
  'small capitals as generators write them': (letter) => [...GENERATED][PLAIN.indexOf(letter.toLowerCase())] ?? letter,
  'small capitals': (letter) => [...SMALL][PLAIN.indexOf(letter.toLowerCase())] ?? letter,
  underlined: (letter) => `${letter}\u0332`,
  'with an invisible character': (letter) => `${letter}\u200b`,
};

const FIRST =
  'Ana Lena Zoe Max Jack Quinn Wyatt Felix Gia Hugo Ivy Kay Omar Pia Uma Vera Xena Yara Ben Cleo Dana Rosa'.split(' ');
const LAST = 'Vega Ortiz Quick Fox Jumper Lazy Brown Dogwood Wexley Zhang Kim Bauer Prado Huxley Njord Smythe'.split(
  ' ',
);

describe('a styled name', () => {
  const names = FIRST.flatMap((first) => LAST.map((last) => `${first} ${last}`)).slice(0, 500);
  const styles = Object.entries(ALPHABETS);

  test.each(styles)('in %s letters folds to the plain name', (_style, letterOf) => {
    for (const name of names) expect(fold([...name].map(letterOf).join(''))).toBe(name.toLowerCase());
  });

  test('may mix alphabets', () => {
    for (const [i, name] of names.entries()) {
      const styled = [...name].map((letter, j) => styles[(i + j) % styles.length]?.[1](letter) ?? letter);
      expect(fold(styled.join(''))).toBe(name.toLowerCase());
    }
  });

  test('is missed by the folding of the engine, which is why there is another', () => {
    expect(foldAccents('𝗔𝗻𝗮')).toBe('𝗔𝗻𝗮');
  });
});

describe('fold', () => {
  test.each([
    ['São  Paulo ', 'sao paulo'],
    ['Đặng Łukasz Øyvind', 'dang lukasz oyvind'],
    ['so\u00adft hy\u200bphen\ufe0f', 'soft hyphen'],
    ['A\u0332n\u0332a\u0301', 'ana'],
    ['Nike™', 'nike'],
    ['A⃝na', 'ana'],
    ['Аnа', 'ana'],
    ['Ѕоphіа', 'sophia'],
    ['ΝIKE', 'nike'],
    ['νintage', 'vintage'],
    ['ℓєna', 'lena'],
    ['ᗩᑎᗩ ᐯEGᗩ', 'ana vega'],
    ['ᒪEᑎᗩ', 'lena'],
    ['ᐃᓄᒃᑎᑐᑦ ᑕᒪ', 'ᐃᓄᒃᑎᑐᑦ ᑕᒪ'],
    ['Москва', 'москва'],
    ['Cola Соса', 'cola соса'],
    ['Ёлкин', 'елкин'],
    ['ΚΌΣΜΟΣ κόσμος', 'κοσμοσ κοσμοσ'],
    ['إسكندرية', 'اسكندريه'],
    ['القَاهِرَة', 'القاهره'],
    ['مـوسى', 'موسي'],
    ['تهران ایران', 'تهران ايران'],
    ['٣٤ ۵ ६ ７', '34 5 6 7'],
    ['O’Brien O´Brien O`Brien Oʼbrien', "o'brien o'brien o'brien o'brien"],
  ])('%s is %s', (text, folded) => {
    expect(fold(text)).toBe(folded);
  });

  test.each(['हिन्दी', 'ที่นี่', 'தமிழ்', 'が', 'ぱ', 'ガ'])('keeps the vowel signs and kana marks of %s', (text) => {
    expect(fold(text)).toBe(text.normalize('NFC'));
  });

  test('leaves the letters of kana different', () => {
    expect(fold('か')).not.toBe(fold('が'));
    expect(fold('ﾊﾞ')).toBe('バ');
  });

  test('changes nothing when it is used again, for every letter alone and inside a word', () => {
    const ranges = [0, 0x3400, 0xa000, 0xac10, 0xf900, 0x20000, 0xe0000, 0xe0200];
    const points = ranges.flatMap((from, i) =>
      i % 2 === 0 ? Array.from({ length: (ranges[i + 1] ?? from) - from }, (_, more) => from + more) : [],
    );
    for (const point of points) {
      const character = String.fromCodePoint(point);
      for (const text of [character, `a${character}`, `α${character}`]) {
        const once = fold(text);
        if (fold(once) !== once) expect.fail(`U+${point.toString(16)} folds to ${once} and then to ${fold(once)}`);
      }
    }
  });

  test('changes nothing when it is used again, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(fold(fold(text))).toBe(fold(text));
      }),
      { numRuns: 3_000 },
    );
  });

  test('joins what the folding of the engine joins', () => {
    for (let point = 0; point < 0x3000; point += 1) {
      const character = String.fromCodePoint(point);
      if ('\u01a6\u0374\u1fef\u1ffd'.includes(character)) continue;
      expect(fold(foldAccents(character)), `U+${point.toString(16)}`).toBe(fold(character));
    }
  });
});

describe('the variants of a word', () => {
  test.each([
    ['Müller', ['mueller']],
    ['Mu\u0308ller', ['mueller']],
    ['JÖRG', ['joerg']],
    ['𝗠ü𝗹𝗹𝗲𝗿', ['mueller']],
    ['Ångström', ['aangstroem']],
    ['Søren', ['soeren']],
    ['Ærø', ['aeroe']],
    ['Strauß', []],
    ["O'Brien", ['obrien', 'brien']],
    ['O’Brien', ['obrien', 'brien']],
    ["Ana's", ['anas', 'ana']],
    ["O'Møller", ["o'moeller", 'omoller', 'moller', 'omoeller', 'moeller']],
    ["d'Or", ['dor']],
    ['Noel', []],
    ['Mueller', []],
    ['Zoë', []],
    ['Niño', []],
  ])('of %s are %j', (word, expected) => {
    expect(variants(word)).toEqual(expected);
  });

  test('are none for a word that differs from another by oe and o, ae and a, or ue and u', () => {
    const heads = ['p', 'd', 't', 'sh', 'fl', 'gr', 'r', 'cl', 'bl', 'thr', 'st', 'm', 'l', 'n', 'v', 's', 'ar', 'val'];
    const tails = [
      '',
      't',
      's',
      'd',
      'l',
      'r',
      'n',
      'm',
      'ting',
      'rs',
      'sts',
      'ls',
      'nt',
      'ry',
      'lly',
      'ns',
      'ms',
      'des',
    ];
    const pairs = heads.flatMap((head) =>
      tails.flatMap((tail) =>
        ['oe', 'ae', 'ue'].flatMap((two) => ['', 'b', 'c'].map((more) => [more, head, two, tail])),
      ),
    );
    expect(pairs.length).toBeGreaterThanOrEqual(2_000);
    for (const [more = '', head = '', two = '', tail = ''] of pairs) {
      const [long, short] = [`${more}${head}${two}${tail}`, `${more}${head}${two.charAt(0)}${tail}`];
      expect([fold(long), ...variants(long)]).not.toContain(fold(short));
      expect([fold(short), ...variants(short)]).not.toContain(fold(long));
    }
  });

  test.each([
    ...['does dos', 'poet pot', 'noel nol', 'toe to', 'doe do', 'blue blu', 'cue cu', 'true tru', 'aerial arial'],
    ...['Michael Michal', 'Israel Isral', 'Samuel Samul', 'Joel Jol', 'Phoebe Phobe', 'fuel ful'],
  ])('keep %s apart', (pair) => {
    const [one = '', other = ''] = pair.split(' ');
    expect([fold(one), ...variants(one)]).not.toContain(fold(other));
    expect([fold(other), ...variants(other)]).not.toContain(fold(one));
  });
});
