import type { Command } from 'commander';
import { listLedgerBrands } from '../../affiliates/ledger/ledger.ts';
import { REBUILT_TOGETHER, rebuildTogether } from '../../affiliates/ledger/rebuild-figures.ts';
import { recordVerified, verifyLedger } from '../../affiliates/ledger/verify-ledger.ts';
import { listBrands } from '../../analytics/figures/rollups.ts';
import { toChunks } from '../../kit/values/chunks.ts';
import { around } from './around.ts';
import { getBrand } from './brands.ts';
import { type FigureEngines, withFigures } from './open.ts';
import { jsonOption } from './table.ts';

const BRAND = '--brand <id or name>';

/** The named brand, or every brand that has a ledger or figures. */
async function listChosenBrands({ postgres, clickhouse }: FigureEngines, name: string | undefined): Promise<string[]> {
  if (name !== undefined) return [(await getBrand(postgres.db, name)).id];
  const [ledgers, figures] = await Promise.all([listLedgerBrands(postgres.db), listBrands(clickhouse)]);
  return [...new Set([...ledgers, ...figures])].sort();
}

interface VerifyOptions {
  brand?: string;
  all?: boolean;
  json?: boolean;
}

/** The result for one brand. */
interface BrandResult {
  brand: string;
  result: 'ok' | 'WRONG' | 'FAILED';
  entries?: number;
  hash?: string;
  seal?: string;
  problems: string[];
  notes?: string[];
}

/** The result for a brand that failed; it is reported, and the other brands continue. */
function failed(brand: string, error: unknown): BrandResult {
  const why = String(error instanceof Error ? error.message : error).replaceAll(/\s+/g, ' ');
  return { brand, result: 'FAILED', problems: [why] };
}

/** Prints one line per brand as soon as it is done, and one for each problem; with `json`, one array at the end. */
async function eachBrand(
  engines: FigureEngines,
  options: VerifyOptions,
  columns: readonly ('brand' | 'result' | 'entries' | 'hash' | 'seal')[],
  work: (brandIds: readonly string[]) => Promise<BrandResult[]>,
  together = 1,
): Promise<void> {
  const outcomes: BrandResult[] = [];
  const brands = await listChosenBrands(engines, options.brand);
  if (!options.json) around().err.write(`${columns.join('\t').toUpperCase()}\n`);
  const report = (outcome: BrandResult) => {
    if (outcome.problems.length > 0) around().exitCode = 1;
    outcomes.push(outcome);
    if (options.json) return;
    const { brand } = outcome;
    const cells = outcome.result === 'FAILED' ? [brand, outcome.result] : columns.map((name) => outcome[name]);
    around().out.write(`${cells.join('\t')}\n`);
    for (const line of [...outcome.problems, ...(outcome.notes ?? [])]) around().out.write(`${brand}\t  ${line}\n`);
  };
  // If they fail together, each is tried alone.
  const tryBrands = async (brandIds: readonly string[]): Promise<BrandResult[]> =>
    await work(brandIds).catch(async (error: unknown) => {
      const [brand = '', ...others] = brandIds;
      if (others.length === 0) return [failed(brand, error)];
      const alone: BrandResult[] = [];
      for (const brandId of brandIds) alone.push(...(await tryBrands([brandId])));
      return alone;
    });
  for (const brandIds of toChunks(brands, together)) {
    for (const outcome of await tryBrands(brandIds)) report(outcome);
  }
  if (options.json) around().out.write(`${JSON.stringify(outcomes, null, 2)}\n`);
}

async function verify(engines: FigureEngines, brand: string, continues: boolean): Promise<BrandResult> {
  const { entries, hash, seal, heads, problems, notes } = await verifyLedger(engines, brand, { continues });
  if (problems.length === 0) await recordVerified(engines.postgres.db, brand, heads, new Date());
  return {
    brand,
    result: problems.length === 0 ? 'ok' : 'WRONG',
    entries,
    hash,
    seal,
    problems,
    ...(notes.length > 0 && { notes }),
  };
}

async function rebuild(engines: FigureEngines, brands: readonly string[]): Promise<BrandResult[]> {
  const entryCounts = await rebuildTogether(engines, brands);
  return brands.map((brand) => ({ brand, result: 'ok', entries: entryCounts.get(brand) ?? 0, problems: [] }));
}

export function ledgerCommands(program: Command): void {
  const ledger = program.command('ledger').description('the ledger and its figures');
  ledger
    .command('verify')
    .description(
      'verify that no entry and no row that decides a payment was edited, and that ClickHouse agrees; prints entries, last hash and last seal; exits with 1 if something is wrong',
    )
    .option(BRAND, 'only this brand')
    .option('--all', 'read everything again, not only what came after the last verification without a problem')
    .addOption(jsonOption())
    .action((options: VerifyOptions) =>
      withFigures((engines) =>
        eachBrand(engines, options, ['brand', 'result', 'entries', 'hash', 'seal'], (brandIds) =>
          Promise.all(brandIds.map((brandId) => verify(engines, brandId, options.all !== true))),
        ),
      ),
    );
  ledger
    .command('rebuild')
    .description("rebuild a brand's figures from PostgreSQL's ledger and the clicks; prints the number of entries")
    .option(BRAND, 'only this brand')
    .addOption(jsonOption())
    .action((options: VerifyOptions) =>
      withFigures((engines) =>
        eachBrand(engines, options, ['brand', 'entries'], (brandIds) => rebuild(engines, brandIds), REBUILT_TOGETHER),
      ),
    );
}
