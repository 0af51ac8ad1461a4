import type { Command } from 'commander';
import { listBrands } from '../resources/figures/rollups/queries.ts';
import { listLedgerBrands } from '../resources/ledger/queries.ts';
import { rebuildFigures } from '../resources/ledger/rebuild.ts';
import { verifyLedger } from '../resources/ledger/verify.ts';
import { getBrand } from './brands.ts';
import { type FigureEngines, withFigures } from './open.ts';

const BRAND = '--brand <id or name>';

/** The brand that was named, or every one that has a ledger or figures. */
async function brandsOf({ postgres, clickhouse }: FigureEngines, name: string | undefined): Promise<string[]> {
  if (name !== undefined) return [(await getBrand(postgres.db, name)).id];
  const [ledgers, figures] = await Promise.all([listLedgerBrands(postgres.db), listBrands(clickhouse)]);
  return [...new Set([...ledgers, ...figures])].sort();
}

/** A line a brand, and one for each thing that is wrong with it. */
async function verify(engines: FigureEngines, brandId: string): Promise<boolean> {
  const { entries, hash, problems } = await verifyLedger(engines, brandId);
  const verdict = problems.length === 0 ? 'ok' : 'WRONG';
  process.stdout.write(`${brandId}\t${verdict}\t${entries}\t${hash}\n`);
  for (const problem of problems) process.stdout.write(`${brandId}\t  ${problem}\n`);
  return problems.length === 0;
}

export function ledgerCommands(program: Command): void {
  const ledger = program.command('ledger').description('the ledger and its figures');
  ledger
    .command('verify')
    .description(
      'prove that no entry was edited and that ClickHouse agrees; prints entries and last hash, exits 1 if not',
    )
    .option(BRAND, 'only this brand')
    .action((options: { brand?: string }) =>
      withFigures(async (engines) => {
        for (const brandId of await brandsOf(engines, options.brand)) {
          if (!(await verify(engines, brandId))) process.exitCode = 1;
        }
      }),
    );
  ledger
    .command('rebuild')
    .description("fold a brand's figures again, from PostgreSQL's ledger and the clicks; prints its entries")
    .option(BRAND, 'only this brand')
    .action((options: { brand?: string }) =>
      withFigures(async (engines) => {
        for (const brandId of await brandsOf(engines, options.brand)) {
          process.stdout.write(`${brandId}\t${await rebuildFigures(engines, brandId)}\n`);
        }
      }),
    );
}
