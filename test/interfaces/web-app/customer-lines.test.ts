import { expect, it } from 'vitest';
import { readCustomerLines } from '../../../web/src/pages/customer-lines.ts';

const read = (...lines: string[]) =>
  readCustomerLines(lines.join('\n')).map(({ number, email, subscription, problem }) =>
    problem === undefined ? [number, email ?? null, subscription ?? null] : [number, problem],
  );

it('A list of customers has an address, the id of a subscription, or both on each line', () => {
  expect(read('ana@mail.example', '', 'sub_1', 'ben@mail.example;sub_2', '"sub_3","cy@mail.example"')).toEqual([
    [1, 'ana@mail.example', null],
    [3, null, 'sub_1'],
    [4, 'ben@mail.example', 'sub_2'],
    [5, 'cy@mail.example', 'sub_3'],
  ]);
});

it('Other columns of a list with names are not taken for subscriptions', () => {
  const names = 'Name,Email,Country,Subscription ID,Plan';
  expect(read(names, 'Ana Buyer,ana@mail.example,US,sub_1,Pro', 'Ben,ben@mail.example,US,,Pro')).toEqual([
    [2, 'ana@mail.example', 'sub_1'],
    [3, 'ben@mail.example', null],
  ]);
  expect(read('Email,Country', 'ana@mail.example,US')).toEqual([[2, 'ana@mail.example', null]]);
});

it('A line that may say something else is refused with what would be right', () => {
  const many = 'It has 3 values. Keep an email address, the id of a subscription, or both.';
  expect(read('Ana Buyer,ana@mail.example,US', 'ana@mail.example,Ana Buyer', 'no one@', 'Name,Email', ',')).toEqual([
    [1, many],
    [2, '“Ana Buyer” is not the id of a subscription.'],
    [3, 'no one@ is not an email address.'],
    [4, 'It has 2 values. Keep an email address, the id of a subscription, or both.'],
  ]);
});

it('Columns about an address or a subscription are not taken for them', () => {
  const status = 'Email,Subscription status,Subscription ID';
  expect(read(status, 'ana@mail.example,active,123')).toEqual([[2, 'ana@mail.example', '123']]);
  const created = 'subscription_created_at,subscription_id,customer_email';
  expect(read(created, '2026-01-01,sub_1,ana@mail.example')).toEqual([[2, 'ana@mail.example', 'sub_1']]);
  expect(read('Email marketing,Email', 'yes,ana@mail.example')).toEqual([[2, 'ana@mail.example', null]]);
});

it('A quoted cell may have a comma in it', () => {
  expect(read('Name,Email,Subscription ID', '"Lopez, Ana",ana@mail.example,123')).toEqual([
    [2, 'ana@mail.example', '123'],
  ]);
});

it('A date, a state and an id that a spreadsheet has shortened are no subscriptions', () => {
  expect(read('ana@mail.example,2026-01-01', 'ben@mail.example,active', 'cy@mail.example,5.84E+12')).toEqual([
    [1, '“2026-01-01” is not the id of a subscription.'],
    [2, '“active” is not the id of a subscription.'],
    [3, '“5.84E+12” is an id that a spreadsheet has shortened. Format its column as text, and export it again.'],
  ]);
});
