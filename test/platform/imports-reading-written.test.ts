import { describe, expect, test } from 'vitest';
import type { Kind } from '../../src/platform/imports/reading/kinds.ts';
import type { Mapping } from '../../src/platform/imports/reading/shapes.ts';
import { type Read, readWhole } from './imports-check.ts';

const latin = (text: string) => Buffer.from(text.replaceAll('€', '\x80').replaceAll('’', '\x92'), 'latin1');
const wide = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

const money = ({ records }: Read) =>
  records.flatMap((record) => {
    if (record.kind === 'order')
      return [
        `${record.order_number ?? record.order_id} ${record.placed_at.slice(0, 10)} ${record.amount} ${record.refunded} ${record.currency}`,
      ];
    return record.kind === 'paid' ? [`${record.paid_at.slice(0, 10)} ${record.amount} ${record.currency}`] : [];
  });
const asked = ({ reading }: Read) => reading.questions.map(({ id }) => id);
const refused = ({ reading }: Read) => reading.refusals.map(({ kind, first_lines }) => `${kind} ${first_lines}`);

interface WrittenFile {
  of: Kind;
  content: string | Uint8Array;
  mapping?: Mapping;
  asks?: string[];
  refuses?: string[];
  records: string[];
}

const paypal = (...lines: string[]) =>
  `Date,Gross,Fee,Net,Type,To Email Address,Transaction ID,Reference Txn ID,Currency,Status,TimeZone\n${lines.map((line) => `${line},USD,Completed,UTC\n`).join('')}`;

/** Files as tools and spreadsheets of several countries write them. */
const FILES: Record<string, WrittenFile> = {
  'a German spreadsheet in windows-1252 with a title above, a negative amount and its sum below': {
    of: 'commissions',
    content: latin(
      'Provisionen Oktober 2026;;;;\r\n;;;;\r\nE-Mail-Adresse;Provision;Währung;Bezahlt am;Referenz\r\n' +
        'ana@x.example;1.250,50 €;EUR;31.10.2026;Größe\r\nben@x.example;-5,00 €;EUR;01.11.2026;b\r\n' +
        'cy@x.example;99,90 €;EUR;02.11.2026;c\r\nSumme;1.345,40 €;;;\r\n',
    ),
    refuses: ['negative_amount 5'],
    records: ['2026-10-31 125050 EUR', '2026-11-02 9990 EUR'],
  },
  'a French spreadsheet with narrow blanks between thousands': {
    of: 'commissions',
    content:
      'Adresse e-mail;Montant de la commission;Devise;Date de paiement\r\nana@x.example;1\u202f250,50\u00a0€;EUR;05/06/2026\r\n' +
      'ben@x.example;99,90\u00a0€;EUR;07/08/2026\r\nTotal général;1\u202f350,40\u00a0€;;\r\n',
    asks: ['date_order'],
    records: ['2026-06-05 125050 EUR', '2026-08-07 9990 EUR'],
  },
  'a Dutch shop with euro signs before the amounts': {
    of: 'orders',
    content:
      'Bestelnummer;Besteldatum;Totaalbedrag;Verzendkosten;BTW;Subtotaal;Korting;Valuta\r\n' +
      '1001;13-10-2026;€ 131,00;€ 10,00;€ 21,00;€ 100,00;€ 0,00;EUR\r\n',
    records: ['1001 2026-10-13 10000 0 EUR'],
  },
  "a spreadsheet's Unicode text, in UTF-16 with tabs": {
    of: 'orders',
    content: wide(
      'order_id\tplaced_at\tamount\tcurrency\r\n"A1"\t31.10.2026 10:00\t1.250,50\tEUR\r\nA2\t01.11.2026 10:00\t(20,00)\tEUR\r\n',
    ),
    refuses: ['negative_amount 3'],
    records: ['A1 2026-10-31 125050 0 EUR'],
  },
  'codes of currencies and signs before, after and within brackets': {
    of: 'commissions',
    content:
      'Affiliate email,Commission,Date\na@x.example,"1,250.50 USD",05/21/2026\nb@x.example,(5.00) USD,05/22/2026\n' +
      "c@x.example,CHF 1'250.50,05/23/2026\nd@x.example,3.00- USD,05/24/2026\ne@x.example,CHF 99.–,05/24/2026\n",
    refuses: ['negative_amount 3,5'],
    records: ['2026-05-21 125050 USD', '2026-05-23 125050 CHF', '2026-05-24 9900 CHF'],
  },
  "Shopify's export, saved again by a German spreadsheet that rounded its ids": {
    of: 'orders',
    content: latin(
      'Name;Financial Status;Currency;Subtotal;Shipping;Taxes;Total;Created at;Lineitem quantity;Lineitem name;Refunded Amount;Id\r\n' +
        '#1001;paid;EUR;1.100,00;10,00;0,00;1.110,00;15.10.2026 11:01;1;Sérum;0,00;5,84085E+12\r\n' +
        '#1001;;;;;;;15.10.2026 11:01;1;Crème;;\r\n' +
        '#1002;refunded;EUR;200,00;10,00;0,00;210,00;06.10.2026 11:01;1;Sérum;210,00;5,84085E+12\r\n',
    ),
    records: ['#1001 2026-10-15 110000 0 EUR', '#1002 2026-10-06 20000 20000 EUR'],
  },
  'months as a German spreadsheet abbreviates them': {
    of: 'commissions',
    content: 'E-Mail;Provision;Währung;Datum\na@x.example;10,50;EUR;05. Mrz 2026\nb@x.example;12,50;EUR;12. Okt 2026\n',
    records: ['2026-03-05 1050 EUR', '2026-10-12 1250 EUR'],
  },
  'a header of two lines, with quoted line breaks': {
    of: 'orders',
    content: 'Order,,,Money\n"Order\nID","Order\nDate",Currency,Amount\nA1,13.10.2026,EUR,"1,250.50"\n',
    records: ['A1 2026-10-13 125050 0 EUR'],
  },
  'two columns of one name, of which either may be meant': {
    of: 'orders',
    content:
      'Order ID,Order Date,Amount,Currency,Status,Status\nA,2026-10-05,10.50,EUR,paid,pending\nB,2026-10-05,12.50,EUR,paid,paid\n',
    asks: ['column_meaning:status'],
    records: ['A 2026-10-05 1050 0 EUR', 'B 2026-10-05 1250 0 EUR'],
  },
  'our own orders, beside whose amounts their commissions stand with statuses': {
    of: 'orders',
    content:
      'id,order_id,integration_id,occurred_at,cancelled_at,currency,amount,customer_email,commission_id,commission,status,country,order_number\n' +
      'ord_1,L-1,int_1,2026-10-05T10:00:00.000Z,,USD,64.00,b@x.example,com_1,9.60,pending,US,\n' +
      'ord_2,L-2,int_1,2026-10-06T10:00:00.000Z,,USD,38,,,,,US,#1002\n' +
      'ord_3,L-3,int_1,2026-10-06T11:00:00.000Z,,USD,12,,com_3,1.2,approved,US,\n',
    records: ['L-1 2026-10-05 6400 0 USD', '#1002 2026-10-06 3800 0 USD', 'L-3 2026-10-06 1200 0 USD'],
  },
  'an amount beside a percentage of it': {
    of: 'commissions',
    content: 'Email,Amount,Commission,Currency,Paid at\na@x.example,100.00,10%,EUR,2026-10-05\n',
    asks: ['column_meaning:amount'],
    records: ['2026-10-05 10000 EUR'],
  },
  'columns that say yes to what was refunded or cancelled': {
    of: 'orders',
    content:
      'Order ID,Date,Amount,Currency,Refunded,Cancelled\n1,2026-10-13,119.00,EUR,No,No\n2,2026-10-13,19.00,EUR,Yes,No\n3,2026-10-13,9.00,EUR,No,Yes\n',
    records: ['1 2026-10-13 11900 0 EUR', '2 2026-10-13 1900 1900 EUR'],
  },
  'a one for what was refunded, and days of what was cancelled': {
    of: 'orders',
    content:
      'Order ID,Date,Amount,Currency,Refunded?,Cancelled\n1,2026-10-13,119.00,EUR,0,\n2,2026-10-13,19.00,EUR,1,\n3,2026-10-13,9.00,EUR,0,2026-10-15\n',
    records: ['1 2026-10-13 11900 0 EUR', '2 2026-10-13 1900 1900 EUR'],
  },
  'a column that says no to what was paid': {
    of: 'orders',
    content: 'Bestellnummer;Datum;Betrag;Währung;Bezahlt\n1;13.10.2026;119,00;EUR;Ja\n2;13.10.2026;19,00;EUR;Nein\n',
    records: ['1 2026-10-13 11900 0 EUR'],
  },
  'a column that says no, and sometimes nothing, to what was approved': {
    of: 'commissions',
    content:
      'Email,Commission,Currency,Date,Approved\na@x.example,10.00,EUR,2026-10-13,Yes\nb@x.example,20.00,EUR,2026-10-13,No\nc@x.example,5.00,EUR,2026-10-13,\n',
    asks: ['status_meaning:notapproved', 'status_meaning:'],
    records: ['2026-10-13 1000 EUR'],
  },
  'currencies by their names, and signs that are letters': {
    of: 'commissions',
    content:
      'Email,Commission,Currency,Date\na@x.example,12.50,Euro,2026-02-13\nb@x.example,"Rs. 1,250.00",Indian Rupee,2026-02-13\nc@x.example,"Rp 125.000,00",IDR,2026-02-13\n',
    records: ['2026-02-13 1250 EUR', '2026-02-13 125000 INR', '2026-02-13 12500000 IDR'],
  },
  'a sign that several rupees share': {
    of: 'commissions',
    content: 'Email,Commission,Date\na@x.example,"Rs. 1,250.00",2026-02-13\n',
    asks: ['currency_sign:currency'],
    records: ['2026-02-13 125000 INR'],
  },
  'yen with marks between thousands, which have no decimals': {
    of: 'orders',
    content:
      'order_id,order_date,amount,currency\nJ1,2026/10/13,"1,250",JPY\nJ2,2026/10/14,"980",JPY\nJ3,2026/10/15,2.000,KRW\n',
    records: ['J1 2026-10-13 1250 0 JPY', 'J2 2026-10-14 980 0 JPY', 'J3 2026-10-15 2000 0 KRW'],
  },
  'two exports joined, with the header of the second between them': {
    of: 'orders',
    content:
      'Order ID,Date,Status,Amount,Currency\nA,2026-10-13,paid,10.50,EUR\nOrder ID,Date,Status,Amount,Currency\nB,2026-10-14,paid,7.25,EUR\n',
    records: ['A 2026-10-13 1050 0 EUR', 'B 2026-10-14 725 0 EUR'],
  },
  "Etsy's export, whose dates a German spreadsheet has written anew": {
    of: 'orders',
    content: latin(
      'Sale Date;Order ID;Currency;Order Value;Discount Amount;Shipping;Sales Tax;Order Total;Status;Order Net\r\n' +
        '10.08.26;9001;EUR;1.068,00;8,00;8,00;0;1.068,00;Completed;1.000,00\r\n',
    ),
    asks: ['date_order'],
    records: ['9001 2026-08-10 106000 0 EUR'],
  },
  'short years after the names of months': {
    of: 'commissions',
    content: 'Email,Commission,Currency,Date\na@x.example,10.00,GBP,01-Aug-26\nb@x.example,11.00,GBP,05-Sep-26\n',
    records: ['2026-08-01 1000 GBP', '2026-09-05 1100 GBP'],
  },
  'a bank that says in a column of its own whether money went out': {
    of: 'payouts',
    content:
      'Buchungstag;E-Mail;Betrag;S/H;Währung\n21.05.2026;a@x.example;12,50;S;EUR\n22.05.2026;b@x.example;9,00;H;EUR\n',
    mapping: { statuses: { s: 'paid', h: 'left_out' } },
    records: ['2026-05-21 1250 EUR'],
  },
  'the direction of money beside its state, each of which must be right': {
    of: 'payouts',
    content:
      'Email,Amount,Currency,Date,Status,Type\na@x.example,1.50,EUR,2026-10-13,Completed,Debit\n' +
      'b@x.example,2.50,EUR,2026-10-13,Failed,Debit\nc@x.example,3.50,EUR,2026-10-13,Completed,Credit\n',
    mapping: { statuses: { debit: 'paid', credit: 'left_out' } },
    records: ['2026-10-13 150 EUR'],
  },
  'a sign where a column of currencies has a gap': {
    of: 'commissions',
    content: 'Email,Commission,Currency,Date\na@x.example,$10.50,,2026-10-13\nb@x.example,£9.90,GBP,2026-10-14\n',
    asks: ['currency_sign:currency'],
    records: ['2026-10-13 1050 USD', '2026-10-14 990 GBP'],
  },
  'signs in a column of currencies, each of which several share': {
    of: 'commissions',
    content:
      'Email,Commission,Currency,Date\na@x.example,10.50,kr,2026-10-13\nb@x.example,9.90,$,2026-10-14\nc@x.example,5.00,€,2026-10-14\n',
    asks: ['currency_sign:currency', 'currency_sign:currency:2'],
    records: ['2026-10-13 1050 SEK', '2026-10-14 990 USD', '2026-10-14 500 EUR'],
  },
  'a header that names another currency than the column beside it': {
    of: 'commissions',
    content:
      'Email,Commission (USD),Currency,Date\na@x.example,10.50,EUR,2026-10-13\nb@x.example,9.90,USD,2026-10-14\n',
    refuses: ['currency_contradicts 2'],
    records: ['2026-10-14 990 USD'],
  },
  'numbers of orders that a program took for decimals': {
    of: 'orders',
    content: 'Order number,Date,Amount,Currency\n1001.0,2026-10-13,10.50,EUR\n1002.0,2026-10-13,11.50,EUR\n',
    records: ['1001 2026-10-13 1050 0 EUR', '1002 2026-10-13 1150 0 EUR'],
  },
  'apostrophes before what a spreadsheet would take for a number': {
    of: 'orders',
    content: "Order number,Date,Amount,Currency\n'00123,'2026-10-13,\"'1,210.50\",EUR\n",
    records: ['00123 2026-10-13 121050 0 EUR'],
  },
  'amounts whose marks between thousands have no quotes around them, and rupees as they are written by hand': {
    of: 'commissions',
    content:
      'Email,Date,Commission,Note\na@x.example,2026-10-13,INR 1,250.00,\nb@x.example,2026-10-13,"Rs. 1,23,456.00/-",x\n',
    asks: ['currency_sign:currency'],
    refuses: ['too_many_cells 2'],
    records: ['2026-10-13 12345600 INR'],
  },
  'states in the words of another language, under a header that no word names': {
    of: 'orders',
    content:
      'Numéro de commande;Date;Montant;Devise;Situation\n1;13/10/2026;10,00;EUR;Payée\n2;13/10/2026;12,00;EUR;Annulée\n',
    mapping: { columns: { status: 'Situation' }, statuses: { Payée: 'counts', Annulée: 'left_out' } },
    records: ['1 2026-10-13 1000 0 EUR'],
  },
  'dashes for nothing, and a word after the time of day': {
    of: 'orders',
    content:
      'Order number;Date;Subtotal;Discount;Shipping;Tax;Total;Currency\n1;13.10.2026 10.15 Uhr;$100.00;$ -   ;$5.00;-;$105.00;USD\n' +
      '2;14.10.2026 23:59 Uhr;$50.00;$5.00;$5.00;$0.00;$50.00;USD\n',
    records: ['1 2026-10-13 10000 0 USD', '2 2026-10-14 4500 0 USD'],
  },
  'amounts in thousands, as their header says': {
    of: 'commissions',
    content:
      'E-Mail;Umsatz (T€);Provision in T€;Datum\na@x.example;12,5;1,25;15.10.2026\nb@x.example;8;0,5;16.10.2026\n',
    asks: ['column_meaning:amount', 'unit:scaled_amounts'],
    records: ['2026-10-15 125000 EUR', '2026-10-16 50000 EUR'],
  },
  'amounts whose header says thousands, which they are not': {
    of: 'orders',
    content: 'Order,Date,Amount ($000s)\n1,2026-10-15,1250.50\n',
    mapping: { constants: { scaled_amounts: 'no' }, symbols: { $: 'USD' } },
    records: ['1 2026-10-15 125050 0 USD'],
  },
  'cents that have decimals, as their header says, and pence': {
    of: 'commissions',
    content:
      'Email,Commission (cents),Currency,Date\na@x.example,1250.00,EUR,2026-10-15\nb@x.example,9900.00,GBp,2026-10-15\n',
    asks: ['unit:scaled_amounts'],
    refuses: ['currency_unknown 3'],
    records: ['2026-10-15 1250 EUR'],
  },
  'signs of another currency than their header has': {
    of: 'commissions',
    content: 'Email,Commission (EUR),Date\na@x.example,£12.50,2026-10-15\nb@x.example,€9.00,2026-10-15\n',
    refuses: ['currency_contradicts 2'],
    records: ['2026-10-15 900 EUR'],
  },
  'the currency of the sale alone beside a commission': {
    of: 'commissions',
    content: 'Email,Order currency,Commission,Date\na@x.example,USD,12.50,2026-10-15\n',
    asks: ['column_meaning:currency'],
    records: ['2026-10-15 1250 USD'],
  },
  'samples and replacements among sales': {
    of: 'orders',
    content:
      'Order,Date,Amount,Currency,Order type\n1,2026-10-15,10.00,EUR,Sale\n2,2026-10-15,99.00,EUR,Sample\n3,2026-10-15,9.00,EUR,Replacement\n',
    asks: ['status_meaning:sample', 'status_meaning:replacement'],
    records: ['1 2026-10-15 1000 0 EUR'],
  },
  'ids that a spreadsheet could not look up': {
    of: 'orders',
    content:
      'Order ID,Date,Amount,Currency\n#N/A,2026-10-15,10.00,EUR\n#N/A,2026-10-15,10.00,EUR\nA3,2026-10-15,9.00,EUR\n',
    refuses: ['no_identity 2,3'],
    records: ['A3 2026-10-15 900 0 EUR'],
  },
  'times under the name of an American zone': {
    of: 'orders',
    content: 'Order,Date (Pacific Time),Amount,Currency\n1,2026-10-15 20:00,10.00,USD\n',
    records: ['1 2026-10-16 1000 0 USD'],
  },
  "a dispute in Stripe's payments that was lost": {
    of: 'orders',
    content:
      'id,Created date (UTC),Amount,Amount Refunded,Currency,Captured,Status,Dispute Status\nch_1,2026-10-15 10:00,100.00,0.00,eur,true,Paid,\n' +
      'ch_2,2026-10-15 10:00,80.00,0.00,eur,true,Paid,lost\nch_3,2026-10-15 10:00,60.00,0.00,eur,true,Paid,won\n',
    mapping: { goods: 'total' },
    records: ['ch_1 2026-10-15 10000 0 EUR', 'ch_3 2026-10-15 6000 0 EUR'],
  },
  "PayPal's payments, of which one came back whole, and one in part": {
    of: 'payouts',
    content: paypal(
      '10/15/2026,-50.00,-1.00,-51.00,Mass Payment,a@x.example,T1,',
      '10/15/2026,-70.00,0.00,-70.00,Mass Payment,b@x.example,T2,',
      '10/16/2026,-20.00,0.00,-20.00,Mass Payment,c@x.example,T3,',
      '10/20/2026,50.00,1.00,51.00,Mass Pay Reversal,pay@brand.example,T4,T1',
      '10/21/2026,30.00,0.00,30.00,Payment Refund,pay@brand.example,T5,T2',
      '10/22/2026,99.00,0.00,99.00,Payment Refund,pay@brand.example,T6,T0',
      '10/22/2026,120.00,-4.00,116.00,Express Checkout Payment,pay@brand.example,T7,',
    ),
    refuses: ['returned_unmatched 7'],
    records: ['2026-10-15 4000 USD', '2026-10-16 2000 USD'],
  },
  "PayPal's gross amounts, which a spreadsheet has sorted apart from the rest": {
    of: 'payouts',
    content: paypal(
      '10/15/2026,-70.00,-1.00,-51.00,Mass Payment,a@x.example,T1,',
      '10/15/2026,-50.00,-1.00,-71.00,Mass Payment,b@x.example,T2,',
    ),
    refuses: ['amounts_disagree 2,3'],
    records: [],
  },
  'payments that bounced, were reversed, or failed for a reason': {
    of: 'payouts',
    content:
      'Email,Amount,Currency,Date,Bounced,Reversal date,Error\na@x.example,10.00,EUR,2026-10-15,No,,0\nb@x.example,20.00,EUR,2026-10-15,Yes,,\n' +
      'c@x.example,30.00,EUR,2026-10-15,No,2026-10-20,none\nd@x.example,40.00,EUR,2026-10-15,No,,INVALID_RECEIVER\n',
    records: ['2026-10-15 1000 EUR'],
  },
  'payments, of which a column says how much came back': {
    of: 'payouts',
    content:
      'Email,Amount,Amount reversed,Currency,Date\na@x.example,50.00,50.00,EUR,2026-10-15\nb@x.example,70.00,0.00,EUR,2026-10-15\n',
    asks: ['column_meaning:refunded'],
    records: ['2026-10-15 7000 EUR'],
  },
  "Etsy's British page, whose order of day and month nobody knows": {
    of: 'orders',
    content:
      'Sale Date,Order ID,Currency,Order Value,Discount Amount,Delivery,Sales Tax,Order Total,Status,Order Net\n05/06/26,1,GBP,60.00,0.00,3.00,0.00,63.00,,57.00\n',
    asks: ['date_order'],
    records: ['1 2026-06-05 6000 0 GBP'],
  },
};

describe('a file', () => {
  test.each(Object.entries(FILES))('with %s is read as it was meant, or asks', async (_, written) => {
    const { of, content, mapping, asks = [], refuses = [], records } = written;
    const read = await readWhole(of, content, mapping);
    expect(asked(read)).toEqual(asks);
    expect(refused(read)).toEqual(refuses);
    expect(money(read)).toEqual(records);
  });

  test('of payments that came back, without the column that says which ones, is refused and names the column', async () => {
    const { reading } = await readWhole(
      'payouts',
      paypal(
        '10/15/2026,-50.00,0.00,-50.00,Mass Payment,a@x.example,T1,',
        '10/20/2026,50.00,0.00,50.00,Mass Pay Reversal,pay@brand.example,T2,',
      ).replace('Reference Txn ID', 'Note'),
    );
    expect(reading.refusals).toMatchObject([
      { kind: 'returns_unnamed', first_lines: [3], fault: { field: 'reference', value: 'Mass Pay Reversal' } },
    ]);
  });

  test('that is refused as a whole says what would be right', async () => {
    const refuse = async (of: Kind, content: string) => (await readWhole(of, content)).reading.refusals[0];
    expect(await refuse('roster', 'Email,Ana,Ben\nName,x,y\nCode,x,y\n')).toMatchObject({
      kind: 'transposed',
      fault: { value: 'Email, Name, Code', expected: 'a header in one row, and a row below it for each record' },
    });
    expect(await refuse('roster', 'Email,Name\n')).toMatchObject({
      kind: 'no_records',
      fault: { value: 'Email, Name', expected: 'a row for each record below the header' },
    });
    expect(await refuse('payouts', 'Email,Amount,Currency,Paid at\n"a@x.example,1.00,EUR,2026-10-05\n')).toMatchObject({
      kind: 'quote_not_closed',
      fault: { expected: 'a second quote at the end of the cell' },
    });
  });

  test('whose orders repeat their amount on each line says that it counts once', async () => {
    const file =
      'Order ID,Order Date,Item,Amount,Currency\nA,2026-10-05,Serum,50.00,EUR\nA,2026-10-05,Cream,50.00,EUR\n';
    const read = await readWhole('orders', file);
    expect(money(read)).toEqual(['A 2026-10-05 5000 0 EUR']);
    expect(read.reading.warnings.map(({ code }) => code)).toContain('amounts_repeat');
  });
});
