import { describe, expect, test } from 'vitest';
import type { Kind } from '../../src/platform/imports/reading/kinds.ts';
import { readWhole } from './imports-check.ts';
import { lines } from './imports-field.ts';

const HEADERS: Partial<Record<Kind, string>> = {
  commissions: 'Email;Date;Commission;Currency',
  payouts: 'Email;Date;Amount;Currency',
  orders: 'Order ID;Date;Amount;Currency',
};

async function readFile(of: Kind, content: string) {
  const { reading, records, lines: read } = await readWhole(of, content);
  return { asks: reading.questions.map(({ id }) => id), records, read, reading };
}

function readPair(of: Kind, header: string, cells: string) {
  const [good = '', open = ''] = cells.split('/');
  const id = (at: number) => (of === 'orders' ? `o${at}` : `a${at}@c.example`);
  const rows = [`${id(1)};2026-02-13;100.00;EUR;${good}`, `${id(2)};2026-02-14;50.00;EUR;${open}`];
  return readFile(of, lines(`${HEADERS[of]};${header}`, ...rows));
}

const PAYMENTS: readonly [of: Kind, header: string, cells: string][] = [
  ['commissions', 'Payment', 'Done/Not done|Done/To do|Done/In review|Made/Not made|Issued/To issue|Done/'],
  ['commissions', 'Payout', 'OK/Waiting'],
  ['commissions', 'Zahlung', 'erledigt/offen|überwiesen/noch offen'],
  ['commissions', 'Auszahlung', 'erledigt/in Arbeit'],
  ['commissions', 'Paiement', 'fait/à faire|effectué/à faire'],
  ['commissions', 'Pagamento', 'fatto/da fare|feito/a fazer'],
  ['commissions', 'Betaling', 'gedaan/nog te doen'],
  ['commissions', 'Płatność', 'wykonana/oczekuje'],
  ['commissions', 'Ödeme', 'yapıldı/bekliyor'],
  ['commissions', 'Progress', 'Done/To do'],
  ['commissions', 'Invoice', 'paid/sent'],
  ['payouts', 'Payment', 'Done/Not done'],
  ['orders', 'Payment', 'received/not received|ok/missing'],
  ['orders', 'Zahlung', 'eingegangen/offen'],
];
const ASIDE: readonly [of: Kind, header: string, cells: string][] = [
  ['commissions', 'Payment', 'PayPal/Wise|PayPal/Bank transfer|TX1/TX2|Batch 1/Batch 2|October/November'],
  ['orders', 'Payment', 'Visa/Klarna|Shop Pay/Manual|PayPal/Invoice'],
  ['orders', 'Zahlung', 'Überweisung/Karte|PayPal/Rechnung'],
];
const spread = (cases: readonly (readonly [Kind, string, string])[]) =>
  cases.flatMap(([of, header, all]) => all.split('|').map((cells) => ({ of, header, cells })));

describe('a column headed by the payment itself', () => {
  test.each(spread(PAYMENTS))('of $of is a status: $header, $cells', async ({ of, header, cells }) => {
    const { asks, records } = await readPair(of, header, cells);
    expect({ asks: asks.length, records }).toEqual({ asks: 2, records: [] });
  });

  test.each(spread(ASIDE))('of $of asks nothing of methods and references: $header, $cells', async (each) => {
    const { asks, records } = await readPair(each.of, each.header, each.cells);
    expect({ asks, records: records.length }).toEqual({ asks: [], records: 2 });
  });

  test('asks beside a status by which all are paid', async () => {
    const rows = [
      'a@c.example,2026-02-13,10.00,USD,completed,done',
      'b@c.example,2026-02-13,11.00,USD,completed,waiting',
    ];
    const { asks } = await readFile('payouts', lines('Email,Date,Amount,Currency,Status,Transfer', ...rows));
    expect(asks).toEqual(['status_meaning:done', 'status_meaning:waiting']);
  });
});

describe('net sales beside refunds', () => {
  test.each(['Net sales,Refunds', 'Net amount,Refunded'])('are asked, what is left first: %s', async (names) => {
    const rows = ['1001,2026-02-13,100.00,0.00,USD', '1002,2026-02-14,30.00,20.00,USD'];
    const { asks, reading } = await readFile('orders', lines(`Order ID,Date,${names},Currency`, ...rows));
    expect(asks).toEqual(['amount_meaning:net_of_refunds']);
    const nets = reading.questions[0]?.options.map(({ sums }) => sums[0]?.net);
    expect(nets).toEqual([13_000, 11_000]);
    const mapping = reading.questions[0]?.options[0]?.mapping ?? {};
    const { records } = await readWhole('orders', lines(`Order ID,Date,${names},Currency`, ...rows), mapping);
    expect(records[1]).toMatchObject({ amount: 5_000, refunded: 2_000 });
  });

  test.each(['Gross,Refunds,Net sales', 'Total,Refunded,Net sales'])('are proved by the total: %s', async (names) => {
    const rows = ['1001,2026-02-13,100.00,0.00,100.00,USD', '1002,2026-02-14,50.00,20.00,30.00,USD'];
    const { asks, records } = await readFile('orders', lines(`Order ID,Date,${names},Currency`, ...rows));
    expect(asks).toEqual([]);
    expect(records).toMatchObject([{ amount: 10_000 }, { amount: 5_000, refunded: 2_000 }]);
  });
});

describe('a state of an address', () => {
  test.each([
    ['orders', 'Order ID,Date,Amount,Currency,City,State,Order Status', 'o1,2026-02-13,10.00,USD,NYC,NY,completed'],
    [
      'orders',
      'Pedido,Data do pedido,Valor,Moeda,Cidade,Estado,Status do pedido',
      'o1,2026-02-13,10.00,BRL,SP,SP,paid',
    ],
    ['roster', 'Name,Email,City,State,Country,Instagram', 'Ana,a@c.example,NYC,NY,US,@ana'],
  ] as const)('is no status of %s: %s', async (of, header, row) => {
    const { asks, records } = await readFile(of, lines(header, row));
    expect({ asks, records: records.length }).toEqual({ asks: [], records: 1 });
  });

  test('is one where its cells are', async () => {
    const { records } = await readFile('roster', lines('Email,State,Country', 'a@c.example,Paused,US'));
    expect(records).toMatchObject([{ status: 'paused' }]);
  });
});

describe('who a line is of', () => {
  test.each([
    ...['Payee email', 'Email ID', 'Email 1', 'Work email', 'Ambassador email', 'E-mail affilié', 'Email influenceur'],
    ...['E-mail parceiro', 'promoter_email', 'Username'],
  ])('is read from “%s” without a question', async (header) => {
    const content = lines(`Name,${header},Date,Commission,Currency`, 'Ana,a@c.example,2026-02-13,10.00,USD');
    const { asks, records } = await readFile('commissions', content);
    expect(asks).toEqual([]);
    expect(records).toMatchObject([{ email: 'a@c.example' }]);
  });

  test.each(["'a@c.example", '“a@c.example”', '*a@c.example', 'a@c.example;', 'a@c.example*', "'a@c.example'"])(
    'has no quotes and signs around it: %s',
    async (cell) => {
      const { records } = await readFile('roster', lines('Name,Email', `Ana,${cell}`));
      expect(records).toMatchObject([{ email: 'a@c.example' }]);
    },
  );

  test.each(['pending', 'yes', 'no', 'not yet', 'to be created', 'requested', 'same', 'see notes'])(
    'has no code “%s”',
    async (code) => {
      const { records } = await readFile('roster', lines('Email,Code', `a@c.example,${code}`));
      expect(records).toMatchObject([{ codes: [] }]);
    },
  );

  test.each(['Code: ANA10', 'Use BEN10', 'shop.example/?ref=ana'])('is refused with “%s” for a code', async (code) => {
    const { read } = await readFile('roster', lines('Email,Code', `a@c.example,${code}`));
    expect(read).toMatchObject([{ outcome: 'refused', kind: 'code_unreadable' }]);
  });
});

describe('a header or a cell that says all', () => {
  test.each(['EUR', 'GBP'])('%s is no currency of dollars', async (currency) => {
    const content = lines('Email,Date,Commission,Currency', `a@c.example,2026-02-13,$10.00,${currency}`);
    expect((await readFile('commissions', content)).read).toMatchObject([{ kind: 'currency_contradicts' }]);
  });

  test.each(['CAD', 'MXN', 'BRL'])('%s is one of dollars or pesos', async (currency) => {
    const content = lines('Email,Date,Commission,Currency', `a@c.example,2026-02-13,$10.00,${currency}`);
    expect((await readFile('commissions', content)).records).toMatchObject([{ currency }]);
  });

  test.each([
    ['Date (DD/MM/YYYY)', '2026-02-03'],
    ['Datum (TT.MM.JJJJ)', '2026-02-03'],
    ['Date (MM/DD/YYYY)', '2026-03-02'],
  ])('%s is the order of its dates', async (header, day) => {
    const content = lines(`Email,${header},Commission,Currency`, 'a@c.example,03/02/2026,10.00,USD');
    const { asks, records } = await readFile('commissions', content);
    expect(asks).toEqual([]);
    expect(records).toMatchObject([{ paid_at: expect.stringContaining(day) }]);
  });

  test('a box that is checked says yes, and an empty one no', async () => {
    const rows = ['a@c.example,2026-02-13,10.00,USD,checked', 'b@c.example,2026-02-13,10.00,USD,'];
    const { asks, records } = await readFile('commissions', lines('Email,Date,Commission,Currency,Paid?', ...rows));
    expect({ asks, records: records.length }).toEqual({ asks: [], records: 1 });
  });

  test('rates of something else, parts of an address and forms for taxes ask nothing', async () => {
    const people = lines(
      'Email,Code,Engagement Rate,Tax rate,Response rate,Default Address Province Code',
      'a@c.example,A1,3%,19%,50%,NY',
    );
    expect((await readFile('roster', people)).asks).toEqual([]);
    const rows = ['a@c.example,2026-02-13,10.00,USD,yes', 'b@c.example,2026-02-13,10.00,USD,no'];
    const paid = lines('Email,Date,Commission,Currency,W-9 received', ...rows);
    expect((await readFile('commissions', paid)).asks).toEqual([]);
  });

  test('those who never subscribed are asked about once', async () => {
    const people = lines('Email,Email Marketing Consent', 'a@c.example,SUBSCRIBED', 'b@c.example,NEVER_SUBSCRIBED');
    const { asks, records } = await readFile('roster', people);
    expect({ asks: asks.length, records: records.length }).toEqual({ asks: 1, records: 1 });
  });
});
