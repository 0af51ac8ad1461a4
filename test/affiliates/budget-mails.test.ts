import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../harness/app.ts';
import { mailsOf } from '../harness/kit/mail.ts';
import { signIn } from '../harness/platform/session.ts';
import { openShop } from './terms-shop.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

it('Owners get one mail when four fifths of a budget are used and one when it is spent, and none again after a refund', async () => {
  const shop = await openShop(app);
  await signIn(app, shop.brand.id);
  const code = await shop.makeCode({ rate: { percent: 10 }, budget: { per: 'ever', amount: { USD: 10 } } });
  const listSubjects = async () =>
    (await mailsOf(app.context, shop.brand.id))
      .filter(({ kind }) => kind.startsWith('budget_'))
      .map(({ subject }) => subject)
      .toReversed();
  const place = (amount: number) => shop.place({ amount, codes: [code.value] });
  const used = `80% of the budget of ${code.value} is used`;
  const spent = `The budget of ${code.value} is spent`;

  const first = await place(50);
  expect([first.commission, await listSubjects()]).toEqual([5, []]);
  expect([(await place(40)).commission, await listSubjects()]).toEqual([4, [used]]);
  expect([(await place(30)).commission, await listSubjects()]).toEqual([1, [used, spent]]);
  expect([(await place(30)).commission, await listSubjects()]).toEqual([0, [used, spent]]);
  await shop.refund(first, 50);
  expect([(await place(100)).commission, await listSubjects()]).toEqual([5, [used, spent]]);
  const [mail] = (await mailsOf(app.context, shop.brand.id)).filter(({ kind }) => kind === 'budget_used');
  for (const text of ['$10.00', '$9.00', 'unless you raise it']) expect(mail?.text).toContain(text);
});
