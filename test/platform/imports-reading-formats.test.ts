import { describe, expect, test } from 'vitest';
import type { ImportingBrand, Line, Reading } from '../../src/platform/imports/reading/shapes.ts';
import { BRAND, readWhole as read } from './imports-check.ts';

const codes = ({ reading }: { reading: Reading }) => reading.questions.map(({ code }) => code);
const orders = ({ lines }: { lines: Line[] }) =>
  lines.flatMap(({ record }) =>
    record?.kind === 'order' ? [[record.order_number ?? record.order_id, record.amount, record.refunded]] : [],
  );
const outcomes = ({ lines }: { lines: Line[] }) =>
  lines.map(({ outcome, kind }) => (kind === null ? outcome : `${outcome} ${kind}`));

describe('orders', () => {
  test('WooCommerce Analytics: a refund is a second, negative row; the currency is that of the connected store', async () => {
    const file =
      'Date,Order #,N. Revenue (formatted),Status,Customer,Product(s),Items Sold,Coupon(s),Net Sales\n2026-10-01 10:00:00,17,$90.50,completed,A,S,1,SUMMER,90.50\n2026-10-03 11:00:00,17,-$20.00,refunded,A,S,0,,-20.00\n2026-10-04 11:00:00,18,-$20.00,refunded,A,S,0,,-20.00\n';
    expect(codes(await read('orders', file))).toContain('currency_missing');
    const brand: ImportingBrand = { ...BRAND, stores: [{ platform: 'woocommerce', currency: 'USD' }] };
    const all = await read('orders', file, {}, brand);
    expect(all.reading.status).toBe('ready');
    expect(orders(all)).toEqual([['17', 9_050, 2_000]]);
    expect(all.lines[0]?.record).toMatchObject({
      currency: 'USD',
      codes: ['SUMMER'],
      refunded_at: '2026-10-03T11:00:00.000Z',
    });
    expect(outcomes(all)).toEqual(['read', 'refused negative_amount']);
  });

  test('Advanced Order Export: goods are the subtotal less the discount; rows of further products have no cells of the order', async () => {
    const all = await read(
      'orders',
      'Order Number,Order Status,Order Date,Cart Discount Amount,Order Subtotal Amount,Order Shipping Amount,Order Refund Amount,Order Total Amount,Order Total Tax Amount,Currency,Item Name\n7,Completed,2026-10-01 10:00,10.00,110.00,5.00,0,105.00,0,EUR,Serum\n,,,,,,,,,,Cream\n8,On hold,2026-10-01 10:00,0.00,50.00,5.00,0,55.00,0,EUR,Serum\n',
    );
    expect(all.reading).toMatchObject({ status: 'ready', counts: { lines: 3, records: 2 } });
    expect(orders(all)).toEqual([['7', 10_000, 0]]);
    expect(all.lines.map(({ lines }) => lines)).toEqual([[2, 3], [4]]);
  });

  test('WebToffee: statuses may begin with wc-, and one cell holds all refunds', async () => {
    const all = await read(
      'orders',
      'order_id,order_number,order_date,status,shipping_total,fee_total,tax_total,discount_total,order_total,order_subtotal,order_currency,billing_email,refund_items,wt_import_key\n1,1,2026-10-01 10:00:00,wc-completed,0.00,0.00,0.00,0.00,80.00,80.00,EUR,b@x.example,"amount:30.00|reason:x|date:2026-10-05 10:00:00",1\n2,2,2026-10-01 10:00:00,wc-checkout-draft,0.00,0.00,0.00,0.00,80.00,80.00,EUR,b@x.example,,2\n',
    );
    expect(orders(all)).toEqual([['1', 8_000, 3_000]]);
    expect(all.lines[0]?.record).toMatchObject({ refunded_at: '2026-10-05T10:00:00.000Z' });
    expect(outcomes(all)).toEqual(['read', 'left_out status']);
  });

  const etsy =
    'Sale Date,Order ID,Currency,Order Value,Discount Amount,Shipping,Sales Tax,Order Total,Adjusted Order Total,Status,Order Net\n';

  test('Etsy: an adjusted total between none and all is a refund; 0.00 says nothing, unless others repeat the total', async () => {
    const some = await read(
      'orders',
      `${etsy}10/13/26,1,USD,60.00,0.00,0.00,0.00,60.00,0.00,Completed,57.00\n10/14/26,2,USD,60.00,0.00,0.00,0.00,60.00,45.00,Completed,57.00\n`,
    );
    expect(some.reading.status).toBe('ready');
    expect(orders(some)).toEqual([
      ['1', 6_000, 0],
      ['2', 6_000, 1_500],
    ]);
    const odd = await read(
      'orders',
      `${etsy}10/13/26,1,USD,60.00,0.00,0.00,0.00,60.00,0.00,Completed,57.00\n10/14/26,2,USD,60.00,0.00,0.00,0.00,60.00,60.00,Completed,57.00\n`,
    );
    expect(odd.reading.questions.map(({ field, options }) => [field, options.map(({ sums }) => sums[0]?.net)])).toEqual(
      [['adjusted_total', [12_000, 6_000]]],
    );
  });

  test("Etsy in Britain is looked for the order of dates; Etsy's items are not orders", async () => {
    const british = await read(
      'orders',
      `${etsy.replace('Sale Date', 'Date Posted').replace('Shipping', 'Delivery')}10/12/26,1,GBP,60.00,0.00,0.00,0.00,60.00,0.00,Completed,57.00\n`,
    );
    expect(codes(british)).toEqual(['date_order']);
    const items = await read('orders', 'Sale Date,Item Name,Transaction ID,Order ID\n10/12/26,Serum,1,2\n');
    expect(items.reading).toMatchObject({ status: 'refused', refusals: [{ kind: 'wrong_file' }] });
  });

  test('Easy Digital Downloads: tax is taken off the amount, tests are left out, and times are in UTC', async () => {
    const file =
      'Order ID,Order Number,Email,Products (Raw),Currency,Amount,Tax,Mode (Live|Test),Status,Date\n1,1,b@x.example,E|1,EUR,119.00,19.00,live,complete,2026-10-01 10:00:00\n2,2,b@x.example,E|1,EUR,119.00,19.00,test,complete,2026-10-01 10:00:00\n';
    const all = await read('orders', file, {}, { ...BRAND, timeZone: 'America/New_York' });
    expect(orders(all)).toEqual([['1', 10_000, 0]]);
    expect(all.lines[0]?.record).toMatchObject({ placed_at: '2026-10-01T10:00:00.000Z' });
    expect(outcomes(all)).toEqual(['read', 'left_out test']);
  });

  test('Shopify: partially paid becomes a question; several ids of one number are orders of their own', async () => {
    const head =
      'Name,Financial Status,Currency,Subtotal,Shipping,Taxes,Total,Created at,Lineitem quantity,Refunded Amount,Id\n';
    const at = '2026-10-05 11:01:12 +0200';
    const all = await read(
      'orders',
      `${head}#1,partially_paid,EUR,10.00,0.00,0.00,10.00,${at},1,0.00,91\n#2,paid,EUR,20.00,0.00,0.00,20.00,${at},1,0.00,92\n#2,paid,EUR,30.00,0.00,0.00,30.00,${at},1,0.00,93\n#2,,,,,,,,1,,\n`,
    );
    expect(all.reading.questions.map(({ id }) => id)).toEqual(['status_meaning:partiallypaid']);
    expect(all.lines.map(({ lines, known_by }) => [lines, known_by])).toEqual([
      [[2], null],
      [[3], 'id:92'],
      [[4, 5], 'id:93'],
    ]);
  });

  test('a header that stands twice with different cells becomes a question, and either can be named', async () => {
    const file = 'Order ID,Order Date,Amount,Amount,Currency\nA,2026-10-05,10.50,12.50,EUR\n';
    const all = await read('orders', file);
    expect(all.reading.questions[0]?.options.map(({ mapping, sums }) => [mapping.columns, sums[0]?.amount])).toEqual([
      [{ amount: 'Amount' }, 1_050],
      [{ amount: 'Amount (2)' }, 1_250],
    ]);
    expect(orders(await read('orders', file, { columns: { amount: 'Amount (2)' } }))).toEqual([['A', 1_250, 0]]);
  });

  test('Square: net sales are the goods, in the zone of the till; a refund without its sale is refused', async () => {
    const head =
      'Date,Time,Time Zone,Gross Sales,Discounts,Service Charges,Net Sales,Gift Card Sales,Tax,Tip,Partial Refunds,Total Collected,Source,Card,Cash,Fees,Net Total,Transaction ID,Payment ID,Event Type,Discount Name,Transaction Status\n';
    const make = (parts: string, id: string, event: string) =>
      `2026-09-13,10:02:11,Eastern Time (US & Canada),${parts},Point of Sale,$0.00,$0.00,-$0.93,$0.00,${id},P${id},${event},ANA10,Complete\n`;
    const sale = make('$30.00,-$3.00,$0.00,$27.00,$0.00,$2.16,$2.00,$0.00,$31.16', 'A1', 'Payment');
    const refund = make('-$12.00,$0.00,$0.00,-$12.00,$0.00,-$0.96,$0.00,$0.00,-$12.96', 'A2', 'Refund');
    const all = await read('orders', head + sale + refund, { symbols: { $: 'USD' } });
    expect([all.reading.format?.key, codes(all), orders(all)]).toEqual(['square_transactions', [], [['A1', 2_700, 0]]]);
    expect(all.lines[0]?.record).toMatchObject({ placed_at: '2026-09-13T14:02:11.000Z', codes: ['ANA10'] });
    expect(outcomes(all)).toEqual(['read', 'refused negative_amount']);
  });

  test.each([
    [
      "Square's items",
      'Date,Time,Item,Qty,Price Point Name,Gross Sales,Net Sales,Tax,Transaction ID,Payment ID\n2026-09-13,10:00:00,Mug,1,Regular,$9.00,$9.00,$0.00,A,P\n',
      'Transactions CSV',
    ],
    [
      "Amazon's orders",
      'amazon-order-id\tpurchase-date\tsku\tcurrency\titem-price\titem-tax\n112-1\t2026-04-10T09:15:00+00:00\tMUG\tEUR\t89.90\t17.08\n',
      'one line for each order',
    ],
    [
      "Amazon Associates' earnings",
      'Fee-Earnings reports from 2026-09-01 to 2026-09-30\nCategory,Name,ASIN,Seller,Tracking ID,Date Shipped,Price($),Items Shipped,Returns,Revenue($),Ad Fees($)\nHome,Mixer,B0T,Amazon.com,ana-20,2026-09-15,9.00,1,0,9.00,0.50\n',
      'Amazon Associates',
    ],
    [
      'a table on its side',
      'Order ID,A1,A2\nDate,2026-09-15,2026-09-16\nAmount,10.00,20.00\nEmail,a@x.example,b@x.example\n',
      'Transpose',
    ],
  ])('%s are refused with what to do instead', async (_, content, advice) => {
    const { reading } = await read('orders', content);
    expect([reading.status, reading.refusals.map(({ message }) => message)]).toEqual([
      'refused',
      [expect.stringContaining(advice)],
    ]);
  });

  test('a total alone may include tax and shipping', async () => {
    expect(codes(await read('orders', 'Order ID,Order Date,Total,Currency\nA,2026-10-05,10.50,EUR\n'))).toEqual([
      'amount_meaning',
    ]);
  });

  test('ids that a spreadsheet has rounded refuse a file without numbers, but not commissions', async () => {
    const all = await read('orders', 'Order ID,Order Date,Amount,Currency\n5.84E+12,2026-10-05,10.50,EUR\n');
    expect(all.reading).toMatchObject({
      status: 'refused',
      refusals: [{ kind: 'damaged_ids', message: expect.stringContaining('.xlsx') }],
    });
  });
});

describe('people and payments', () => {
  test('AffiliateWP: a rate is a share, a flat one is money; a cell too many; slashes before quotes', async () => {
    const all = await read(
      'roster',
      "Affiliate ID,Email,Payment Email,Name,Rate,Rate Type,Status,Date Registered\n1,a@x.example,p@x.example,O\\'Hara,0.2,percentage,active,2026-01-01,\n2,b@x.example,,Ben,5,flat,inactive,2026-01-01,\n3,c@x.example,,Cy,0.1,percentage,pending,2026-01-01,\n",
      { columns: { code: 'Affiliate ID' } },
    );
    expect(all.reading.status).toBe('ready');
    expect(
      all.lines.map(
        ({ record }) => record?.kind === 'person' && [record.name, record.status, record.codes, record.payment_email],
      ),
    ).toEqual([
      ["O'Hara", 'active', [{ code: '1', rate_ppm: 200_000 }], 'p@x.example'],
      ['Ben', 'paused', [{ code: '2', rate_ppm: null }], null],
      false,
    ]);
  });

  test('Mailchimp: tags in one cell, who has unsubscribed is left out', async () => {
    const all = await read(
      'roster',
      'Email Address,First Name,Last Name,MEMBER_RATING,TAGS,UNSUB_TIME\na@x.example,Ana,Lopez,2,"""VIP"",""Blog""",\nb@x.example,Ben,Kim,2,,2026-01-01 10:00:00\n',
    );
    expect(all.lines[0]?.record).toMatchObject({ name: 'Ana Lopez', tags: ['VIP', 'Blog'] });
    expect(outcomes(all)).toEqual(['read', 'left_out unsubscribed']);
  });

  test('a person on several lines is one record with all codes; shares become questions', async () => {
    const file = 'Name,Email,Code,Rate\nAna,a@x.example,A1,0.1\nBen,b@x.example,B1,0.15\nAnna,a@x.example,A2;A3,0.05\n';
    const all = await read('roster', file);
    expect(codes(all)).toEqual(['rate_scale']);
    const answered = await read('roster', file, { rate: 'fraction' });
    expect(answered.lines[0]?.record).toMatchObject({
      name: 'Ana',
      codes: [
        { code: 'A1', rate_ppm: 100_000 },
        { code: 'A2', rate_ppm: 50_000 },
        { code: 'A3', rate_ppm: 50_000 },
      ],
    });
    expect(answered.reading.warnings.map(({ code }) => code)).toContain('names_differ');
  });

  test('destinations of a person have the rate of their row, and links of another tool are warned of', async () => {
    const file = `Email,Rate,Destination URL,Affiliate link
a@x.example,10 %,https://shop.example/a,https://other.example/1
a@x.example,,https://shop.example/b,https://other.example/1
b@x.example,10 %,-,
c@x.example,10 %,shop,
`;
    const all = await read('roster', file);
    expect(outcomes(all)).toEqual(['read', 'read', 'refused destination_unreadable']);
    expect(all.lines[0]?.record).toMatchObject({
      link: 'https://other.example/1',
      destinations: [
        { destination_url: 'https://shop.example/a', rate_ppm: 100_000 },
        { destination_url: 'https://shop.example/b', rate_ppm: null },
      ],
    });
    expect(all.lines[1]?.record).toMatchObject({ destinations: [] });
    expect(all.lines[2]?.fault).toMatchObject({ column: 'Destination URL', value: 'shop' });
    const warned = (one: typeof all) => one.reading.warnings.map(({ code }) => code);
    expect(warned(all)).not.toContain('links_unread');
    const other = await read(
      'roster',
      'Email,Affiliate link,Website URL\na@x.example,https://other.example/1,https://a.example\n',
    );
    expect(warned(other)).toContain('links_unread');
    expect(other.lines[0]?.record).toMatchObject({ destinations: [] });
  });

  test('PayPal: only money that was sent counts, at times in the zone of the account, in German too', async () => {
    const english = await read(
      'payouts',
      'Date,Time,TimeZone,Name,Type,Status,Currency,Gross,Fee,Net,From Email Address,To Email Address,Transaction ID\n10/13/2026,10:00:00,PDT,Ana,Mass Pay,Completed,USD,"-1,250.50",-0.25,-1250.75,s@x.example,a@x.example,T1\n10/14/2026,10:00:00,PDT,Ben,Sale,Completed,USD,20.00,-0.25,19.75,b@x.example,s@x.example,T2\n10/14/2026,10:00:00,PDT,Ben,Mass Pay,Unclaimed,USD,-20.00,-0.25,-20.25,s@x.example,b@x.example,T3\n',
    );
    expect(english.reading.status).toBe('ready');
    expect(english.lines[0]?.record).toMatchObject({
      email: 'a@x.example',
      amount: 125_050,
      paid_at: '2026-10-13T17:00:00.000Z',
      reference: 'T1',
      fee: 25,
    });
    expect(outcomes(english)).toEqual(['read', 'left_out not_sent', 'left_out status']);
    const german = await read(
      'payouts',
      'Datum;Uhrzeit;Zeitzone;Name;Status;Währung;Brutto;Entgelt;Netto;Absender E-Mail-Adresse;Empfänger E-Mail-Adresse;Transaktionscode\n13.10.2026;10:00:00;CEST;Ana;Erledigt;EUR;"-1.250,50";-0,25;-1250,75;s@x.example;a@x.example;T1\n14.10.2026;10:00:00;CEST;Ben;Erledigt;EUR;50,00;0,00;50,00;b@x.example;s@x.example;T2\n',
    );
    expect(codes(german)).toEqual(['status_meaning']);
    // What was received is left out whatever its status means, so it is in no sum of the question.
    expect(german.reading.questions[0]?.options[0]).toMatchObject({
      records: 1,
      sums: [{ currency: 'EUR', amount: 125_050 }],
    });
  });

  test('Dub: the amount is the sale, the sign of every currency is a dollar', async () => {
    const all = await read(
      'commissions',
      'ID,Created at,Amount,Earnings,Currency,Partner email,Invoice ID,Paid at,Status\nC1,2026-10-01T10:00:00Z,"$1,250.50",$125.05,EUR,a@x.example,i,2026-10-05T10:00:00Z,paid\n',
    );
    expect(all.reading.status).toBe('ready');
    expect(all.lines[0]?.record).toMatchObject({ amount: 12_505, sale_amount: 125_050, currency: 'EUR' });
  });

  test('one order that pays two creators is two; a line with a reference that is repeated counts once', async () => {
    const head = 'Affiliate email,Commission,Currency,Date,Order ID,Reference\n';
    const all = await read(
      'commissions',
      `${head}a@x.example,1.50,USD,2026-03-03,7,7\nb@x.example,2.50,USD,2026-03-03,7,7\na@x.example,1.50,USD,2026-03-03,7,7\na@x.example,9.50,USD,2026-03-04,7,7\n`,
    );
    expect(outcomes(all)).toEqual(['read', 'read', 'repeated repeated', 'read']);
    expect(new Set(all.lines.flatMap(({ known_by }) => known_by ?? [])).size).toBe(3);
    expect(all.reading.counts).toMatchObject({ records: 4, read: 3, repeated: 1 });
  });

  test('a handle is of the platform that its address names; a column without a header becomes a question', async () => {
    const all = await read('roster', 'handle,code\n@mia.one,MIA10\nhttps://www.tiktok.com/@max.two,MAX10\n');
    expect(all.lines.map(({ record }) => record?.kind === 'person' && [record.instagram, record.tiktok])).toEqual([
      ['mia.one', null],
      [null, 'max.two'],
    ]);
    expect(codes(await read('roster', '@mia.one\n@max.two\n'))).toEqual(['column_meaning']);
    expect((await read('roster', 'a@x.example\nb@x.example\n')).reading).toMatchObject({
      status: 'ready',
      counts: { read: 2 },
    });
  });

  test('a currency in the header of the amounts is theirs, and a dollar there becomes a question', async () => {
    const euros = await read(
      'commissions',
      'Affiliate email,Commission (EUR),Date\na@x.example,1.50,2026-03-03\n',
      {},
      { ...BRAND, currency: 'USD' },
    );
    expect(euros.reading).toMatchObject({ status: 'ready', sums: [{ currency: 'EUR', amount: 150 }] });
    expect(
      codes(await read('commissions', 'Affiliate email,Commission ($),Date\na@x.example,1.50,2026-03-03\n')),
    ).toEqual(['currency_sign']);
  });

  test('bank details are left out, and the reading says so', async () => {
    const all = await read('payment_details', 'Email,PayPal email,IBAN\na@x.example,p@x.example,DE00\n');
    expect(all.lines[0]?.record).toMatchObject({ email: 'a@x.example', payment_email: 'p@x.example' });
    expect(all.reading.warnings.map(({ code }) => code)).toContain('bank_details');
  });
});
