import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { listForcedProblems } from '../../directory/search/forced-filters.ts';
import { refreshAccess } from '../../kit/access/credits/access.ts';
import type { KeyKind } from '../../kit/access/keys/callers.ts';
import { hashKey } from '../../kit/access/keys/key-form.ts';
import { inWork } from '../../kit/operation/work.ts';
import { DAY_MS, DURATION_FORM, durationText, HOUR_MS, readDuration } from '../../kit/values/duration.ts';
import { notFound, validationError } from '../../kit/values/errors.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { toProblems } from '../../kit/values/problems.ts';
import { TimeText } from '../../kit/values/time.ts';
import { LimitsPatch } from '../../platform/keys/keys.api.ts';
import { createApiKey, findKey, listKeys, patchApiKey, revokeKey, rotateApiKey } from '../../platform/keys/keys.ts';
import { brandOption, filled } from './arguments.ts';
import { around } from './around.ts';
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

const formatTime = (at: Date | null) => at?.toISOString() ?? null;

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
  const newKey = await inWork(db, clock, actor, (work) => rotateApiKey(work, old.id, overlapMs / HOUR_MS));
  await refreshAccess(engines, [old.subscriptionId]);
  around().out.write(`${newKey.key}\n`);
  const ends = overlapMs === 0 ? 'no longer works' : `works for another ${durationText(overlapMs)}`;
  around().err.write(`${newKey.id}: save the key, it is not shown again. ${old.id} ${ends}.\n`);
}

const whole = (value: string) => {
  if (!/^\d{1,10}$/.test(value)) throw new InvalidArgumentError('must be a whole number.');
  return Number(value);
};
const texts = (value: string) => value.split(',').map((one) => one.trim());
const wholes = (value: string) => texts(value).map(whole);

/** `country=US`, given once for each filter. */
function filter(value: string, others: Record<string, string> = {}): Record<string, string> {
  const [, name, text] = /^(\w+)=(.+)$/s.exec(value) ?? [];
  if (name === undefined || text === undefined) throw new InvalidArgumentError('must be name=value.');
  return { ...others, [name]: text };
}

interface LimitOptions {
  monthlyCredits?: number;
  dailyCredits?: number;
  callsPerMinute?: number;
  forcedFilter?: Record<string, string>;
  allowedAddresses?: string[];
  alertAt?: number[];
}

const withLimits = (command: Command): Command =>
  command
    .option('--monthly-credits <n>', 'most credits in a billing period', whole)
    .option('--daily-credits <n>', 'most credits in a UTC day', whole)
    .option('--calls-per-minute <n>', 'most calls in 60 seconds, at most 100', whole)
    .option('--forced-filter <name=value>', 'a search filter that always applies to the key; may be repeated', filter)
    .option('--allowed-addresses <list>', 'addresses and networks that it may be used from, separated by commas', texts)
    .option('--alert-at <list>', 'percentages at which owners get a mail, such as 80,100', wholes);

/** The limits that the options name. Throws if one is invalid. */
function limitsIn(options: LimitOptions): LimitsPatch {
  const { monthlyCredits, dailyCredits, callsPerMinute, forcedFilter, allowedAddresses, alertAt } = options;
  const limits = {
    monthly_credits: monthlyCredits,
    daily_credits: dailyCredits,
    calls_per_minute: callsPerMinute,
    forced_filters: forcedFilter,
    allowed_addresses: allowedAddresses,
    alert_at: alertAt,
  };
  const parsed = LimitsPatch.safeParse(limits, { reportInput: true });
  if (parsed.success) return omitUndefined(parsed.data);
  throw validationError(toProblems(parsed));
}

const NAMES = Object.keys(LimitsPatch.shape).map((name) => name.replaceAll('_', '-'));

/** Names of limits to remove, as a patch. */
function removed(value: string): LimitsPatch {
  const names = texts(value);
  const unknown = names.find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new InvalidArgumentError(`must name limits (${NAMES.join(', ')}); got ${unknown}.`);
  return LimitsPatch.parse(Object.fromEntries(names.map((name) => [name.replaceAll('-', '_'), null])));
}

async function limit(engines: CommandEngines, keyOrId: string, limits: LimitsPatch): Promise<void> {
  const { db, clock } = engines;
  const key = await findKey(db, keyOrId.startsWith('svk_') ? { hash: hashKey(keyOrId) } : { id: keyOrId });
  if (!key) throw notFound('API key');
  const actor = { brandId: key.brandId, keyId: null, operation: 'update_key', requestId: null };
  const row = await inWork(db, clock, actor, (work) => patchApiKey(work, key.id, { limits }, listForcedProblems));
  await refreshAccess(engines, [key.subscriptionId]);
  around().out.write(`${JSON.stringify(row.limits)}\n`);
}

/** A key is never an argument, because every process on the machine can read those and shells store them. */
async function idOrKey(requested: string): Promise<string> {
  if (/^sv[ks]_/.test(requested)) throw new Error("Give the key's id, or - and the key itself on stdin.");
  return requested === '-' ? (await text(around().input)).trim() : requested;
}

export function keyCommands(program: Command): void {
  const key = program.command('key').description('API keys');
  withLimits(key.command('create'))
    .description('create a key; prints it once')
    .addOption(brandOption())
    .addOption(
      new Option('--type <type>', 'which operations the key may call').choices(['brand', 'data']).makeOptionMandatory(),
    )
    .option('--name <name>', 'the name in lists', filled, 'key')
    .option('--expires <time>', 'when it expires', time)
    .action((options: { brand?: string; type: KeyKind; name: string; expires?: Date } & LimitOptions) =>
      withEngines(async ({ db, clock }) => {
        const brand = await getBrand(db, options.brand);
        const { name, type, expires: expires_at } = options;
        const actor = { brandId: brand.id, keyId: null, operation: 'create_key', requestId: null };
        const newKey = await inWork(db, clock, actor, (work) =>
          createApiKey(work, { name, type, expires_at, limits: limitsIn(options) }, listForcedProblems),
        );
        around().out.write(`${newKey.key}\n`);
        around().err.write(`${newKey.id}: save the key, it is not shown again.\n`);
      }),
    );
  withLimits(key.command('limit'))
    .description('set limits of a key, which apply from its next call on; prints all of them')
    .argument('<id>', "the key's id, or - to read the id or the key itself from stdin", filled)
    .option('--remove <list>', `limits to remove, separated by commas: ${NAMES.join(', ')}`, removed)
    .action((requested: string, options: LimitOptions & { remove?: LimitsPatch }) =>
      withEngines(async (engines) =>
        limit(engines, await idOrKey(requested), { ...options.remove, ...limitsIn(options) }),
      ),
    );
  key
    .command('list')
    .description('the keys of a brand')
    .addOption(brandOption())
    .addOption(jsonOption())
    .action((options: { brand?: string; json?: boolean }) =>
      withEngines(async ({ db }) => {
        const brand = await getBrand(db, options.brand);
        const items = (await listKeys(db, brand.id)).map((row) => ({
          id: row.id,
          type: row.kind,
          key: `${row.firstCharacters}…${row.lastCharacters}`,
          name: row.name,
          created_at: formatTime(row.createdAt),
          expires_at: formatTime(row.expiresAt),
          state: row.revokedAt ? `revoked ${formatTime(row.revokedAt)}` : `used ${formatTime(row.lastUsedAt) ?? '-'}`,
        }));
        printList(COLUMNS, items, options.json);
      }),
    );
  key
    .command('rotate')
    .description('replace a key by a new one with the same brand, type and name; prints it once')
    .argument('<id>', "the old key's id, or - to read the id or the key itself from stdin", filled)
    .addOption(
      new Option('--overlap <duration>', 'how long the old key still works, at most 30d, such as 12h or 7d')
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
        around().out.write(`${await revokeKey(engines, await idOrKey(requested))}\n`);
      }),
    );
}
