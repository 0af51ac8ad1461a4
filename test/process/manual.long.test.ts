import { readdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { blocksOf, unnamedBlocksOf } from '../harness/interfaces/manual.ts';
import { openSandbox, type Sandbox, type Shell } from '../harness/process/sandbox.ts';
import { longDeadlineMs } from '../run/deadline.ts';

/** In the order in which they are read; what one leaves behind the next one finds. */
const FIRST = ['README.md', 'docs/attribution.md'];
/** A backup is restored with all that the other pages made; further processes outlive their page. */
const LAST = ['docs/backup.md', 'docs/operating.md'];
const rest = readdirSync('docs')
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)
  .filter((page) => !FIRST.includes(page) && !LAST.includes(page));
const all = [...FIRST, ...rest, ...LAST];
const pages = all.filter((page) => blocksOf(page).some(({ skipped }) => !skipped));

let sandbox: Sandbox;
let shell: Shell | undefined;

beforeAll(async () => {
  sandbox = await openSandbox();
  await sandbox.start();
}, longDeadlineMs);
afterEach(async () => {
  await shell?.close();
  shell = undefined;
});
afterAll(() => sandbox?.remove());

/** Runs a page's commands in one shell, as a reader pastes them. `after` is called after each block. */
async function runPage(page: string, after?: (commands: string) => Promise<void>): Promise<void> {
  shell = sandbox.openShell();
  for (const { line, text, skipped, isStopped } of blocksOf(page)) {
    if (skipped) continue;
    if (isStopped) await sandbox.stop();
    else await sandbox.start();
    await shell.run(text).catch((error: unknown) => {
      throw new Error(`${page}:${line} fails as it is written.\n${error instanceof Error ? error.message : error}`);
    });
    await after?.(text);
  }
  await sandbox.start();
}

describe('the commands of the manual', () => {
  it.each(pages.filter((page) => !LAST.includes(page)))(
    'in %s work as they are written, one after the other',
    (page) => runPage(page),
    longDeadlineMs,
  );

  it(
    'in docs/backup.md work, and a backup restores what was acknowledged when all is lost',
    async () => {
      const before = await facts();
      // The sample has erased somebody's rows, which is a line of its own.
      expect(before.ledger).toMatch(/^\w+\tok\t\d+\t\w+\t\w+\n(?:\w+\t {2}\d+ rows erased by \w+\n)*$/);
      expect(before.credits[0]?.charged).toBeGreaterThan(0);
      expect(before.roster).toBeGreaterThan(0);
      // The sample's, and those of the manual.
      const sold = { currency: 'USD', conversions: expect.any(Number) };
      expect(before.figures.by_currency).toEqual([expect.objectContaining(sold)]);
      const seen: string[] = [];
      await runPage('docs/backup.md', async (commands) => {
        if (commands.includes('-czf')) {
          await sandbox.loseEverything();
          seen.push('lost');
        } else if (seen.length === 1 && commands.includes('ledger verify')) {
          expect(await facts()).toEqual(before);
          seen.push('restored');
        } else if (commands.includes('ledger rebuild')) {
          expect(await facts()).toEqual({ ...before, figures: withoutClicks(before.figures) });
          seen.push('rebuilt');
        }
      });
      expect(seen).toEqual(['lost', 'restored', 'rebuilt']);
    },
    longDeadlineMs,
  );

  it(
    'in docs/operating.md work, with further processes beside the first',
    () => runPage('docs/operating.md'),
    longDeadlineMs,
  );
});

it('commands of the manual are in blocks that a test runs, or that say why not', () => {
  const others = all.flatMap((page) =>
    unnamedBlocksOf(page).filter((text) => /^\s*(?:npm|node|curl|docker|git|tar) /m.test(text)),
  );
  expect(others).toEqual([]);
});

const Figures = z.object({ by_currency: z.array(z.looseObject({ clicks: z.int() })) });
type Figures = z.infer<typeof Figures>;

const withoutClicks = ({ by_currency }: Figures): Figures => ({
  by_currency: by_currency.map((row) => ({ ...row, clicks: 0 })),
});

/** What somebody would miss: money, credits, clicks, and who is on the roster. */
async function facts() {
  const asking = sandbox.openShell();
  const json = async (commands: string): Promise<unknown> => JSON.parse(await asking.run(commands));
  try {
    await asking.run(
      '. .rollcall/demo.env; ask() { curl -H "Authorization: Bearer $ROLLCALL_BRAND_KEY" "$ROLLCALL_URL/v1/$1"; }',
    );
    const roster = z.object({ pagination: z.object({ total: z.int() }) }).parse(await json('ask roster'));
    const Performance = z.object({ summary: Figures });
    const Credits = z.array(z.looseObject({ charged: z.int() }));
    return {
      ledger: await asking.run('npm run --silent cli -- ledger verify --brand demo'),
      credits: Credits.parse(await json('npm run --silent cli -- credits show --brand demo --json')),
      figures: Performance.parse(await json('ask affiliates/performance')).summary,
      roster: roster.pagination.total,
    };
  } finally {
    await asking.close();
  }
}
