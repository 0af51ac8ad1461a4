import { expect, test } from 'vitest';
import { openDecoder } from '../../src/platform/imports/reading/code-pages.ts';
import { detectEncoding } from '../../src/platform/imports/reading/encoding.ts';

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
