import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createKey } from '../access/keys/actions.ts';
import { hashKey } from '../access/keys/key-form.ts';
import { findCaller } from '../access/keys/queries.ts';
import { createSignInPath } from '../access/sessions/actions.ts';
import type { Context } from '../operation/context.ts';
import { createBrand } from '../resources/brands/actions.ts';
import { findBrand, listSubscriptions } from '../resources/brands/queries.ts';
import { ensurePersonToSignIn } from '../resources/people/actions.ts';

const BRAND = 'demo';
const OWNER = 'owner@demo.example';

export interface DemoKeys {
  brandKey: string;
  dataKey: string;
  /** Signs in to the web app, once. */
  signInUrl: string;
  /** Where the keys are stored, readable by the owner only. */
  file: string;
}

async function readKeys(file: string): Promise<Record<string, string>> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));
}

async function isValid(context: Context, key: string | undefined): Promise<boolean> {
  if (!key) return false;
  const caller = await findCaller(context.postgres.db, hashKey(key));
  return caller !== undefined && caller.revokedAt === null;
}

/** The brand `demo` with a key of each kind: created once, stored in `demo.env`, and created again if lost. */
export async function ensureDemo(context: Context, url: string): Promise<DemoKeys> {
  const { db } = context.postgres;
  const file = path.join(context.config.directory, 'demo.env');
  const kept = await readKeys(file);
  const brandId =
    (await findBrand(db, BRAND))?.id ??
    (await createBrand(db, context.clock, { name: BRAND, plan: 'growth', status: 'active' }));
  const subscriptions = await listSubscriptions(db, brandId);

  async function ensureKey(kind: 'brand' | 'data', key: string | undefined): Promise<string> {
    if (key && (await isValid(context, key))) return key;
    const subscriptionId = subscriptions.find((subscription) => subscription.kind === kind)?.id;
    if (!subscriptionId) throw new Error(`The brand ${BRAND} has no ${kind} subscription.`);
    return (await createKey(db, context.clock, { brandId, subscriptionId, kind, name: 'demo' })).key;
  }

  const brandKey = await ensureKey('brand', kept.ROLLCALL_BRAND_KEY);
  const dataKey = await ensureKey('data', kept.ROLLCALL_DATA_KEY);
  const { legacyUrl, linksUrl } = context.config;
  const legacy = `${legacyUrl ?? url}/api/v1`;
  const addresses = [`ROLLCALL_URL=${url}`, `ROLLCALL_LEGACY_URL=${legacy}`, `ROLLCALL_LINKS_URL=${linksUrl}`];
  const lines = [...addresses, `ROLLCALL_BRAND_KEY=${brandKey}`, `ROLLCALL_DATA_KEY=${dataKey}`, ''];
  await writeFile(file, lines.join('\n'), { mode: 0o600 });
  await chmod(file, 0o600);
  const engines = { db, redis: context.redis, clock: context.clock };
  const person = await ensurePersonToSignIn(engines, brandId, OWNER);
  const signInPath = await createSignInPath(db, context.clock.now(), { brandId, personId: person.id });
  return { brandKey, dataKey, file, signInUrl: `${url}${signInPath}` };
}
