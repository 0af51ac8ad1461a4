import { type Command, InvalidArgumentError, Option } from 'commander';
import { DEMO_NAME } from '../../affiliates/sample/brand.ts';
import { findSampleBrand } from '../../affiliates/sample/sample.ts';
import type { KeyKind } from '../../kit/access/keys/callers.ts';
import {
  PLAN_NAMES,
  type PlanName,
  SUBSCRIPTION_STATUSES,
  type SubscriptionStatus,
} from '../../kit/access/keys/limits.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { BrandPatch, toBrand } from '../../platform/brands/brands.api.ts';
import {
  createBrand,
  findBrand,
  getBrand as getBrandRow,
  listBrandPlans,
  listSubscriptions,
  setPlan,
  setStorageLimit,
  setSuspended,
} from '../../platform/brands/brands.ts';
import { listKeys } from '../../platform/keys/keys.ts';
import { sumStorage } from '../../workflow/assets/uploads.ts';
import { brandOption, filled, wholeNumber } from './arguments.ts';
import { around } from './around.ts';
import { type CommandEngines, withEngines } from './open.ts';
import { jsonOption, printList } from './table.ts';

/** The brands that an error names. */
const NAMED = 10;

/** Finds a brand by id or name. `demo` is also the brand of the sample, whatever its name is. */
async function findNamed(db: Db, idOrName: string) {
  const brand = await findBrand(db, idOrName);
  return brand ?? (idOrName.toLowerCase() === DEMO_NAME ? await findSampleBrand(db) : undefined);
}

/** The named brand; without a name the only one. */
export async function getBrand(db: Db, idOrName: string | undefined): Promise<{ id: string; name: string }> {
  const brand = idOrName === undefined ? undefined : await findNamed(db, idOrName);
  if (brand) return brand;
  const brands = new Map((await listBrandPlans(db)).map(({ id, name }) => [id, name]));
  const [only, ...others] = brands;
  if (!only) throw new Error('There is no brand yet; create one with `brand create <name>`.');
  if (idOrName === undefined && others.length === 0) return { id: only[0], name: only[1] };
  const names = [...brands.values()].slice(0, NAMED).map((name) => JSON.stringify(name));
  const more = brands.size > NAMED ? ` and ${brands.size - NAMED} more` : '';
  const existing = `${others.length === 0 ? 'There is one brand' : `There are ${brands.size} brands`}: ${names.join(', ')}${more}.`;
  if (idOrName !== undefined)
    throw new Error(`No brand ${JSON.stringify(idOrName)}; give its id or name.\n${existing}`);
  throw new Error(`${existing}\nSay which one with --brand.`);
}

const planOption = () => new Option('--plan <plan>', 'the plan').choices(PLAN_NAMES);
const statusOption = () => new Option('--status <status>', 'the subscription status').choices(SUBSCRIPTION_STATUSES);

/** Validates by the API's own rule for a brand's name. */
function brandName(value: string): string {
  const name = BrandPatch.shape.name.safeParse(filled(value)).data;
  if (name === undefined) throw new InvalidArgumentError('must have at most 200 characters.');
  return name;
}

const GIGABYTE = 1_000_000_000;

interface PlanOptions {
  brand?: string;
  plan?: PlanName;
  status?: SubscriptionStatus;
  credits?: number;
  kind?: KeyKind;
  storageGb?: number;
}

const COLUMNS = ['id', 'name', 'brand_plan', 'data_plan', 'created_at'] as const;

/** One line per brand, although its subscriptions are two rows. */
async function list({ db }: CommandEngines, json: boolean | undefined): Promise<void> {
  const items = new Map<string, Record<(typeof COLUMNS)[number], string | null>>();
  for (const { id, name, createdAt, kind, plan, status } of await listBrandPlans(db)) {
    const created_at = createdAt.toISOString();
    const item = items.get(id) ?? { id, name, brand_plan: null, data_plan: null, created_at };
    if (kind) item[`${kind}_plan`] = `${plan} (${status})`;
    items.set(id, item);
  }
  printList(COLUMNS, [...items.values()], json);
}

async function show({ db }: CommandEngines, idOrName: string, json: boolean | undefined): Promise<void> {
  const { id } = await getBrand(db, idOrName);
  const brand = toBrand(await getBrandRow(db, id));
  const subscriptions = (await listSubscriptions(db, id)).map(({ anchorAt, monthlyCredits, ...subscription }) => ({
    ...subscription,
    monthly_credits: monthlyCredits,
    anchor_at: anchorAt.toISOString(),
  }));
  const row = await getBrandRow(db, id);
  const limits = {
    suspended_at: row.suspendedAt?.toISOString() ?? null,
    storage_bytes: await sumStorage(db, id),
    max_storage_bytes: row.maxStorageBytes === null ? null : Number(row.maxStorageBytes),
  };
  const keys = (await listKeys(db, id)).filter(({ revokedAt }) => revokedAt === null).length;
  if (json) {
    around().out.write(`${JSON.stringify({ ...brand, ...limits, subscriptions, keys }, null, 2)}\n`);
    return;
  }
  const { settings, ...facts } = brand;
  const lines = Object.entries({ ...facts, ...settings, ...limits, keys }).map(
    ([name, value]) => `${name}\t${value ?? '-'}\n`,
  );
  around().out.write(lines.join(''));
  printList(['id', 'kind', 'plan', 'status', 'monthly_credits', 'anchor_at'], subscriptions, false);
}

export function brandCommands(program: Command): void {
  const brands = program.command('brand').description('brands');
  brands
    .command('list')
    .description('every brand with its plans, newest first')
    .addOption(jsonOption())
    .action(({ json }: { json?: boolean }) => withEngines((engines) => list(engines, json)));
  brands
    .command('show')
    .description('a brand, its settings and its subscriptions')
    .argument('<id or name>', 'the brand', filled)
    .option('--json', 'as JSON')
    .action((idOrName: string, { json }: { json?: boolean }) =>
      withEngines((engines) => show(engines, idOrName, json)),
    );
  brands
    .command('create')
    .description('create a brand with its subscriptions; prints its id')
    .argument('<name>', 'unique among all brands', brandName)
    .addOption(planOption().default('starter'))
    .addOption(statusOption().default('active'))
    .action((name: string, options: { plan: PlanName; status: SubscriptionStatus }) =>
      withEngines(async ({ db, clock }) => {
        if (await findBrand(db, name)) throw new Error(`A brand ${JSON.stringify(name)} already exists.`);
        around().out.write(`${await createBrand(db, clock, { name, ...options })}\n`);
      }),
    );
  for (const [name, isSuspended, description] of [
    ['suspend', true, "refuse a brand's keys and sessions, and send nothing for it; its short links keep working"],
    ['resume', false, 'let a suspended brand work again'],
  ] as const) {
    brands
      .command(name)
      .description(description)
      .argument('<id or name>', 'the brand', filled)
      .action((idOrName: string) =>
        withEngines(async (engines) => {
          const brand = await getBrand(engines.db, idOrName);
          const isChanged = await setSuspended(engines, brand.id, isSuspended);
          around().err.write(
            `${brand.name} ${isChanged ? 'is' : 'was already'} ${isSuspended ? 'suspended' : 'at work'}.\n`,
          );
        }),
      );
  }
  program
    .command('plan')
    .description('plans')
    .command('set')
    .description('set the plan of a brand, its storage, or both; every process applies it within a second')
    .addOption(brandOption())
    .addOption(planOption())
    .addOption(statusOption())
    .option(
      '--credits <number>',
      "credits a month in place of the plan's; negotiated credits stay until the plan changes",
      wholeNumber(0, 999_999_999),
    )
    .addOption(new Option('--kind <kind>', 'only one of its two subscriptions').choices(['brand', 'data']))
    .option(
      '--storage-gb <number>',
      'the most that its files may have together; 0: no limit',
      wholeNumber(0, 1_000_000),
    )
    .action((options: PlanOptions, command: Command) => {
      const { plan, storageGb, status, credits } = options;
      if (plan === undefined && (storageGb === undefined || status !== undefined || credits !== undefined)) {
        command.error("error: missing option '--plan <plan>'; only --storage-gb goes without it");
      }
      return withEngines(async (engines) => {
        const brand = await getBrand(engines.db, options.brand);
        if (storageGb !== undefined) {
          await setStorageLimit(engines.db, brand.id, storageGb === 0 ? null : storageGb * GIGABYTE);
        }
        if (plan === undefined) return;
        const change = { plan, status, monthlyCredits: credits };
        for (const subscription of await listSubscriptions(engines.db, brand.id)) {
          if (options.kind && options.kind !== subscription.kind) continue;
          await setPlan(engines, subscription.id, change);
          around().out.write(`${subscription.id}\n`);
        }
      });
    });
}
