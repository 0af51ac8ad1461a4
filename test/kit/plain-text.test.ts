import { expect, it } from 'vitest';
import { toPlainText } from '../../src/kit/values/text.ts';

const BCC = '=?utf-8?B?eA0KQmNjOiB2aWN0aW1AbWFpbC5leGFtcGxl?=';

it.each([
  ['Sales\r\nBcc: victim@mail.example', 'Sales Bcc: victim@mail.example'],
  ['Sales\u2028Bcc', 'Sales Bcc'],
  ['invoice\u202egpj.exe', 'invoicegpj.exe'],
  ['An\u200ba', 'Ana'],
  [` ${BCC} `, `= ${BCC.slice(1)}`],
  ['=?iso-8859-1?q?=0D=0A?= é', '= ?iso-8859-1?q?=0D=0A?= é'],
  ['=\u200b?utf-8?q?=0D=0ABcc:_victim?=', '= ?utf-8?q?=0D=0ABcc:_victim?='],
  ['=?utf-8?\u202eq?=0D=0A?=', '= ?utf-8?q?=0D=0A?='],
  ['half of an emoji \ud83d', 'half of an emoji \ufffd'],
  ['👩‍👩‍👧 Ana & Löwe 🎉', '👩‍👩‍👧 Ana & Löwe 🎉'],
  ['می‌خواهم', 'می‌خواهم'],
  ['a=?b', 'a=?b'],
])('A name such as %j is shown as %j', (typed, shown) => {
  expect(toPlainText(typed)).toBe(shown);
});

it('A cell of several lines keeps them, and nothing else that is not seen', () => {
  expect(toPlainText('one\r\ntwo\tthree\u2028four\u0000\u202e', { lines: true })).toBe('one\ntwo\tthree\nfour');
  expect(toPlainText('=\u200b?utf-8?q?=0D=0A?=\n', { lines: true })).toBe('= ?utf-8?q?=0D=0A?=\n');
});
