import type { Command } from 'commander';
import { listBrands } from '../../figures/rollups/queries.ts';
import { listLedgerBrands } from '../../ledger/queries.ts';
import { rebuildFigures } from '../../ledger/rebuild.ts';
import { verifyLedger } from '../../ledger/verify.ts';
import { getBrand } from './brands.ts';
import { type FigureEngines, withFigures } from './open.ts';

const BRAND = '--brand <id or name>';

/** The brand that was named, or every one that has a ledger or figures. */
async function brandsOf({ postgres, clickhouse }: FigureEngines, name: string | undefined): Promise<string[]> {
  if (name !== undefined) return [(await getBrand(postgres.db, name)).id];
  const [ledgers, figures] = await Promise.all([listLedgerBrands(postgres.db), listBrands(clickhouse)]);
  return [...new Set([...ledgers, ...figures])].sort();
}

/** Works on every brand that was asked for. One that fails is reported, and the others go on. */
async function eachBrand(
  engines: FigureEngines,
  name: string | undefined,
  work: (brandId: string) => Promise<void>,
): Promise<void> {
  for (const brandId of await brandsOf(engines, name)) {
    await work(brandId).catch((error: unknown) => {
      process.exitCode = 1;
      const why = String(error instanceof Error ? error.message : error).replaceAll(/\s+/g, ' ');
      process.stdout.write(`${brandId}\tFAILED\n${brandId}\t  ${why}\n`);
    });
  }
}

/** A line a brand, and one for each thing that is wrong with it. */
async function verify(engines: FigureEngines, brandId: string): Promise<void> {
  const { entries, hash, problems } = await verifyLedger(engines, brandId);
  const result = problems.length === 0 ? 'ok' : 'WRONG';
  process.stdout.write(`${brandId}\t${result}\t${entries}\t${hash}\n`);
  for (const problem of problems) process.stdout.write(`${brandId}\t  ${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}

export function ledgerCommands(program: Command): void {
  const ledger = program.command('ledger').description('the ledger and its figures');
  ledger
    .command('verify')
    .description(
      'prove that no entry was edited, and that commissions, payouts and ClickHouse agree; prints entries and last hash, exits 1 if not',
    )
    .option(BRAND, 'only this brand')
    .action(({ brand }: { brand?: string }) =>
      withFigures((engines) => eachBrand(engines, brand, (brandId) => verify(engines, brandId))),
    );
  ledger
    .command('rebuild')
    .description("fold a brand's figures again, from PostgreSQL's ledger and the clicks; prints its entries")
    .option(BRAND, 'only this brand')
    .action(({ brand }: { brand?: string }) =>
      withFigures((engines) =>
        eachBrand(engines, brand, async (brandId) => {
          process.stdout.write(`${brandId}\t${await rebuildFigures(engines, brandId)}\n`);
        }),
      ),
    );
}
