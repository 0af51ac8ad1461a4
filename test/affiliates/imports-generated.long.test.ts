import { afterAll, beforeAll, expect, it } from 'vitest';
import { toMinor } from '../../src/kit/values/money.ts';
import { mergeMappings } from '../../src/platform/imports/reading/doubts.ts';
import type { Mapping } from '../../src/platform/imports/reading/shapes.ts';
import type { TestApp } from '../harness/app.ts';
import { randomRuns, testSeed } from '../harness/kit/random-runs.ts';
import { answerImport, confirmRead, makeImporter, readImport, startImporting } from '../harness/platform/importing.ts';
import { type Case, DAMAGES, FORMATS, makeCase, NOW } from '../platform/imports-cases.ts';
import { answerQuestion } from '../platform/imports-check.ts';
import { LOCALES, makeRandom, pick } from '../platform/imports-draw.ts';
import { longDeadlineMs } from '../run/deadline.ts';

/** `RANDOM_RUNS=135` sends as many files. */
const WANTED = randomRuns(30);
const MOST_ROUNDS = 8;

let app: TestApp;
beforeAll(async () => {
  app = await startImporting({ now: () => NOW });
});
afterAll(() => app?.close());

type Importer = Awaited<ReturnType<typeof makeImporter>>;

const toDay = (at: unknown) => String(at).slice(0, 10);

/** The records of a brand as its lists show them, in the words of a case's truth. */
async function listRecorded({ get }: Importer, of: Case['format']['of']): Promise<string[]> {
  if (of === 'roster') {
    const { data } = await get('/roster?limit=100');
    return data.map((one: { creator_email: string }) => `${one.creator_email}/0/`);
  }
  const paths = { orders: '/orders', commissions: '/past-commissions', payouts: '/payouts' };
  const { data } = await get(`${paths[of]}?limit=100`);
  return data.map((one: Record<string, unknown>) => {
    const who = of === 'orders' ? '' : one.creator_email;
    const minor = toMinor(Number(one.amount), String(one.currency));
    return `${who}/${minor}/${toDay(of === 'orders' ? one.occurred_at : one.paid_at)}`;
  });
}

/** Rounded ids without numbers beside them cannot be mended: such a file is refused. */
const isRefusedRightly = ({ damage, format }: Case, kind: string) =>
  kind === 'damaged_ids' && damage === 'ids' && format.key === 'etsy';

/** Sends a file, answers truthfully what it leaves open, records it, and returns the differences from its truth. */
async function importCase(one: Case): Promise<object | undefined> {
  const { of } = one.format;
  const importer = await makeImporter(app);
  const { key, add } = importer;
  if (of === 'payouts') for (let n = 0; n < 7; n += 1) await add(`c${n}@creators.example`);
  const options = of === 'commissions' ? { add_creators: true } : of === 'payouts' ? { create: true } : {};
  let read = await readImport(app, key, of, new Uint8Array(one.bytes), { options: JSON.stringify(options) });
  let mapping: Mapping = {};
  const asked: string[] = [];
  for (let round = 0; read.status === 'needs_answers' && round < MOST_ROUNDS; round += 1) {
    for (const question of read.questions) {
      asked.push(question.id);
      mapping = mergeMappings(mapping, answerQuestion(question, one.answers) ?? {});
    }
    read = await answerImport(app, key, read, mapping);
  }
  const { name, truth } = one;
  if (read.status === 'refused' && isRefusedRightly(one, read.refusals[0].kind)) return undefined;
  if (read.status !== 'ready') return { name, status: read.status, asked, refusals: read.refusals };
  expect(await listRecorded(importer, of), name).toEqual([]);
  if (read.counts.new > 0) expect(await confirmRead(app, key, read), name).toMatchObject({ status: 'done' });
  const recorded = (await listRecorded(importer, of)).toSorted();
  const expected = truth.map(({ who, amount, day }) => `${who}/${amount}/${day}`).toSorted();
  const refunds = read.sums.flatMap((sum: { outcome: string; refunded: number; currency: string }) =>
    sum.outcome === 'new' ? [toMinor(sum.refunded, sum.currency)] : [],
  );
  const refunded = refunds.reduce((sum: number, minor: number) => sum + minor, 0);
  const givenBack = truth.reduce((sum, line) => sum + line.refunded, 0);
  if (JSON.stringify(recorded) === JSON.stringify(expected) && refunded === givenBack) return undefined;
  return { name, asked, recorded, expected, refunded, givenBack, refusals: read.refusals };
}

it(
  `Files of ${FORMATS.length} tools from ${LOCALES.length} countries, however damaged, are recorded as they were meant once their questions are answered (TEST_SEED=${testSeed})`,
  async () => {
    const random = makeRandom(testSeed);
    const wrong: object[] = [];
    for (let n = 0; n < WANTED; n += 1) {
      const one = makeCase(testSeed + n, pick(random, FORMATS), pick(random, LOCALES), pick(random, DAMAGES));
      const difference = await importCase(one);
      if (difference) wrong.push(difference);
    }
    expect(wrong).toEqual([]);
  },
  longDeadlineMs,
);
