import { afterAll, beforeAll, expect, it } from 'vitest';
import { approved, get, makePayer, type Payer } from '../harness/affiliates/paying.ts';
import { makeAssignment } from '../harness/affiliates/sales.ts';
import { send, startApp, type TestApp } from '../harness/app.ts';
import { randomRuns, testSeed } from '../harness/kit/random-runs.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const CURRENCIES = ['USD', 'EUR', 'HUF', 'JPY', 'TWD', 'BRL', 'KWD'] as const;
const RAILS = ['paypal', 'wise', undefined] as const;
const COUNTRIES = ['BR', 'DE', null] as const;

/** Numbers of a sequence that its seed decides (mulberry32). */
function openRandom(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Amounts by payee in the file of a rail, or undefined if the rail refuses it. */
async function readFile({ key }: Payer, rail: 'paypal' | 'wise', currency: string) {
  const answer = await fetch(`${app.url}/v1/payouts/preview?currency=${currency}`, {
    headers: { authorization: `Bearer ${key}`, accept: `text/csv; profile=${rail}` },
  });
  const text = await answer.text();
  if (answer.status !== 200) return undefined;
  const rows = text
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(','));
  const cells = rail === 'paypal' ? [1, 3] : [7, 8];
  const [amountAt = 0, idAt = 0] = cells;
  return new Map(rows.slice(rail === 'wise' ? 1 : 0).map((row) => [row[idAt], Number(row[amountAt])]));
}

interface Due {
  creator_email: string;
  creator_id: string;
  currency: string;
  total: number;
}

const listDue = async (payer: Payer): Promise<Due[]> => (await get(payer, '/v1/payouts/preview?limit=100')).body.data;

it('A file, the batch after it and the balance say the same of every creator, and what a rail cannot pay stays due', {
  timeout: 600_000,
}, async () => {
  const random = openRandom(testSeed);
  for (let run = 0; run < randomRuns(4, 20); run += 1) {
    const first = await makePayer(app);
    const payers = [first];
    for (let n = 0; n < 2; n += 1) {
      payers.push({ ...first, ann: await makeAssignment(app.context, first.brand) });
    }
    for (const payer of payers) {
      const country = COUNTRIES[random(3)];
      const body = { country, legal_name: 'Ann Ltd' };
      await send(`${app.url}/v1/roster/${payer.ann.creatorId}/payment`, payer.key, 'PUT', body);
      for (let n = 0; n <= random(2); n += 1) {
        await approved(payer, { amountMinor: 1 + random(5_000_000), currency: CURRENCIES[random(7)] ?? 'USD' });
      }
    }
    const currencies = new Set((await listDue(first)).map(({ currency }) => currency));
    for (const currency of currencies) {
      const rail = RAILS[random(3)];
      const before = (await listDue(first)).filter((one) => one.currency === currency);
      const file = rail && (await readFile(first, rail, currency));
      const answer = await send(`${app.url}/v1/payouts/batch`, first.key, 'POST', { method: 'wallet', currency, rail });
      expect(answer.status).toBe(201);
      const payouts: { creator_email: string; amount: number }[] = answer.body.data.payouts;
      const ids = new Map(before.map((one) => [one.creator_email, one.creator_id]));
      const paid = new Map(payouts.map((one) => [ids.get(one.creator_email), one.amount]));
      // A file is refused whole if one payee cannot be paid; the batch skips that one.
      if (file) expect([...file].sort()).toEqual([...paid].sort());
      for (const { creator_id, total } of before) {
        const left = (await listDue(first)).find((one) => one.creator_id === creator_id && one.currency === currency);
        expect((paid.get(creator_id) ?? 0) + (left?.total ?? 0)).toBeCloseTo(total, 3);
      }
    }
  }
});
