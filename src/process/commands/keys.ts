import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { createKey, revokeKey } from '../../access/keys/actions.ts';
import { listKeys } from '../../access/keys/queries.ts';
import type { KeyKind } from '../../engines/postgres/tables.ts';
import { listSubscriptions } from '../../resources/brands/queries.ts';
import { TimeText } from '../../values/time.ts';
import { filled } from './arguments.ts';
import { getBrand } from './brands.ts';
import { withEngines } from './open.ts';

function time(value: string): Date {
  const at = new Date(value);
  if (!TimeText.safeParse(value).success) {
    throw new InvalidArgumentError('must be a date, or an ISO 8601 time with its offset.');
  }
  return at;
}

const shown = (at: Date | null) => at?.toISOString() ?? '-';

/** A key is never an argument: every process of the machine can read those, and shells keep them. */
async function idOrKey(asked: string): Promise<string> {
  if (/^sv[ks]_/.test(asked)) throw new Error('Give the id of the key, or - and the key itself on stdin.');
  return asked === '-' ? (await text(process.stdin)).trim() : asked;
}

export function keyCommands(program: Command): void {
  const key = program.command('key').description('API keys');
  key
    .command('create')
    .description('make a key; prints it, this once')
    .requiredOption('--brand <id or name>', 'the brand', filled)
    .addOption(new Option('--type <type>', 'what the key may call').choices(['brand', 'data']).makeOptionMandatory())
    .option('--name <name>', 'what lists call it', filled, 'key')
    .option('--expires <time>', 'when it ends', time)
    .action((options: { brand: string; type: KeyKind; name: string; expires?: Date }) =>
      withEngines(async ({ db, clock }) => {
        const brand = await getBrand(db, options.brand);
        const subscription = (await listSubscriptions(db, brand.id)).find(({ kind }) => kind === options.type);
        if (!subscription) throw new Error(`${brand.name} has no ${options.type} subscription.`);
        const made = await createKey(db, clock, {
          brandId: brand.id,
          subscriptionId: subscription.id,
          kind: options.type,
          name: options.name,
          ...(options.expires ? { expiresAt: options.expires } : {}),
        });
        process.stdout.write(`${made.key}\n`);
        process.stderr.write(`${made.id}: keep the key, it is not shown again.\n`);
      }),
    );
  key
    .command('list')
    .description('the keys of a brand')
    .requiredOption('--brand <id or name>', 'the brand', filled)
    .action((options: { brand: string }) =>
      withEngines(async ({ db }) => {
        const brand = await getBrand(db, options.brand);
        for (const row of await listKeys(db, brand.id)) {
          const state = row.revokedAt ? `revoked ${shown(row.revokedAt)}` : `used ${shown(row.lastUsedAt)}`;
          const columns = [
            row.id,
            row.kind,
            `${row.firstCharacters}…${row.lastCharacters}`,
            row.name,
            shown(row.createdAt),
            state,
          ];
          process.stdout.write(`${columns.join('\t')}\n`);
        }
      }),
    );
  key
    .command('revoke')
    .description('revoke a key; it stops within a second on every process; prints its id')
    .argument('<id>', "the key's id, as lists show it, or - to read the id or the key itself from stdin", filled)
    .action((asked: string) =>
      withEngines(async (engines) => {
        process.stdout.write(`${await revokeKey(engines, await idOrKey(asked))}\n`);
      }),
    );
}
