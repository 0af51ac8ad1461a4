import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { refreshAccess } from '../../access/credits/refresh.ts';
import { createKey, revokeKey } from '../../access/keys/actions.ts';
import { hashKey } from '../../access/keys/key-form.ts';
import { findKey, listKeys } from '../../access/keys/queries.ts';
import type { KeyKind } from '../../engines/postgres/tables.ts';
import { inWork } from '../../operation/work.ts';
import { listSubscriptions } from '../../resources/brands/queries.ts';
import { rotateApiKey } from '../../resources/keys/actions.ts';
import { DAY_MS, DURATION_FORM, durationText, HOUR_MS, readDuration } from '../../values/duration.ts';
import { notFound } from '../../values/errors.ts';
import { TimeText } from '../../values/time.ts';
import { filled } from './arguments.ts';
import { getBrand } from './brands.ts';
import { type CommandEngines, withEngines } from './open.ts';
import { jsonOption, printList } from './table.ts';

function time(value: string): Date {
  const at = new Date(value);
  if (!TimeText.safeParse(value).success) {
    throw new InvalidArgumentError('must be a date, or an ISO 8601 time with an offset.');
  }
  return at;
}

const shown = (at: Date | null) => at?.toISOString() ?? null;

const COLUMNS = ['id', 'type', 'key', 'name', 'created_at', 'expires_at', 'state'] as const;

const MOST_DAYS = 30;

function overlap(value: string): number {
  const ms = value === '0' ? 0 : readDuration(value);
  if (ms === undefined) throw new InvalidArgumentError(`must be a duration ${DURATION_FORM}, or 0.`);
  if (ms > MOST_DAYS * DAY_MS) throw new InvalidArgumentError(`must be at most ${MOST_DAYS}d.`);
  return ms;
}

async function rotate(engines: CommandEngines, keyOrId: string, overlapMs: number): Promise<void> {
  const { db, clock } = engines;
  const old = await findKey(db, keyOrId.startsWith('svk_') ? { hash: hashKey(keyOrId) } : { id: keyOrId });
  if (!old) throw notFound('API key');
  const actor = { brandId: old.brandId, keyId: null, operation: 'rotate_key', requestId: null };
  const made = await inWork(db, clock, actor, (work) => rotateApiKey(work, old.id, overlapMs / HOUR_MS));
  await refreshAccess(engines, [old.subscriptionId]);
  process.stdout.write(`${made.key}\n`);
  const ends = overlapMs === 0 ? 'no longer works' : `works for another ${durationText(overlapMs)}`;
  process.stderr.write(`${made.id}: save the key, it is not shown again. ${old.id} ${ends}.\n`);
}

/** A key is never an argument, because every process on the machine can read those and shells store them. */
async function idOrKey(requested: string): Promise<string> {
  if (/^sv[ks]_/.test(requested)) throw new Error("Give the key's id, or - and the key itself on stdin.");
  return requested === '-' ? (await text(process.stdin)).trim() : requested;
}

export function keyCommands(program: Command): void {
  const key = program.command('key').description('API keys');
  key
    .command('create')
    .description('create a key; prints it once')
    .requiredOption('--brand <id or name>', 'the brand', filled)
    .addOption(
      new Option('--type <type>', 'which operations the key may call').choices(['brand', 'data']).makeOptionMandatory(),
    )
    .option('--name <name>', 'the name in lists', filled, 'key')
    .option('--expires <time>', 'when it expires', time)
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
        process.stderr.write(`${made.id}: save the key, it is not shown again.\n`);
      }),
    );
  key
    .command('list')
    .description('the keys of a brand')
    .requiredOption('--brand <id or name>', 'the brand', filled)
    .addOption(jsonOption())
    .action((options: { brand: string; json?: boolean }) =>
      withEngines(async ({ db }) => {
        const brand = await getBrand(db, options.brand);
        const items = (await listKeys(db, brand.id)).map((row) => ({
          ...{ id: row.id, type: row.kind, key: `${row.firstCharacters}…${row.lastCharacters}`, name: row.name },
          ...{ created_at: shown(row.createdAt), expires_at: shown(row.expiresAt) },
          state: row.revokedAt ? `revoked ${shown(row.revokedAt)}` : `used ${shown(row.lastUsedAt) ?? '-'}`,
        }));
        printList(COLUMNS, items, options.json);
      }),
    );
  key
    .command('rotate')
    .description('replace a key by a new one with the same brand, type and name; prints it once')
    .argument('<id>', "the old key's id, or - to read the id or the key itself from stdin", filled)
    .addOption(
      new Option('--overlap <duration>', `how long the old key still works, ${DURATION_FORM}`)
        .argParser(overlap)
        .default(DAY_MS, '24h'),
    )
    .action((requested: string, options: { overlap: number }) =>
      withEngines(async (engines) => rotate(engines, await idOrKey(requested), options.overlap)),
    );
  key
    .command('revoke')
    .description('revoke a key; it stops working within a second on every process; prints its id')
    .argument('<id>', "the key's id, or - to read the id or the key itself from stdin", filled)
    .action((requested: string) =>
      withEngines(async (engines) => {
        process.stdout.write(`${await revokeKey(engines, await idOrKey(requested))}\n`);
      }),
    );
}
