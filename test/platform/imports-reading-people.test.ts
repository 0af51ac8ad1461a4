import { describe, expect, test } from 'vitest';
import { readTable } from '../../src/platform/imports/reading/read-table.ts';
import type { Mapping } from '../../src/platform/imports/reading/shapes.ts';
import { BRAND, makeSource, readWhole } from './imports-check.ts';
import { lines } from './imports-field.ts';

const codesIn = async (of: 'roster' | 'payment_details', content: string, mapping: Mapping = {}) => {
  const { reading, records, lines: all } = await readWhole(of, content, mapping);
  const people = records.flatMap((record) => (record.kind === 'person' ? [record] : []));
  return {
    asks: reading.questions.map(({ id }) => id),
    warns: reading.warnings.map(({ code }) => code).filter((code) => code !== 'no_status'),
    kinds: all.map(({ kind }) => kind),
    people,
  };
};

describe('an address that money is sent to', () => {
  test('is taken from details of a payout.', async () => {
    const { people, asks } = await codesIn(
      'payment_details',
      lines('Email,Payout method,Payout details', 'ana@c.example,PayPal,ana.pay@x.example'),
    );
    expect(asks).toEqual([]);
    expect(people).toMatchObject([{ payment_method: 'PayPal', payment_email: 'ana.pay@x.example' }]);
  });

  test.each(['Account', 'Send money to'])('is asked about under “%s”.', async (header) => {
    const content = lines(`Email,Method,${header}`, 'ana@c.example,PayPal,ana.pay@x.example');
    expect((await codesIn('payment_details', content)).asks).toEqual(['column_meaning:payment_email']);
    const { people } = await codesIn('payment_details', content, { columns: { payment_email: header } });
    expect(people).toMatchObject([{ payment_email: 'ana.pay@x.example' }]);
  });

  test('is not asked about where a column already says it.', async () => {
    const content = lines('Email,Payout email,Manager email', 'ana@c.example,ana.pay@x.example,boss@x.example');
    expect((await codesIn('payment_details', content)).asks).toEqual([]);
  });

  test('stands beside accounts at banks, which are not kept, and that is said.', async () => {
    const { people, warns, kinds } = await codesIn(
      'payment_details',
      lines(
        'Email,Payout method,Payout details',
        'ana@c.example,PayPal,ana.pay@x.example',
        'ben@c.example,Bank transfer,DE89 3704 0044 0532 0130 00',
        'cy@c.example,Bank transfer,Sort 12-34-56 Acc 12345678',
        'di@c.example,Venmo,@di.moss',
        'ed@c.example,PayPal,DE89 3704 0044 0532 0130 00',
      ),
    );
    expect(people.map(({ payment_email }) => payment_email)).toEqual(['ana.pay@x.example', null, null]);
    expect(kinds).toEqual([null, null, null, 'email_unreadable', 'email_unreadable']);
    expect(warns).toEqual(['bank_details']);
  });

  test('that cannot be read is no silence.', async () => {
    const content = lines('Email,Method,Account', 'ana@c.example,Venmo,@ana-pays');
    expect((await codesIn('payment_details', content)).warns).toEqual(['payments_unread']);
  });
});

describe('the value of a commission', () => {
  const HEADER = 'Name,Email,Code,Commission type,Commission value';

  test('is a rate where its type says so, and money elsewhere, which is said.', async () => {
    const { people, asks, warns } = await codesIn(
      'roster',
      lines(
        HEADER,
        'Mia,mia@x.example,MIA10,percentage,10',
        'Bo,bo@x.example,BO10,fixed,5',
        'Cy,cy@x.example,CY,CPA,7',
      ),
    );
    expect(people.map(({ codes }) => codes[0]?.rate_ppm)).toEqual([100_000, null, null]);
    expect([asks, warns]).toEqual([[], ['rates_flat']]);
  });

  test.each([
    lines('Email,Code,Commission value', 'mia@x.example,MIA10,10'),
    lines('Email,Code,Commission type,Commission value', 'mia@x.example,MIA10,recurring,10'),
    lines('Email,Code,Payout', 'mia@x.example,MIA10,10%'),
    lines('Email,Code,Payout %', 'mia@x.example,MIA10,10'),
  ])('is asked about where nothing says so.', async (content) => {
    expect((await codesIn('roster', content)).asks).toEqual(['column_meaning:rate']);
  });

  test.each(['$5', '250.00'])('that is money is not taken, and that is said: %s.', async (value) => {
    const content = lines('Email,Code,Commission value', `mia@x.example,MIA10,${value}`);
    expect((await codesIn('roster', content)).warns).toEqual(['rates_unread']);
  });
});

test('The codes of an order are read without what they took off.', async () => {
  const { records } = await readWhole(
    'orders',
    lines(
      'Order,Date,Amount,Currency,Coupon',
      'A,2026-01-05,10.50,USD,ana10 (-10%)',
      'B,2026-01-05,10.50,USD,"ANA10 × 2, free shipping"',
      'C,2026-01-05,10.50,USD,ANA10 (5.00 EUR)',
      'D,2026-01-05,10.50,USD,ANA10 and BEN10',
    ),
  );
  expect(records.map((record) => (record.kind === 'order' ? record.codes : []))).toEqual([
    ['ana10'],
    ['ANA10', 'free shipping'],
    ['ANA10'],
    ['ANA10 and BEN10'],
  ]);
});

test('A code of a creator has nothing beside it.', async () => {
  const content = lines('Email,Code', 'ana@x.example,ANA10 × 2', 'ben@x.example,2x BEN', 'cy@x.example,CY10');
  expect((await codesIn('roster', content)).kinds).toEqual(['code_unreadable', 'code_unreadable', null]);
});

test.each([
  ['"[""vip"",""skin care""]"', ['vip', 'skin care']],
  ['"[""vip, gold"",""skin""]"', ['vip, gold', 'skin']],
  ["\"['vip', 'skin care']\"", ['vip', 'skin care']],
  ['"{vip,""skin care""}"', ['vip', 'skin care']],
  ['"""vip"",""skin care"""', ['vip', 'skin care']],
  ['[]', []],
  ['vip; [new]', ['vip', '[new]']],
])('Tags are read from a list as programs write it: %s.', async (cell, tags) => {
  const { people } = await codesIn('roster', lines('Email,Tags', `ana@x.example,${cell}`));
  expect(people).toMatchObject([{ tags }]);
});

describe('a cell with addresses', () => {
  test.each([
    ['roster', 'Name,Email', 'Cy,cy@x.example; cy2@x.example'],
    ['commissions', 'Email,Amount,Currency,Date', 'Cy <cy@x.example> / cy2@x.example,10.50,USD,2026-01-05'],
  ] as const)('of %s gives the first, and says that there are others.', async (of, header, row) => {
    const { reading, records } = await readWhole(of, lines(header, row.replace(' / ', '; ')));
    expect(records).toMatchObject([{ email: 'cy@x.example' }]);
    expect(reading.warnings.map(({ code }) => code)).toContain('addresses_several');
  });

  test('with the same address twice says nothing.', async () => {
    const { warns } = await codesIn('roster', lines('Name,Email', 'Cy,cy@x.example; CY@x.example'));
    expect(warns).toEqual([]);
  });

  test('is read as the API reads it, with letters of full width.', async () => {
    const { people } = await codesIn('roster', lines('Name,Email', 'Di,di＠x.example'));
    expect(people).toMatchObject([{ email: 'di@x.example' }]);
  });
});

describe('a stored reading that a file contradicts is asked about again:', () => {
  const ask = async (of: 'roster' | 'commissions', content: string, stored: Mapping, mapping: Mapping = {}) => {
    const request = { of, stored, mapping, brand: BRAND, now: new Date('2026-11-27T18:00:00Z') };
    const { reading } = await readTable(makeSource('file.csv', Buffer.from(content)), request);
    return reading.questions.map(({ id, options }) => [id, ...options.map((option) => JSON.stringify(option.mapping))]);
  };
  const RATES = lines('Email,Code,Rate', 'ana@x.example,A,10', 'ben@x.example,B,0.5');
  const AMOUNTS = lines(
    'Email,Amount,Currency,Date',
    'ana@x.example,1250,USD,2026-01-05',
    'ana@x.example,12.50,USD,2026-01-06',
  );

  test('shares above 1.', async () => {
    expect(await ask('roster', RATES, { rate: 'fraction' })).toEqual([['rate_scale:rate', '{"rate":"percent"}']]);
    expect(await ask('roster', RATES, { rate: 'fraction' }, { rate: 'percent' })).toEqual([]);
    expect(await ask('roster', RATES, { rate: 'percent' })).toEqual([]);
    expect(await ask('roster', RATES.replace(',10', ',0.1'), { rate: 'fraction' })).toEqual([]);
    expect(await ask('roster', RATES.replace(',0.5', ',5'), { rate: 'fraction' })).toEqual([]);
  });

  test('cents with decimals.', async () => {
    expect(await ask('commissions', AMOUNTS, { unit: 'minor' })).toEqual([['unit', '{"unit":"major"}']]);
    expect(await ask('commissions', AMOUNTS, { unit: 'minor' }, { unit: 'major' })).toEqual([]);
    expect(await ask('commissions', AMOUNTS, { unit: 'major' })).toEqual([]);
    expect(await ask('commissions', AMOUNTS.replace('1250', '12.05'), { unit: 'minor' })).toEqual([]);
  });
});

test('The handles of our own list of creators are read, also of people who have nothing else', async () => {
  const { asks, kinds, people } = await codesIn(
    'roster',
    lines(
      'id,name,email,photo_app,video_app',
      'crt_1,Ana,ana@c.example,anaeats,',
      'crt_2,Ben,,benkim,ben.cooks',
      'crt_3,Cy,,,cy.roe',
    ),
  );
  expect({ asks, kinds }).toEqual({ asks: [], kinds: [null, null, null] });
  expect(people.map(({ instagram, tiktok }) => [instagram, tiktok])).toEqual([
    ['anaeats', null],
    ['benkim', 'ben.cooks'],
    [null, 'cy.roe'],
  ]);
});
