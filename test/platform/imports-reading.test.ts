import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Kind } from '../../src/platform/imports/reading/kinds.ts';
import type { Mapping } from '../../src/platform/imports/reading/shapes.ts';
import { type Read, readWhole as read } from './imports-check.ts';

const fixture = (name: string) => readFileSync(new URL(`../fixtures/imports/${name}`, import.meta.url));
const readFixture = (of: Kind, name: string, mapping: Mapping = {}) => read(of, fixture(name), mapping);

const orders = ({ records }: Read) =>
  records.flatMap((record) =>
    record.kind === 'order'
      ? [[record.order_number ?? record.order_id, record.amount, record.refunded, record.currency]]
      : [],
  );
const paid = ({ records }: Read) =>
  records.flatMap((record) =>
    record.kind === 'paid' ? [[record.paid_at.slice(0, 10), record.amount, record.currency]] : [],
  );
const people = ({ records }: Read) => records.flatMap((record) => (record.kind === 'person' ? [record] : []));

describe('a file that a user exported', () => {
  test('from Shopify gives one record for an order of several lines, with its state and refunds', async () => {
    const all = await readFixture('orders', '01-past-orders-shopify.csv');
    expect(all.reading.status).toBe('ready');
    expect(orders(all)).toEqual([
      ['#1001', 10_000, 0, 'USD'],
      ['#1002', 20_000, 0, 'USD'],
      ['#1005', 400_000, 400_000, 'USD'],
      ['#1006', 800_000, 300_000, 'USD'],
    ]);
    expect(all.reading.sums[0]).toEqual({
      outcome: 'read',
      currency: 'USD',
      records: 4,
      amount: 1_230_000,
      refunded: 700_000,
      net: 530_000,
    });
    expect(all.reading.counts).toEqual({ lines: 7, records: 6, read: 4, repeated: 0, left_out: 2, refused: 0 });
    expect(all.lines.map(({ lines }) => lines)).toEqual([[2], [6, 7], [8], [9], [10], [11]]);
  });

  test('has goods and totals that are told apart by their sum, whatever the order of its columns', async () => {
    const all = await readFixture('orders', '02-past-orders-total-first.csv');
    expect(all.reading).toMatchObject({ status: 'ready', readings: { goods: 'subtotal' } });
    expect(orders(all)).toEqual([['W1', 10_000, 0, 'EUR']]);
  });

  test('has one order of day and month, which a single date can prove', async () => {
    const all = await readFixture('commissions', '03-past-commissions-uk-dates.csv');
    expect(all.reading.readings.dates).toBe('dmy');
    expect(paid(all).map(([day]) => day)).toEqual(['2026-02-13', '2026-04-03', '2026-06-05', '2026-08-07']);
  });

  test('from a German spreadsheet is read with its commas, its days and its words', async () => {
    const all = await readFixture('orders', '04-past-orders-german-excel.csv');
    expect(all.reading).toMatchObject({ status: 'ready', text: { separator: ';' } });
    expect(
      all.records.map((record) => record.kind === 'order' && [record.order_id, record.amount, record.placed_at]),
    ).toEqual([
      ['D1', 125_050, '2026-10-31T10:00:00.000Z'],
      ['D2', 10_000, '2026-11-01T10:00:00.000Z'],
      ['D3', 9_990, '2026-11-02T10:00:00.000Z'],
    ]);
  });

  test.each([
    [
      '05-roster-google-form.csv',
      [
        ['gf1@creators.example', 'Mia One', 'mia.one'],
        ['gf2@creators.example', 'Max Two', 'max.two'],
      ],
    ],
    [
      '06-roster-mailchimp.csv',
      [
        ['mc1@creators.example', 'Mia One', 'mia.one'],
        ['mc2@creators.example', 'Max Two', 'max.two'],
      ],
    ],
    [
      '07-roster-semicolon-comma.csv',
      [
        ['joerg@creators.example', 'Jörg Müller', null],
        ['anamaria@creators.example', 'Ana Maria', null],
      ],
    ],
    ['12-roster-tabs.csv', [['tab1@creators.example', 'Tab One', null]]],
  ])('with people of %s gives each person', async (name, expected) => {
    const all = await readFixture('roster', name);
    expect(all.reading.status).toBe('ready');
    expect(people(all).map(({ email, name: said, instagram }) => [email, said, instagram])).toEqual(expected);
    expect(all.reading.counts.refused).toBe(0);
  });

  test('with codes gives their rates, and says who is paused', async () => {
    const all = await readFixture('roster', '13-roster-codes.csv');
    expect(people(all).map(({ email, codes, status }) => [email, codes, status])).toEqual([
      ['c1@creators.example', [{ code: 'ANA10', rate_ppm: 100_000 }], 'active'],
      ['c2@creators.example', [{ code: 'BEN10', rate_ppm: 125_000 }], 'paused'],
    ]);
  });

  test('with rankings gives creators for the directory', async () => {
    const ranking = await readFixture('directory', '08-directory-ranking.csv');
    expect(ranking.records[0]).toMatchObject({
      username: 'creator.one',
      follower_count: 475_800_000,
      media_count: 3_300,
      engagement_rate: '1.39',
      country: 'Spain',
    });
    expect(ranking.records[1]).toMatchObject({ username: 'creator_two', media_count: 890, engagement_rate: null });
    expect(ranking.reading.refusals).toMatchObject([{ kind: 'handle_unreadable', first_lines: [4] }]);
    const semicolons = await readFixture('directory', '09-directory-semicolons.csv');
    expect(semicolons.records).toMatchObject([
      { pk: '900000011', follower_count: 12_000, engagement_rate: '3.5', city: 'Köln' },
      { pk: '900000012', full_name: 'Ana; Maria', follower_count: 1_234_567, engagement_rate: '0.8' },
    ]);
    const rows =
      'perfil;seguidores;taxa de engajamento\n@ana;475,8 mi;1,39 %\n@ben;12,5 mil;0,8 %\n@cy;12.5 lakh;2 %\n';
    const words = await read('directory', rows);
    expect(words.records).toMatchObject([
      { username: 'ana', follower_count: 475_800_000, engagement_rate: '1.39' },
      { username: 'ben', follower_count: 12_500, engagement_rate: '0.8' },
      { username: 'cy', follower_count: 1_250_000, engagement_rate: '2' },
    ]);
  });

  test('from Etsy counts the value less its discount, and has the month first', async () => {
    const all = await readFixture('orders', '10-past-orders-etsy.csv');
    expect(all.reading.status).toBe('ready');
    expect(orders(all)).toEqual([['9001', 6_000, 0, 'CAD']]);
    expect(all.records[0]).toMatchObject({ placed_at: '2026-08-10T12:00:00.000Z' });
  });

  test('may write amounts as several countries do in one column', async () => {
    const all = await readFixture('commissions', '11-past-commissions-symbols.csv');
    expect(paid(all)).toEqual([
      ['2026-05-21', 1_250, 'USD'],
      ['2026-05-21', 125_050, 'EUR'],
      ['2026-05-22', 1_250, 'EUR'],
      ['2026-05-23', 125_050, 'USD'],
    ]);
    expect(all.reading.refusals).toMatchObject([{ kind: 'negative_amount', first_lines: [6] }]);
  });

  test('whose orders have no ids, or ids that a spreadsheet has rounded, is read by their numbers', async () => {
    expect(
      (await readFixture('reconciliation', '20-reconcile-names-only.csv')).lines.map(({ known_by }) => known_by),
    ).toEqual(['number:1001', 'number:1002']);
    const damaged = await readFixture('reconciliation', '21-reconcile-excel-ids.csv');
    expect(damaged.lines.map(({ known_by }) => known_by)).toEqual(['number:1001', 'number:1002', 'number:1003']);
    expect(damaged.reading.columns.find(({ header }) => header === 'Id')).toMatchObject({ damaged: true });
  });
});

describe('a file that leaves something open', () => {
  const codes = ({ reading }: Read) => reading.questions.map(({ code }) => code);
  const head = 'Affiliate email,Commission,Currency,Date\n';

  test('asks for the order of day and month that no cell proves, with what each would record', async () => {
    const all = await read('commissions', `${head}a@x.example,1.50,USD,03/04/2026\nb@x.example,2.50,USD,05/06/2026\n`);
    expect(codes(all)).toEqual(['date_order']);
    expect(all.reading.questions[0]?.options.map(({ label }) => label)).toEqual([
      'day/month/year: 03/04/2026 is April 3, 2026',
      'month/day/year: 03/04/2026 is March 4, 2026',
    ]);
    const answered = await read(
      'commissions',
      `${head}a@x.example,1.50,USD,03/04/2026\n`,
      all.reading.questions[0]?.options[1]?.mapping,
    );
    expect(answered.reading.status).toBe('ready');
    expect(paid(answered)).toEqual([['2026-03-04', 150, 'USD']]);
  });

  test('asks nothing where both orders give the same days', async () => {
    expect(codes(await read('commissions', `${head}a@x.example,1.50,USD,03/03/2026\n`))).toEqual([]);
  });

  test('names the lines for which each order of day and month is impossible', async () => {
    const all = await read('commissions', `${head}a@x.example,1.50,USD,13/02/2026\nb@x.example,2.50,USD,02/14/2026\n`);
    expect(codes(all)).toEqual(['date_order']);
    expect(all.reading.questions[0]?.options.map(({ label, refused }) => [label, refused])).toEqual([
      ['day/month/year, which cannot read line 3', 1],
      ['month/day/year, which cannot read line 2', 1],
    ]);
  });

  test('asks for the mark before three digits, because its two readings differ a thousandfold', async () => {
    const all = await read('commissions', `${head}a@x.example,1.250,USD,2026-03-03\n`);
    expect(codes(all)).toEqual(['decimal_sign']);
    expect(all.reading.questions[0]?.options.map(({ sums }) => sums[0]?.amount)).toEqual([125, 125_000]);
  });

  test('does not ask for the mark where other cells of the column prove it', async () => {
    const all = await read(
      'commissions',
      `${head}a@x.example,1.250,EUR,2026-03-03\nb@x.example,"1,50",EUR,2026-03-03\n`,
    );
    expect(all.reading.status).toBe('ready');
    expect(paid(all).map(([, amount]) => amount)).toEqual([125_000, 150]);
  });

  test('asks whether whole amounts are cents, but not in a currency without decimals', async () => {
    const all = await read('commissions', `${head}a@x.example,12550,USD,2026-03-03\n`);
    expect(codes(all)).toEqual(['unit']);
    expect(all.reading.questions[0]?.options.map(({ sums }) => sums[0]?.amount)).toEqual([1_255_000, 12_550]);
    expect(codes(await read('commissions', `${head}a@x.example,12550,JPY,2026-03-03\n`))).toEqual([]);
  });

  test("asks for a missing currency and for that of a dollar sign, and offers the brand's first", async () => {
    const bare = await read('commissions', 'Affiliate email,Commission,Date\na@x.example,12.50,2026-03-03\n');
    expect(codes(bare)).toEqual(['currency_missing']);
    expect(bare.reading.questions[0]?.options[0]?.mapping).toEqual({ constants: { currency: 'EUR' } });
    const dollars = await read('commissions', 'Affiliate email,Commission,Date\na@x.example,$12.50,2026-03-03\n');
    expect(codes(dollars)).toEqual(['currency_sign']);
    const euros = await read('commissions', 'Affiliate email,Commission,Date\na@x.example,€12.50,2026-03-03\n');
    expect(codes(euros)).toEqual([]);
  });

  test('asks for a status that no tool has, and for an empty one beside filled ones', async () => {
    const all = await read(
      'commissions',
      'Affiliate email,Commission,Currency,Date,Status\na@x.example,1.50,USD,2026-03-03,Wartet\nb@x.example,2.50,USD,2026-03-03,\nc@x.example,4.00,USD,2026-03-03,paid\n',
    );
    expect(all.reading.questions.map(({ id }) => id)).toEqual(['status_meaning:wartet', 'status_meaning:']);
    expect(all.reading.questions[0]?.options.map(({ label, sums }) => [label, sums[0]?.amount])).toEqual([
      ['It is paid', 550],
      ['Leave it out', 400],
    ]);
  });

  test('asks which of a commission and the amount of its sale is meant', async () => {
    const all = await read(
      'commissions',
      'Affiliate email,Commission,Sale amount,Currency,Date\na@x.example,1.50,15.00,USD,2026-03-03\n',
    );
    expect(codes(all)).toEqual(['column_meaning']);
  });

  test('asks for an amount that no word names beside a commission', async () => {
    const all = await read(
      'commissions',
      'Affiliate email,Commission,Bonus,Currency,Date\na@x.example,1.50,15.00,USD,2026-03-03\n',
    );
    expect(codes(all)).toEqual(['column_meaning']);
    const clicks = await read(
      'commissions',
      'Affiliate email,Commission,Clicks,Currency,Date\na@x.example,1.50,15,USD,2026-03-03\n',
    );
    expect(codes(clicks)).toEqual([]);
  });

  test('takes a column named Paid as a date or a status by its cells', async () => {
    const date = await read(
      'commissions',
      'Affiliate email,Commission,Currency,Paid\na@x.example,1.50,USD,2026-03-03\n',
    );
    expect(paid(date)).toEqual([['2026-03-03', 150, 'USD']]);
    const status = await read(
      'commissions',
      'Affiliate email,Commission,Currency,Date,Paid\na@x.example,1.50,USD,2026-03-03,yes\nb@x.example,2.50,USD,2026-03-03,no\n',
    );
    expect(paid(status)).toEqual([['2026-03-03', 150, 'USD']]);
    expect(status.reading.counts).toMatchObject({ read: 1, left_out: 1 });
  });

  test('asks about a row of totals that is not the sum', async () => {
    const right = await read(
      'commissions',
      `${head}a@x.example,1.50,USD,2026-03-03\nb@x.example,2.50,USD,2026-03-04\nTotal,4.00,,\n`,
    );
    expect(right.reading).toMatchObject({
      status: 'ready',
      counts: { lines: 3, read: 2, left_out: 1 },
      text: { totals_lines: [4] },
    });
    const wrong = await read(
      'commissions',
      `${head}a@x.example,1.50,USD,2026-03-03\nb@x.example,2.50,USD,2026-03-04\nTotal,5.00,,\n`,
    );
    expect(codes(wrong)).toEqual(['totals_disagree']);
  });

  test('asks how tax in prices is shared with shipping, and what a partial refund gives back', async () => {
    const file =
      'Name,Financial Status,Currency,Subtotal,Shipping,Taxes,Total,Created at,Lineitem quantity,Refunded Amount\n#1,paid,EUR,119.00,11.90,20.90,130.90,2026-10-05 11:01:12 +0200,1,0.00\n#2,partially_refunded,EUR,119.00,0.00,19.00,119.00,2026-10-05 11:01:12 +0200,1,59.50\n';
    const all = await read('orders', file);
    expect(codes(all)).toEqual(['tax_in_prices', 'partial_refunds']);
    expect(all.reading.questions[0]?.options.map(({ sums }) => sums[0]?.amount)).toEqual([20_000, 19_810]);
    expect(all.reading.questions[1]?.options.map(({ sums }) => sums[0]?.refunded)).toEqual([5_000, 5_950]);
  });

  test("asks about Stripe's amount, which includes tax and shipping", async () => {
    const all = await read(
      'orders',
      'id,Created (UTC),Amount,Amount Refunded,Currency,Captured,Converted Amount,Customer Email,Status\nch_1,2026-10-05 11:01,"10,25","0,25",usd,true,"99,00",b@x.example,Paid\nch_2,2026-10-05 11:01,"10,25",0,usd,false,"99,00",b@x.example,Paid\n',
    );
    expect(codes(all)).toEqual(['amount_meaning']);
    expect(all.reading.sums[0]).toMatchObject({ currency: 'USD', amount: 1_025, refunded: 25 });
    expect(all.reading.counts.left_out).toBe(1);
  });

  test('asks for each person whose name has no address', async () => {
    const all = await read(
      'payouts',
      'ID,Status,Direction,Finished on,Target name,Target amount (after fees),Target currency\nT1,COMPLETED,OUT,2026-10-05 10:00:00,Ana Lopez,10.50,EUR\nT1,COMPLETED,OUT,2026-10-05 10:00:00,Ana Lopez,10.50,EUR\nT2,CANCELLED,OUT,2026-10-05 10:00:00,Ben Kim,3.50,EUR\nT3,COMPLETED,IN,2026-10-05 10:00:00,Us,3.50,EUR\n',
    );
    expect(all.reading.questions.map(({ id }) => id)).toEqual(['people:Ana Lopez']);
    expect(all.reading.counts).toMatchObject({ lines: 4, records: 3, read: 1, left_out: 2 });
  });

  test('asks for a proof of a list of what to pay', async () => {
    const all = await read('payouts', 'Email,Amount,Currency\na@x.example,12.50,USD\n');
    expect(codes(all)).toEqual(['proof']);
  });
});

describe('a file that cannot be right', () => {
  const refusals = ({ reading }: Read) => reading.refusals.map(({ kind, first_lines }) => [kind, first_lines]);

  test('is refused with the line of a quote that never ends', async () => {
    expect(refusals(await read('roster', 'email,name\na@x.example,A\nb@x.example,"B\nc@x.example,C\n'))).toEqual([
      ['quote_not_closed', [3]],
    ]);
  });

  test('is refused if it has a header alone, or lacks a column, and the refusal names what was read', async () => {
    expect(refusals(await read('roster', 'email,name\n'))).toEqual([['no_records', []]]);
    const all = await read('commissions', 'foo;bar\nx;y\n');
    expect(all.reading.refusals[0]).toMatchObject({ kind: 'no_column', message: expect.stringContaining('“;”') });
  });

  test('is refused if another table starts below, whose rows would be read as records', async () => {
    const file =
      'Order,Date,Amount,Currency\nA,2026-10-13,10.50,EUR\n\nRefund,Date,Amount,Currency\nR,2026-10-14,5.00,EUR\n';
    const { reading } = await read('orders', file);
    expect(reading.refusals).toMatchObject([{ kind: 'several_tables', first_lines: [4] }]);
  });

  test('says what is wrong with a column whose cells are not what its header says', async () => {
    const { reading } = await read('commissions', 'Email,Amount,Currency,Date\na@x.example,10.50,EUR,13 Feb\n');
    expect(reading.refusals[0]?.message).toContain('“Date” says “13 Feb”; right is a date such as 2026-03-31.');
  });

  test('is refused if two lines of one order differ, with both lines', async () => {
    const all = await read(
      'orders',
      'Order ID,Order Date,Amount,Currency\nA,2026-10-05,10.50,EUR\nB,2026-10-05,1.50,EUR\nA,2026-10-05,12.50,EUR\n',
    );
    expect(all.lines.find(({ outcome }) => outcome === 'refused')).toMatchObject({
      kind: 'contradicting_lines',
      lines: [2, 4],
    });
    expect(orders(all)).toEqual([['B', 150, 0, 'EUR']]);
  });

  test('is refused if an amount has more decimals than its currency, unless they are zeros', async () => {
    const all = await read(
      'commissions',
      'Affiliate email,Commission,Currency,Date\na@x.example,12.5000,USD,2026-03-03\nb@x.example,12.5050,USD,2026-03-03\n',
    );
    expect(paid(all)).toEqual([['2026-03-03', 1_250, 'USD']]);
    expect(refusals(all)).toEqual([['too_many_decimals', [3]]]);
  });

  test('is refused if the parts of a line do not make its total where those of others do', async () => {
    const all = await read(
      'orders',
      'Order ID,Order Date,Total,Shipping,Tax,Subtotal,Currency\nA,2026-10-05,131.00,10.00,21.00,100.00,EUR\nB,2026-10-05,231.00,10.00,21.00,100.00,EUR\nC,2026-10-05,110.00,10.00,21.00,100.00,EUR\n',
    );
    expect(refusals(all)).toEqual([['amounts_disagree', [3]]]);
    expect(orders(all)).toEqual([
      ['A', 10_000, 0, 'EUR'],
      ['C', 8_091, 0, 'EUR'],
    ]);
  });
});

describe('a table', () => {
  const table = 'Affiliate email,Commission,Currency,Date\na@x.example,1.50,USD,2026-03-03\n';
  const names = 'Name;E-Mail\nJörg Größe;j@x.example\n';

  test.each([
    ['CRLF', table.replaceAll('\n', '\r\n')],
    ['CR alone', table.replaceAll('\n', '\r')],
    ['a preamble', `My shop\nExported,today\n\n${table}`],
    ['sep=', `sep=;\r\n${table.replaceAll(',', ';')}`],
    ['pipes', table.replaceAll(',', '|')],
    ['a byte order mark', `\ufeff${table}`],
    ['one empty cell too many', table.replaceAll('03\n', '03,\n')],
    ['guards', table.replace('2026-03-03', '="2026-03-03"')],
    ['accents and signs in headers', table.replace('Commission', ' <b>Cómmission</b>: ')],
  ])('is read the same with %s', async (_, content) => {
    const all = await read('commissions', content);
    expect(all.reading.status).toBe('ready');
    expect(paid(all)).toEqual([['2026-03-03', 150, 'USD']]);
  });

  test('is read in any encoding, also as text that was decoded wrongly once', async () => {
    const latin = Buffer.from(names, 'latin1');
    const wide = Buffer.from(names, 'utf16le');
    const twice = Buffer.from(new TextDecoder('windows-1252').decode(Buffer.from(names)));
    const all = await Promise.all([names, latin, wide, twice].map((content) => read('roster', content)));
    expect(all.map((each) => people(each)[0]?.name)).toEqual(Array.from({ length: 4 }, () => 'Jörg Größe'));
    expect(all.map(({ reading }) => reading.text.encoding)).toEqual(['utf-8', 'windows-1252', 'utf-16le', 'utf-8']);
    expect(all[3]?.reading.text.repaired).toBe(1);
  });

  test('counts a row with line breaks in a cell as one line, and numbers the next by its place in the file', async () => {
    const all = await read('roster', 'Name,Email,Notes\r\nA,a@x.example,"one\r\ntwo\nthree"\r\n\r\nB,b@x.example,\r\n');
    expect(all.lines.map(({ line }) => line)).toEqual([2, 6]);
    expect(all.reading.counts.lines).toBe(2);
  });

  test('follows the mapping for columns, decimals, dates and zone, and an unknown column of it is named', async () => {
    const all = await read('commissions', 'Who;What;When\na@x.example;1.250;03/04/2026\n', {
      columns: { email: 'Who', amount: 'What', paid_at: 'When' },
      constants: { currency: 'EUR' },
      decimal: ',',
      unit: 'major',
      dates: 'mdy',
    });
    expect(paid(all)).toEqual([['2026-03-04', 125_000, 'EUR']]);
    await expect(read('commissions', table, { columns: { email: 'Mail' } })).rejects.toMatchObject({
      field: 'mapping.columns.email',
      code: 'not_found',
    });
  });

  test('has a reading that is named by its bytes and mapping', async () => {
    const [one, same, other] = [
      await read('commissions', table),
      await read('commissions', table),
      await read('commissions', table, { unit: 'minor' }),
    ];
    expect(one.reading.reading_id).toBe(same.reading.reading_id);
    expect(one.reading.reading_id).not.toBe(other.reading.reading_id);
  });
});
