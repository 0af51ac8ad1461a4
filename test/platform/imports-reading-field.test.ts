import { describe, expect, test } from 'vitest';
import { expectRead, type FieldCase, lines } from './imports-field.ts';

/** Bytes of a text in an encoding of one byte a letter. */
function encode(text: string, encoding: string): Uint8Array {
  const letters = new Map(
    Array.from({ length: 256 }, (_, byte) => [new TextDecoder(encoding).decode(Uint8Array.of(byte)), byte] as const),
  );
  return Uint8Array.from([...text].map((letter) => letters.get(letter) ?? 0x3f));
}

const CASES: readonly FieldCase[] = [
  {
    title: "Wix's orders, whose shipping has another name and whose net amount has it in it",
    of: 'orders',
    content: lines(
      'Order number,Date created,Time,Contact email,Price,Shipping rate,Total tax,Total,Currency,Payment status,Refunded amount,Net amount',
      '10001,"Oct 5, 2026",10:12,b1@mail.example,40.00,5.00,0.00,85.00,EUR,Paid,0.00,85.00',
      '10001,"Oct 5, 2026",10:12,b1@mail.example,40.00,5.00,0.00,85.00,EUR,Paid,0.00,85.00',
      '10002,"Oct 6, 2026",11:12,b2@mail.example,40.00,5.00,0.00,45.00,EUR,Refunded,45.00,0.00',
    ),
    asks: ['amount_meaning:amount'],
    mapping: { goods: 'total_less_rest' },
    records: ['10001 8000 EUR 2026-10-05T10:12', '10002 0 EUR 2026-10-06T11:12'],
  },
  {
    title: 'an amount equal to a total that has a delivery charge in it, which no word names',
    of: 'orders',
    content: lines(
      'Order ID,Date,Amount,Express delivery,Total,Currency',
      'A1,2026-10-05,110.00,10.00,110.00,EUR',
      'A2,2026-10-06,60.00,10.00,60.00,EUR',
    ),
    asks: ['amount_meaning:amount'],
    mapping: { columns: { shipping: 'Express delivery' }, goods: 'total_less_rest' },
    records: ['A1 10000 EUR 2026-10-05T12:00', 'A2 5000 EUR 2026-10-06T12:00'],
  },
  {
    title: 'refunds in a column that no word names',
    of: 'orders',
    content: lines(
      'Order,Date,Amount,Store refunds,Currency',
      'A1,2026-10-05,110.00,10.00,EUR',
      'A2,2026-10-06,60.00,0.00,EUR',
    ),
    asks: ['column_meaning:amount', 'column_meaning:refunded'],
    mapping: { columns: { amount: 'Amount', refunded: 'Store refunds' } },
    records: ['A1 10000 EUR 2026-10-05T12:00', 'A2 6000 EUR 2026-10-06T12:00'],
  },
  {
    title: 'currencies under a header that no word names',
    of: 'commissions',
    content: lines('Affiliate email,Commission,Order Currency Code,Date', 'ana@creators.example,10.50,CAD,2026-05-21'),
    asks: ['column_meaning:currency'],
    mapping: { columns: { currency: 'Order Currency Code' } },
    records: ['ana@creators.example 1050 CAD 2026-05-21'],
  },
  {
    title: 'commissions that were approved, and paid or not',
    of: 'commissions',
    content: lines(
      'Affiliate Email,Commission Total,Currency,Status,Payment Status,Date',
      'ana@creators.example,10.00,USD,Approved,PAID,2026-05-21',
      'ana@creators.example,20.00,USD,Approved,UNPAID,2026-05-22',
    ),
    asks: ['column_meaning:status'],
    mapping: { columns: { status: 'Payment Status' } },
    records: ['ana@creators.example 1000 USD 2026-05-21'],
  },
  {
    title: "FirstPromoter's commissions, of which a column says whether they are paid",
    of: 'commissions',
    content: lines(
      'id,promoter_email,amount,sale_amount,unit,status,is_paid,created_at',
      '1,ana@creators.example,10.50,100.00,cash,approved,true,2026-05-21T10:00:00Z',
      '2,ben@creators.example,20.50,200.00,cash,approved,false,2026-05-21T10:00:00Z',
    ),
    asks: ['currency_missing:currency'],
    mapping: { constants: { currency: 'USD' } },
    records: ['ana@creators.example 1050 USD 2026-05-21'],
  },
  {
    title: 'handles of several platforms in one column, and addresses under “Contact”',
    of: 'roster',
    content: lines(
      'Creator,Contact,Handle,Platform',
      'Ana Lopez,Ana <ana@creators.example>,@ana.lopez,Instagram',
      'Ben Kim,ben@creators.example,@benkim,TikTok',
      'Cy Roe,cy@creators.example,cyroe,YouTube',
    ),
    asks: [],
    mapping: {},
    records: [
      'ana@creators.example ig=ana.lopez tt=null',
      'ben@creators.example ig=null tt=benkim',
      'cy@creators.example ig=null tt=null',
    ],
  },
  {
    title: 'handles beside addresses that nothing names',
    of: 'roster',
    content: lines('Creator,Insta,Reach me at', 'Ana Lopez,@ana,ana@creators.example'),
    asks: ['column_meaning:email'],
    mapping: { columns: { email: 'Reach me at' } },
    records: ['ana@creators.example ig=ana tt=null'],
  },
  {
    title: 'orders of a Russian shop in windows-1251',
    of: 'orders',
    content: encode(
      lines(
        'Номер заказа;Дата заказа;Итого;Валюта;Статус',
        'R1;05.10.2026;1 250,50;RUB;Оплачен',
        'R2;15.10.2026;99,90;RUB;Отменён',
      ),
      'windows-1251',
    ),
    asks: ['amount_meaning:amount', 'status_meaning:оплачен', 'status_meaning:отменен'],
    mapping: { goods: 'total', statuses: { Оплачен: 'counts', Отменён: 'left_out' } },
    records: ['R1 125050 RUB 2026-10-05T12:00'],
  },
  {
    title: 'orders of a Japanese shop with its words',
    of: 'orders',
    content: lines(
      '注文番号,注文日,商品小計,送料,消費税,合計,通貨,ステータス',
      'J1,2026/10/05,10000,500,1050,11550,JPY,支払い済み',
      'J2,2026/10/06,20000,500,2050,22550,JPY,キャンセル',
    ),
    asks: ['status_meaning:キャンセル', 'status_meaning:支払い済み'],
    mapping: { statuses: { 支払い済み: 'counts', キャンセル: 'left_out' } },
    records: ['J1 10000 JPY 2026-10-05T12:00'],
  },
  {
    title: 'a ranking whose handles are written as such among other columns of words',
    of: 'directory',
    content: lines(
      '#,Influencer,Followers,ER %,Main audience',
      '1,@creator.one,1.2M,2.9%,US',
      '2,@creator_two,980K,1.3%,DE',
    ),
    asks: ['column_meaning:username'],
    mapping: { columns: { username: 'Influencer' } },
    records: ['creator.one', 'creator_two'],
  },
  {
    title: 'states under a header that no word names, one of them cancelled',
    of: 'orders',
    content: lines(
      'Bestellung;Datum;Betrag;Währung;Zahlung',
      'A1;2026-10-05;110,00;EUR;Bezahlt',
      'A2;2026-10-06;60,00;EUR;Storniert',
    ),
    asks: ['column_meaning:status', 'status_meaning:bezahlt', 'status_meaning:storniert'],
    mapping: { columns: { status: 'Zahlung' }, statuses: { Bezahlt: 'counts', Storniert: 'left_out' } },
    records: ['A1 11000 EUR 2026-10-05T12:00'],
  },
  {
    title: 'what was earned, paid and is left, each a sum',
    of: 'commissions',
    content: lines(
      'Email,Earned,Paid,Balance,Currency,Date',
      'ana@creators.example,100.00,60.00,40.00,USD,2026-05-01',
      'ben@creators.example,50.00,50.00,0.00,USD,2026-05-02',
    ),
    asks: ['column_meaning:amount'],
    mapping: { columns: { amount: 'Paid' } },
    records: ['ana@creators.example 6000 USD 2026-05-01', 'ben@creators.example 5000 USD 2026-05-02'],
  },
  {
    title: 'two amounts whose headers say their currencies',
    of: 'orders',
    content: lines('Order,Date,Amount USD,Amount EUR', 'A1,2026-10-05,110.00,100.00', 'A2,2026-10-06,60.00,55.00'),
    asks: ['column_meaning:amount'],
    mapping: { columns: { amount: 'Amount USD' } },
    records: ['A1 11000 USD 2026-10-05T12:00', 'A2 6000 USD 2026-10-06T12:00'],
  },
  {
    title: 'an order whose id has a character that nobody sees on one of its lines',
    of: 'orders',
    content: lines('Order,Date,Amount,Currency', 'A1\u200b,2026-10-05,110.00,USD', 'A1,2026-10-05,110.00,USD'),
    asks: [],
    mapping: {},
    records: ['A1 11000 USD 2026-10-05T12:00'],
  },
  {
    title: 'Arabic digits in days and amounts',
    of: 'orders',
    content: lines('Order,Date,Amount,Currency', 'A1,٢٠٢٦-١٠-٠٥,١٬٢٥٠٫٥٠,AED', 'A2,٢٠٢٦-١٠-٠٦,٩٩٫٩٠,AED'),
    asks: [],
    mapping: {},
    records: ['A1 125050 AED 2026-10-05T12:00', 'A2 9990 AED 2026-10-06T12:00'],
  },
  {
    title: "a form's questions for headers, one of them for the address",
    of: 'roster',
    content: lines(
      'Timestamp,"What is your email?","Your Instagram handle (without @)"',
      '10/5/2026 10:00:00,ana@creators.example,ana.lopez',
      '10/6/2026 10:05:00,ben@creators.example,benkim',
    ),
    asks: [],
    mapping: {},
    records: ['ana@creators.example ig=ana.lopez tt=null', 'ben@creators.example ig=benkim tt=null'],
  },
  {
    title: 'profiles of several platforms, short addresses and emoji among them',
    of: 'roster',
    content: lines(
      'Name,Email,Socials',
      'Ana,ana@creators.example,https://www.instagram.com/ana.lopez?igsh=abc',
      'Ben,ben@creators.example,https://vm.tiktok.com/ZMabc/',
      'Cy,cy@creators.example,@cy.roe🌸',
      'Di,di@creators.example,https://www.instagram.com/reel/C1a2b3/',
    ),
    asks: [],
    mapping: {},
    records: [
      'ana@creators.example ig=ana.lopez tt=null',
      'ben@creators.example ig=null tt=null',
      'cy@creators.example ig=cy.roe tt=null',
      'di@creators.example ig=null tt=null',
    ],
  },
  {
    title: 'people who have unsubscribed',
    of: 'roster',
    content: lines('Email,Name,Unsubscribed', 'ana@creators.example,Ana,false', 'ben@creators.example,Ben,true'),
    asks: [],
    mapping: {},
    records: ['ana@creators.example ig=null tt=null'],
  },
  {
    title: 'addresses under “Creator”',
    of: 'roster',
    content: lines('Creator', 'Ana Lopez <ana@creators.example>', 'ben@creators.example'),
    asks: [],
    mapping: {},
    records: ['ana@creators.example ig=null tt=null', 'ben@creators.example ig=null tt=null'],
  },
  {
    title: 'shares beside percentages in one column of rates',
    of: 'roster',
    content: lines('Email,Code,Rate', 'ana@creators.example,ANA10,10%', 'ben@creators.example,BEN10,0.15'),
    asks: ['rate_scale:rate'],
    mapping: { rate: 'fraction' },
    records: ['ana@creators.example ig=null tt=null ANA10 100000', 'ben@creators.example ig=null tt=null BEN10 150000'],
  },
  {
    title: 'items of orders, each with an amount that may be its own or its order’s',
    of: 'orders',
    content: lines(
      'Order ID,Date,SKU,Amount,Currency',
      '1001,2026-10-03,S1,20.00,EUR',
      '1001,2026-10-03,S2,20.00,EUR',
      '1002,2026-10-04,S2,5.00,EUR',
    ),
    asks: ['amount_meaning:repeated_amounts'],
    mapping: { constants: { repeated_amounts: 'lines' } },
    records: ['1001 4000 EUR 2026-10-03T12:00', '1002 500 EUR 2026-10-04T12:00'],
  },
  {
    title: 'items of orders whose amounts differ, so that they can only be parts',
    of: 'orders',
    content: lines(
      'Order ID,Date,Item,Amount,Currency',
      '1001,2026-10-03,Serum,20.00,EUR',
      '1001,2026-10-03,Cream,5.00,EUR',
      '1002,2026-10-04,Cream,5.00,EUR',
    ),
    asks: ['amount_meaning:repeated_amounts'],
    mapping: { constants: { repeated_amounts: 'lines' } },
    records: ['1001 2500 EUR 2026-10-03T12:00', '1002 500 EUR 2026-10-04T12:00'],
  },
  {
    title: 'orders that were tries in test mode',
    of: 'orders',
    content: lines(
      'Order ID,Date,Amount,Currency,Test mode',
      '1001,2026-10-03,100.00,EUR,Nein',
      '1002,2026-10-03,120.00,EUR,Ja',
    ),
    asks: [],
    mapping: {},
    records: ['1001 10000 EUR 2026-10-03T12:00'],
  },
  {
    title: 'commissions of tests',
    of: 'commissions',
    content: lines(
      'Email,Commission,Currency,Date,Is test',
      'ana@c.example,10.00,EUR,2026-10-03,false',
      'ana@c.example,12.00,EUR,2026-10-03,true',
    ),
    asks: [],
    mapping: {},
    records: ['ana@c.example 1000 EUR 2026-10-03'],
  },
  {
    title: 'the day of a refund without its amount',
    of: 'orders',
    content: lines(
      'Order,Date,Amount,Currency,Refund date',
      'A1,2026-10-03,10.00,EUR,2026-10-20',
      'A2,2026-10-03,12.00,EUR,',
    ),
    asks: ['amount_meaning:refunded'],
    mapping: { constants: { refunds_without_amount: 'whole' } },
    records: ['A1 0 EUR 2026-10-03T12:00', 'A2 1200 EUR 2026-10-03T12:00'],
  },
  {
    title: "Gumroad's sales, of which a column of zeros and ones says that they were refunded",
    of: 'orders',
    content: lines(
      'Purchase ID,Item Name,Purchase Email,Purchase Date,Subtotal (€),Net Total (€),Refunded?,Partial Refund (€)',
      'g1,Book,a@m.example,2026-10-13,10.00,8.50,0,0.00',
      'g2,Book,b@m.example,2026-10-13,10.00,8.50,1,0.00',
    ),
    asks: [],
    mapping: {},
    records: ['g1 1000 EUR 2026-10-13T12:00', 'g2 0 EUR 2026-10-13T12:00'],
  },
  {
    title: 'Swiss amounts without centimes',
    of: 'commissions',
    content: lines(
      'E-Mail;Provision;Währung;Datum',
      "ana@c.example;1'234.50;CHF;13.10.2026",
      'ana@c.example;99.--;CHF;14.10.2026',
      'ana@c.example;7,-;CHF;15.10.2026',
    ),
    asks: [],
    mapping: {},
    records: [
      'ana@c.example 123450 CHF 2026-10-13',
      'ana@c.example 9900 CHF 2026-10-14',
      'ana@c.example 700 CHF 2026-10-15',
    ],
  },
  {
    title: 'the day of a booking under a word that is a currency elsewhere',
    of: 'payouts',
    content: lines(
      'Buchungstag;Valuta;E-Mail;Betrag;Währung',
      '13.10.2026;13.10.2026;ana@c.example;1.250,50;EUR',
      '14.10.2026;14.10.2026;ana@c.example;99,00;EUR',
    ),
    asks: [],
    mapping: {},
    records: ['ana@c.example 125050 EUR 2026-10-13', 'ana@c.example 9900 EUR 2026-10-14'],
  },
  {
    title: 'the day of an order and its time of day in two columns',
    of: 'orders',
    content: lines(
      'Order ID,Order Date,Order Time,Amount,Currency',
      '301,28/09/2026,10:22:11,100.00,GBP',
      '302,01/10/2026,23:59:00,200.00,GBP',
    ),
    asks: [],
    mapping: {},
    records: ['301 10000 GBP 2026-09-28T10:22', '302 20000 GBP 2026-10-01T23:59'],
  },
  {
    title: 'questions of a form as headers, which ask for one address',
    of: 'roster',
    content: lines(
      "#,What's your name?,What is your email?,What's your TikTok?,Submit Date (UTC),Network ID",
      'ab12,Mia One,tf1@c.example,https://www.tiktok.com/@mia.one,2026-01-02 10:01:00,n1',
    ),
    asks: [],
    mapping: {},
    records: ['tf1@c.example ig=null tt=mia.one'],
  },
  {
    title: 'percentages under a header that only speaks of a commission',
    of: 'roster',
    content: lines('first,last,email,coupon,program commission', 'Ana,Lopez,c1@c.example,ANA10,10.00%'),
    asks: ['column_meaning:rate'],
    mapping: { columns: { rate: 'program commission' } },
    records: ['c1@c.example ig=null tt=null ANA10 100000'],
  },
];

describe('a file of the field', () => {
  test.each(CASES)('with $title asks what it does not say, and is right once that is answered', async (made) => {
    const { reading } = await expectRead(made);
    expect(reading.questions).toEqual([]);
  });
});
