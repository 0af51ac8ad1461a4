import { describe, expect, test } from 'vitest';
import { readWhole } from './imports-check.ts';
import { expectRead, type FieldCase, lines } from './imports-field.ts';

const CASES: readonly FieldCase[] = [
  {
    title: 'fees that may be those of the payment, where nothing but a total says what the goods are',
    of: 'orders',
    content: lines('Order ID,Date,Total,Shipping,Tax,Fees,Currency', '1,2026-10-05,110.00,10.00,0.00,3.50,EUR'),
    asks: ['column_meaning:fees'],
    mapping: { columns: { fees: null } },
    records: ['1 10000 EUR 2026-10-05T12:00'],
  },
  {
    title: 'order numbers with a mark of thousands from 1,000 on',
    of: 'orders',
    content: lines(
      'Order number,Order date,Amount,Currency',
      '999,2026-10-05,10.50,EUR',
      '"1,000",2026-10-06,20.00,EUR',
      '"1,001",2026-10-07,20.00,EUR',
    ),
    asks: [],
    mapping: {},
    records: ['999 1050 EUR 2026-10-05T12:00', '1000 2000 EUR 2026-10-06T12:00', '1001 2000 EUR 2026-10-07T12:00'],
  },
  {
    title: 'order numbers that a German spreadsheet took for numbers',
    of: 'orders',
    content: lines(
      'Bestellnummer;Bestelldatum;Warenwert;Währung',
      '1.001;05.10.2026;1.250,50;EUR',
      '1.002;16.10.2026;99,90;EUR',
    ),
    asks: [],
    mapping: {},
    records: ['1001 125050 EUR 2026-10-05T12:00', '1002 9990 EUR 2026-10-16T12:00'],
  },
  {
    title: 'order numbers with letters beside some that a program took for numbers',
    of: 'orders',
    content: lines(
      'Order,Date,Amount,Currency',
      'EN1001,2026-10-05,10.50,EUR',
      '1002.0,2026-10-06,20.00,EUR',
      '#1003,2026-10-07,20.00,EUR',
    ),
    asks: [],
    mapping: {},
    records: ['EN1001 1050 EUR 2026-10-05T12:00', '1002 2000 EUR 2026-10-06T12:00', '#1003 2000 EUR 2026-10-07T12:00'],
  },
  {
    title: 'orders that were refunded in part, of which one does not say how much',
    of: 'orders',
    content: lines(
      'Order,Date,Amount,Currency,Status,Refunded amount',
      '1,2026-10-05,10.50,EUR,partially_refunded,2.50',
      '2,2026-10-06,20.00,EUR,partially_refunded,',
      '3,2026-10-06,20.00,EUR,paid,',
    ),
    asks: ['status_meaning:partiallyrefunded'],
    mapping: { statuses: { partiallyrefunded: 'counts' } },
    records: ['1 800 EUR 2026-10-05T12:00', '2 2000 EUR 2026-10-06T12:00', '3 2000 EUR 2026-10-06T12:00'],
  },
  {
    title: 'the days of refunds under “Refunded”',
    of: 'orders',
    content: lines(
      'Order,Date,Amount,Currency,Refunded',
      '1,2026-10-05,10.50,EUR,',
      '2,2026-10-06,20.00,EUR,2026-10-09',
    ),
    asks: ['amount_meaning:refunded'],
    mapping: { constants: { refunds_without_amount: 'none' } },
    records: ['1 1050 EUR 2026-10-05T12:00', '2 2000 EUR 2026-10-06T12:00'],
  },
  {
    title: 'refunds as lines of their own, which only their type tells from orders',
    of: 'orders',
    content: lines(
      'Order ID,Date,Type,Amount,Currency',
      '1,2026-10-05,Sale,100.00,EUR',
      '2,2026-10-06,Sale,50.50,EUR',
      '3,2026-10-07,Refund,50.50,EUR',
    ),
    asks: ['status_meaning:refund'],
    mapping: { statuses: { refund: 'left_out' } },
    records: ['1 10000 EUR 2026-10-05T12:00', '2 5050 EUR 2026-10-06T12:00'],
  },
  {
    title: 'credit notes among invoices',
    of: 'orders',
    content: lines(
      'Bestellnummer;Datum;Belegart;Betrag;Währung',
      '1;15.10.2026;Rechnung;100,50;EUR',
      '2;16.10.2026;Gutschrift;100,50;EUR',
    ),
    asks: ['status_meaning:gutschrift'],
    mapping: { statuses: { gutschrift: 'left_out' } },
    records: ['1 10050 EUR 2026-10-15T12:00'],
  },
  {
    title: 'sums of months and of all, which have a day',
    of: 'orders',
    content: lines(
      'Order,Date,Amount,Currency',
      '1,2026-10-05,10.50,EUR',
      'Total,2026-10-31,10.50,EUR',
      '2,2026-11-06,20.00,EUR',
      '3,2026-11-07,20.00,EUR',
      'Total,2026-11-30,50.50,EUR',
    ),
    asks: [],
    mapping: {},
    records: ['1 1050 EUR 2026-10-05T12:00', '2 2000 EUR 2026-11-06T12:00', '3 2000 EUR 2026-11-07T12:00'],
  },
  {
    title: 'payouts and refunds among commissions',
    of: 'commissions',
    content: lines(
      'Email,Date,Type,Amount,Currency',
      'ana@creators.example,2026-10-05,Commission,10.50,EUR',
      'ana@creators.example,2026-10-07,Payout,5.50,EUR',
      'ana@creators.example,2026-10-07,Refund,5.00,EUR',
    ),
    asks: ['status_meaning:payout', 'status_meaning:refund'],
    mapping: { statuses: { payout: 'left_out', refund: 'left_out' } },
    records: ['ana@creators.example 1050 EUR 2026-10-05'],
  },
  {
    title: 'whole sales under “Amount” beside whole commissions that no word names',
    of: 'commissions',
    content: lines(
      'Email,Amount,Earned by partner,Clicks,Currency,Date',
      'ana@creators.example,100,10,7,EUR,2026-10-05',
      'ana@creators.example,200,20,9,EUR,2026-10-06',
    ),
    asks: ['column_meaning:amount', 'unit'],
    mapping: { columns: { amount: 'Earned by partner' }, unit: 'major' },
    records: ['ana@creators.example 1000 EUR 2026-10-05', 'ana@creators.example 2000 EUR 2026-10-06'],
  },
  {
    title: 'addresses and currencies of sales beside those of creators',
    of: 'commissions',
    content: lines(
      'Order,Email,Affiliate email,Commission,Currency,Payout currency,Date',
      '1001,buyer@m.example,ana@creators.example,10.50,USD,EUR,2026-10-05',
    ),
    asks: ['column_meaning:currency', 'column_meaning:email'],
    mapping: { columns: { email: 'Affiliate email', currency: 'Payout currency' } },
    records: ['ana@creators.example 1050 EUR 2026-10-05'],
  },
  {
    title: 'how far orders were refunded, beside how they were paid',
    of: 'orders',
    content: lines(
      'Order,Date,Amount,Currency,Payment status,Refund status',
      '1,2026-10-05,10.50,EUR,Paid,None',
      '2,2026-10-05,20.50,EUR,Paid,Full',
    ),
    asks: ['status_meaning:full'],
    mapping: { statuses: { full: 'refunded' } },
    records: ['1 1050 EUR 2026-10-05T12:00', '2 0 EUR 2026-10-05T12:00'],
  },
  {
    title: 'reasons for which orders were cancelled',
    of: 'orders',
    content: lines(
      'Order,Date,Amount,Currency,Cancel reason',
      '1,2026-10-05,10.50,EUR,',
      '2,2026-10-05,20.50,EUR,customer',
    ),
    asks: [],
    mapping: {},
    records: ['1 1050 EUR 2026-10-05T12:00'],
  },
  {
    title: 'days of payment with other marks than those of the orders, whose order is proved',
    of: 'orders',
    content: lines(
      'Order,Created at,Paid at,Amount,Currency',
      '1,10/13/26,05.11.2026,10.50,EUR',
      '2,10/14/26,04.11.2026,10.50,EUR',
    ),
    asks: ['date_order'],
    mapping: {},
    records: ['1 1050 EUR 2026-10-13T12:00', '2 1050 EUR 2026-10-14T12:00'],
  },
  {
    title: 'names beside profiles, which no word names',
    of: 'roster',
    content: lines('Name,Profile', 'Ana,https://www.tiktok.com/@ana.l?lang=en', 'Ben,https://www.instagram.com/ben/'),
    asks: [],
    mapping: {},
    records: ['null ig=null tt=ana.l', 'null ig=ben tt=null'],
  },
  {
    title: 'times in a zone that their header names',
    of: 'orders',
    content: lines('Order number,Order date (EST),Amount,Currency', '1001,2026-10-05 23:30,10.50,EUR'),
    asks: [],
    mapping: {},
    records: ['1001 1050 EUR 2026-10-06T04:30'],
  },
  {
    title: 'times with an offset in their header, which is not UTC',
    of: 'orders',
    content: lines('Order,Date (GMT+2),Amount,Currency', '1,2026-10-05 00:30,10.50,EUR'),
    asks: [],
    mapping: {},
    records: ['1 1050 EUR 2026-10-04T22:30'],
  },
  {
    title: 'a total with and one without VAT',
    of: 'orders',
    content: lines('Order,Date,Total incl. VAT,Total excl. VAT,Currency', '1,2026-10-05,119.00,100.00,EUR'),
    asks: ['column_meaning:amount'],
    mapping: { columns: { amount: 'Total excl. VAT' } },
    records: ['1 10000 EUR 2026-10-05T12:00'],
  },
  {
    title: "charges of an app beside the shop's own ids and numbers",
    of: 'orders',
    content: lines(
      'charge id,shopify order id,shopify order number,created at,amount,currency',
      '7,5821000000001,1001,2026-10-05,90.00,USD',
    ),
    asks: ['column_meaning:order_id'],
    mapping: { columns: { order_id: 'shopify order id' } },
    records: ['1001 9000 USD 2026-10-05T12:00'],
  },
  {
    title: 'a customer whose name would be a currency',
    of: 'commissions',
    content: lines('Email,Customer,Commission,Date', 'ana@creators.example,Bob,€10.50,2026-10-05'),
    asks: [],
    mapping: {},
    records: ['ana@creators.example 1050 EUR 2026-10-05'],
  },
  {
    title: "Awin's transactions, of which one column says what was validated, and another what was paid",
    of: 'commissions',
    content: lines(
      'id,Email,commissionStatus,Commission,Currency,Date,paidToPublisher',
      '1,ana@creators.example,approved,10.50,GBP,2026-10-05,true',
      '2,ana@creators.example,approved,20.00,GBP,2026-10-06,false',
    ),
    asks: ['column_meaning:status'],
    mapping: { columns: { status: 'paidToPublisher' } },
    records: ['ana@creators.example 1050 GBP 2026-10-05'],
  },
  {
    title: 'an audience of Mailchimp whose fields have German names, some of it unsubscribed',
    of: 'roster',
    content: lines(
      'E-Mail-Adresse,Vorname,Nachname,MEMBER_RATING,OPTIN_TIME,UNSUB_TIME',
      'mia@creators.example,Mia,Müller,2,2026-01-02 10:00:00,',
      'max@creators.example,Max,Zwei,2,2026-01-02 10:00:00,2026-05-05 10:00:00',
    ),
    asks: [],
    mapping: {},
    records: ['mia@creators.example ig=null tt=null'],
  },
  {
    title: 'people who are not to be written to, in the words of a CRM',
    of: 'roster',
    content: lines(
      'Email,Name,Unsubscribed from all email,Do not contact',
      'ana@creators.example,Ana,false,no',
      'ben@creators.example,Ben,true,no',
      'cy@creators.example,Cy,false,yes',
    ),
    asks: [],
    mapping: {},
    records: ['ana@creators.example ig=null tt=null'],
  },
  {
    title: 'people whom a tool has archived, which Dub alone counts as active',
    of: 'roster',
    content: lines('Email,Name,Status', 'ana@creators.example,Ana,Active', 'ben@creators.example,Ben,Archived'),
    asks: ['status_meaning:archived'],
    mapping: { statuses: { archived: 'left_out' } },
    records: ['ana@creators.example ig=null tt=null'],
  },
  {
    title: 'days and times of sales under “Time created” beside the days of payment',
    of: 'commissions',
    content: lines(
      'Email,Commission,Currency,Time created,Payment date',
      'ana@creators.example,10.50,EUR,2026-10-05 10:00:00,2026-11-20',
    ),
    asks: [],
    mapping: {},
    records: ['ana@creators.example 1050 EUR 2026-11-20'],
  },
  {
    title: 'what a code takes off, which is no commission',
    of: 'roster',
    content: lines('Email,Code,Discount rate', 'ana@creators.example,ANA10,10%', 'ben@creators.example,BEN20,20%'),
    asks: ['column_meaning:rate'],
    mapping: { columns: { rate: null } },
    records: ['ana@creators.example ig=null tt=null ANA10 null', 'ben@creators.example ig=null tt=null BEN20 null'],
  },
  {
    title: 'codes under a header of several words, beside postcodes',
    of: 'roster',
    content: lines('Email,Their code for the shop,Zip code', 'ana@creators.example,ANA10,10115'),
    asks: ['column_meaning:code'],
    mapping: { columns: { code: 'Their code for the shop' } },
    records: ['ana@creators.example ig=null tt=null ANA10 null'],
  },
  {
    title: 'codes and handles that say that there is none, and numbers of telephones under “Code”',
    of: 'roster',
    content: lines(
      'Email,Coupon,Code,Instagram',
      'ana@creators.example,n/a,+49 170 1234567,none',
      'ben@creators.example,TBD,+49 171 7654321,@ben',
      'cy@creators.example,-,+49 172 7654321,-',
    ),
    asks: [],
    mapping: {},
    records: [
      'ana@creators.example ig=null tt=null',
      'ben@creators.example ig=ben tt=null',
      'cy@creators.example ig=null tt=null',
    ],
  },
  {
    title: 'links of creators that may be pages of the shop',
    of: 'roster',
    content: lines('Email,Link', 'ana@creators.example,https://shop.example/pages/ana'),
    asks: ['column_meaning:destination_url'],
    mapping: { columns: { destination_url: 'Link' } },
    records: ['ana@creators.example ig=null tt=null'],
  },
  {
    title: 'links of another tool that lead to the shop',
    of: 'roster',
    content: lines('Email,Affiliate link', 'ana@creators.example,https://shop.example/?ref=ANA10'),
    asks: ['column_meaning:destination_url'],
    mapping: { columns: { destination_url: null } },
    records: ['ana@creators.example ig=null tt=null'],
  },
  {
    title: 'Korean headers, and rates whose header has the percent sign',
    of: 'roster',
    content: lines('이름;이메일;인스타그램;쿠폰;Provision in %', '김민수;min@creators.example;min.su;MIN10;12,5'),
    asks: [],
    mapping: {},
    records: ['min@creators.example ig=min.su tt=null MIN10 125000'],
  },
  {
    title: 'profiles that no header names, and somebody who did not consent',
    of: 'roster',
    content: lines('Email,Find me,Consent', 'ana@creators.example,@ana,Yes', 'ben@creators.example,@ben,No'),
    asks: ['column_meaning:instagram', 'status_meaning:noconsent'],
    mapping: { columns: { instagram: 'Find me' }, statuses: { noconsent: 'left_out' } },
    records: ['ana@creators.example ig=ana tt=null'],
  },
];

describe('a file of the field is right or asked:', () => {
  test.each(CASES)('$title', async (one) => {
    await expectRead(one);
  });
});

test("Wise's statement and PayPal's activity in French have what was sent below zero", async () => {
  const wise = await readWhole(
    'payouts',
    lines(
      'TransferWise ID,Date,Amount,Currency,Description,Running Balance,Payer Name,Payee Name,Total fees',
      'T1,15-10-2026,-50.00,EUR,Sent money to Ana Lopez,950.00,,Ana Lopez,0.50',
      'T2,16-10-2026,500.00,EUR,Received money from a shop,1450.00,Shop GmbH,,0.00',
    ),
  );
  expect(wise.reading.questions.map(({ id }) => id)).toEqual(['people:Ana Lopez']);
  expect(wise.records).toMatchObject([{ amount: 5_000, currency: 'EUR', reference: 'T1', name: 'Ana Lopez' }]);
  const paypal = await readWhole(
    'payouts',
    lines(
      '"Date","Heure","Fuseau horaire","Nom","Type","État","Devise","Avant commission","Commission","Net","À l\'adresse email","Numéro de transaction"',
      '"15/10/2026","10:00:00","Europe/Paris","Ana","Paiement","Terminé","EUR","-50,00","-1,50","-51,50","ana@creators.example","T1"',
      '"16/10/2026","10:00:00","Europe/Paris","Client","Paiement","Terminé","EUR","120,00","-4,00","116,00","pay@brand.example","T2"',
    ),
    { statuses: { termine: 'paid' } },
  );
  expect(paypal.reading.questions).toEqual([]);
  expect(paypal.records).toMatchObject([{ amount: 5_000, email: 'ana@creators.example', reference: 'T1' }]);
});

test('A reference or an id that says that there is none is none', async () => {
  const { records } = await readWhole(
    'payouts',
    lines('Handle,Email,Amount,Currency,Date,Reference', '-,ana@creators.example,10.50,EUR,2026-10-05,n/a'),
  );
  expect(records).toMatchObject([{ handle: null, reference: null }]);
  const orders = await readWhole(
    'orders',
    lines('Order ID,Order number,Date,Amount,Currency', '-,1001,2026-10-05,10.50,EUR', '-,1002,2026-10-06,20.00,EUR'),
  );
  expect(orders.records).toMatchObject([{ order_id: null, order_number: '1001' }, { order_number: '1002' }]);
});

describe('a refusal names the cell that is wrong', () => {
  const refuse = async (...args: Parameters<typeof readWhole>) =>
    (await readWhole(...args)).lines.flatMap(({ outcome, fault }) => (outcome === 'refused' ? [fault] : []));

  test('a zone that means several offsets, until the zone of the file is said', async () => {
    const file = lines(
      'Email,Amount,Currency,Date,Time,Time zone',
      'ana@creators.example,10.50,GBP,2026-10-05,10:00:00,BST',
    );
    expect(await refuse('payouts', file)).toMatchObject([{ field: 'time_zone', column: 'Time zone', value: 'BST' }]);
    const { records } = await readWhole('payouts', file, { time_zone: 'Europe/London' });
    expect(records).toMatchObject([{ paid_at: '2026-10-05T09:00:00.000Z' }]);
  });

  test('two people of one address, a code with what it takes off, and a profile of another platform', async () => {
    const shared = lines(
      'Creator,Email,Instagram,Code',
      'Ana Lopez,talent@agency.example,@ana,ANA10',
      'Ben Kim,talent@agency.example,@ben,BEN10',
    );
    expect(await refuse('roster', shared)).toMatchObject([{ field: 'instagram', value: '@ana / @ben' }]);
    const states = lines('Email,Code,Status', 'ana@creators.example,A,Active', 'ana@creators.example,B,Paused');
    expect(await refuse('roster', states)).toMatchObject([{ field: 'status', value: 'Active / Paused' }]);
    const codes = lines('Email,Code', 'ana@creators.example,ANA10 (10% off)');
    expect(await refuse('roster', codes)).toMatchObject([{ field: 'code', value: 'ANA10 (10% off)' }]);
    const others = lines('Email,Code', 'ana@creators.example,ANA10 / ANA20', 'ben@creators.example,ben@shop.example');
    expect((await refuse('roster', others)).map((fault) => fault?.field)).toEqual(['code', 'code']);
    const profiles = lines('username,followers', 'ana,1200', 'https://www.tiktok.com/@ben,8000');
    expect(await refuse('directory', profiles)).toMatchObject([{ field: 'username' }]);
  });

  test('a column that the file lacks, and a time of day that is none', async () => {
    const { reading } = await readWhole(
      'commissions',
      lines('Email,Month,Commission', 'ana@creators.example,Oct,10.00'),
    );
    expect(reading.refusals).toMatchObject([
      { kind: 'no_column', fault: { field: 'paid_at', column: null, expected: 'a date such as 2026-03-31' } },
    ]);
    const file = lines(
      'Email,Amount,Currency,Date,Time',
      'ana@creators.example,10.50,GBP,2026-10-05,10:00',
      'ben@creators.example,10.50,GBP,2026-10-05,noon',
    );
    expect(await refuse('payouts', file)).toMatchObject([{ field: 'time', value: 'noon' }]);
  });

  test('order numbers that a spreadsheet made days of refuse the file', async () => {
    const file = lines(
      'Order number,Date,Amount,Currency',
      'Oct-26,2026-10-05,110.00,EUR',
      '10-27,2026-10-06,50.00,EUR',
    );
    const { reading } = await readWhole('orders', file);
    expect(reading.refusals).toMatchObject([
      { kind: 'damaged_ids', fault: { field: 'order_number', column: 'Order number' } },
    ]);
  });
});

test('A question about the only column that may be meant shows lines, also while their status is open', async () => {
  const { reading } = await readWhole(
    'commissions',
    lines('Email,Commission,Currency,Date created,Status', 'ana@creators.example,10.50,EUR,2026-10-05,A'),
  );
  expect(reading.questions.map(({ id }) => id)).toEqual(['column_meaning:paid_at', 'status_meaning:a']);
  expect(reading.questions.flatMap(({ options }) => options.map(({ sample }) => sample.length))).toEqual([1, 1, 1]);
});

test('Rates that are money are not taken for percentages, and that is said', async () => {
  const { records, reading } = await readWhole(
    'roster',
    lines(
      'Email,Code,Commission rate,Commission type',
      'ana@creators.example,ANA,15%,Percentage',
      'ben@creators.example,BEN,5%,Flat rate',
    ),
  );
  expect(records).toMatchObject([
    { codes: [{ code: 'ANA', rate_ppm: 150_000 }] },
    { codes: [{ code: 'BEN', rate_ppm: null }] },
  ]);
  expect(reading.warnings.map(({ code }) => code)).toContain('rates_flat');
});
