import { expect, test } from 'vitest';
import { openDecoder } from '../../src/platform/imports/reading/code-pages.ts';
import { detectEncoding } from '../../src/platform/imports/reading/encoding.ts';
import { readWhole } from './imports-check.ts';

/** The bytes of each character of an encoding, found by decoding all pairs of bytes. */
function openEncoder(encoding: string): (text: string) => Uint8Array {
  const bytes = new Map<string, number[]>();
  const decoder = openDecoder(encoding);
  const add = (...some: number[]) => {
    const letters = [...decoder.decode(Uint8Array.from(some))];
    const [letter = ''] = letters;
    if (letters.length === 1 && letter !== '\ufffd' && !bytes.has(letter)) bytes.set(letter, some);
  };
  for (let first = 0; first < 256; first += 1) add(first);
  for (let first = 0x81; first < 256; first += 1) for (let second = 0x40; second < 256; second += 1) add(first, second);
  return (text) => Uint8Array.from([...text].flatMap((letter) => bytes.get(letter) ?? [0x3f]));
}

test.each([
  ['windows-1250', 'Imię,Zamówienie,Wartość\nŁukasz Wiśniewski,A1,110'],
  ['windows-1250', 'Jméno,Částka\nJiří Dvořák,110\nKateřina Nováková,60'],
  ['windows-1250', 'Nume,Valoare comandă\nŞtefan Ţepeş,110\nPlătit,60'],
  ['windows-1251', 'Имя,Сумма\nАнна Иванова,110'],
  ['windows-1251', "Ім'я,Знижка\nОлена Шевченко,110\nЇжакевич,60"],
  ['windows-1252', 'Prénom,Payé\nFrançois Lefèvre,110'],
  ['windows-1252', 'Número,Comisión\nIñaki Muñoz,110'],
  ['windows-1252', 'Beløb,Rabat\nSøren Kjær,110'],
  ['windows-1252', 'Name,Amount\nAna,£10.50\nBen,£7.25\nCy,"£1,250.00"'],
  ['windows-1252', 'Nom;Montant\nAna;10,50 €\nBen;1\u00a0250,00 €'],
  ['macintosh', 'Nom;Montant\nAna;10,50 €\nBen;1\u00a0250,00 €'],
  ['windows-1251', 'Имя;Сумма\nАнна;1250 р\nИван;60 р'],
  ['windows-1253', 'Όνομα,Ποσό\nΜαρία Παπαδοπούλου,110'],
  ['windows-1254', 'Adı Soyadı,Tutar\nÇağlar Şahin,110\nAyşe Yılmaz,60'],
  ['windows-1255', 'שם,סכום,תאריך\nיעל כהן,110,2026-05-01\nנועם פרץ,60,2026-05-02'],
  ['windows-1256', 'الاسم,المبلغ\nمحمد علي,110'],
  ['windows-1257', 'Vardas,Užsakymas\nJūratė Žukauskaitė,110\nApmokėta,60'],
  ['windows-874', 'ชื่อ,จำนวนเงิน\nสมชาย ใจดี,110'],
  ['macintosh', 'Prénom,Référence,Montant réglé\nFrançois Müller,A1,110\nJosé Muñoz,A2,60'],
  ['shift_jis', '名前,金額\n田中 花子,110\n佐藤健,60'],
  ['shift_jis', '日付,金額\n2026年10月13日,110\n2026年10月14日,60'],
  ['euc-kr', '날짜,금액\n2026년 10월 13일,110'],
  ['gb18030', '日期,金额\n2026年10月13日,110'],
  ['windows-1256', 'الوقت,المبلغ\n10:00 ص,110\n10:30 م,60'],
  ['windows-1251', 'Дата,Сумма\n13 октября 2026 г,110\n14 октября 2026 г,60'],
  ['euc-jp', '名前,金額\nメールアドレス,110\n注文番号,60'],
  ['euc-kr', '이름,금액\n김민지,110\n박서준,60'],
  ['gb18030', '姓名,金额\n王伟,110\n已付款,60\n订单号,70'],
  ['cp850', 'Name;E-Mail\nJörg Müller;joerg@creators.example'],
  ['cp850', 'Prénom;Montant\nFrançois Lefèvre;110\nZoé;20'],
  ['cp850', 'Beløb;Rabat\nSøren Kjær;110'],
  ['cp437', 'Name;Betrag\nJörg Größe;10,50\nÄnne Müller;20'],
  ['cp437', 'Name,Amount\nAna,£10.50\nBen,£7.25'],
  ['cp852', 'Imię;Zamówienie;Wartość\nŁukasz Wiśniewski;A1;110'],
  ['ibm866', 'Имя;Сумма\nАнна Иванова;110'],
  ['big5', '姓名,金額\n陳怡君,110\n訂單編號,60'],
])('A short file in %s is read as it was written: %s', async (encoding, text) => {
  const bytes = openEncoder(encoding)(text);
  const found = await detectEncoding(async function* read() {
    yield bytes;
  });
  expect(openDecoder(found).decode(bytes)).toBe(text);
});

async function readAs(encoding: string, text: string): Promise<string> {
  const bytes = openEncoder(encoding)(text);
  const found = await detectEncoding(async function* read() {
    yield bytes;
  });
  return openDecoder(found).decode(bytes);
}

const WESTERN =
  'Zoë Müller|Begoña|Mª José|Œuvre|José|Jörg|François|Søren|Åsa|Ñuñez|García|Zoé|João|Conceição|Größe|Maïté|Anaïs|Hélène|Ângela|Íñigo|Óscar|Öztürk|Müge|Cœur|L’Oréal|Kjær|Þór|Beyoncé|Nº 1|São Paulo';

test.each(WESTERN.split('|'))(
  'One name in windows-1252 is read as it was written, with and without amounts: %s',
  async (name) => {
    for (const text of [`Name;Email\n${name};a@x.example\n`, `Name;Betrag\n${name};10,50 €\n`])
      expect(await readAs('windows-1252', text)).toBe(text);
  },
);

test.each([
  ['iso-8859-2', 'Šárka Žížalová'],
  ['iso-8859-2', 'Łukasz Wiśniewski'],
  ['windows-1250', 'Ljubiša Đurić'],
  ['koi8-r', 'Анна Иванова'],
  ['macintosh', 'Zoë'],
  ['macintosh', 'Müller'],
  ['windows-1255', 'יעל כהן'],
])('One name in %s is read as it was written: %s', async (encoding, name) => {
  const text = `Name;Email\n${name};a@x.example\n`;
  expect(await readAs(encoding, text)).toBe(text);
});

test('A byte of another encoding among UTF-8 spoils neither the other cells nor the headers', async () => {
  const utf8 = Buffer.from('Prénom,Email,Rôle\nZoë,zoe@c.example,x\nAnaïs,anais@c.example,x\n');
  const latin = Buffer.from('Ren\xe9,rene@c.example,x\n', 'latin1');
  const { records } = await readWhole('roster', Buffer.concat([utf8, latin]));
  expect(records).toMatchObject([{ name: 'Zoë' }, { name: 'Anaïs' }, { name: 'René' }]);
});
