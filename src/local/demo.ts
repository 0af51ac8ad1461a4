import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DEMO_NAME, SAMPLE_BRAND } from '../affiliates/sample/brand.ts';
import { findSampleBrand, removeFigures, removeSample, setSample } from '../affiliates/sample/sample.ts';
import { findCaller } from '../kit/access/keys/callers.ts';
import { hashKey } from '../kit/access/keys/key-form.ts';
import type { Context } from '../kit/operation/context.ts';
import { inWork } from '../kit/operation/work.ts';
import { type BrandRow, createBrand, findBrand, getBrand, listSubscriptions } from '../platform/brands/brands.ts';
import { createKey } from '../platform/keys/keys.ts';
import { ensurePersonToSignIn, listOwners } from '../platform/people/people.ts';
import { createSignInPath } from '../platform/people/sessions.ts';
import { fillSample } from './sample-brand/fill.ts';
import { toBeginning } from './sample-brand/schedule.ts';
import { step } from './terminal.ts';

const OWNER = 'owner@demo.example';

export interface DemoKeys {
  brandKey: string;
  dataKey: string;
  /** Signs in to the web app, once. */
  signInUrl: string;
  /** The address of the person whom the link signs in, who can have another mailed. */
  owner: string;
  /** The folder of mails that are not sent. */
  mails: string | undefined;
  /** The file with the keys, readable by the owner only. */
  file: string;
  brandId: string;
  sample: BrandRow['sample'];
  /** Made by this start. */
  isNew: boolean;
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

/** A brand that was made by an earlier release, or with --empty, never gets a sample. */
async function createDemo({ postgres: { db }, clock }: Context, isEmpty: boolean): Promise<string> {
  // The sample's calls are of its own months, so that what they cost is in the period that is shown.
  const madeAt = isEmpty ? clock.now() : toBeginning(clock.now());
  const brandId = await createBrand(db, { now: () => madeAt }, { name: DEMO_NAME, plan: 'growth', status: 'active' });
  if (!isEmpty) await setSample(db, brandId, 'filling');
  return brandId;
}

/**
 * Finds the brand by a key of `demo.env`, because a person may have renamed it. Without its keys, it is the brand of the
 * sample or one of the names that this file gives.
 */
async function findDemo({ postgres: { db } }: Context, keys: Record<string, string>): Promise<string | undefined> {
  for (const key of [keys.ROLLCALL_BRAND_KEY, keys.ROLLCALL_DATA_KEY]) {
    const caller = key ? await findCaller(db, hashKey(key)) : undefined;
    if (caller) return caller.brandId;
  }
  const brand =
    (await findSampleBrand(db)) ?? (await findBrand(db, DEMO_NAME)) ?? (await findBrand(db, SAMPLE_BRAND.name));
  return brand?.id;
}

/** The demo brand with a key of each kind: created once, stored in `demo.env`, and created again if lost. */
export async function ensureDemo(context: Context, url: string, { isEmpty }: { isEmpty: boolean }): Promise<DemoKeys> {
  const { db } = context.postgres;
  const file = path.join(context.config.directory, 'demo.env');
  const storedKeys = await readKeys(file);
  const existingId = await findDemo(context, storedKeys);
  const brandId = existingId ?? (await createDemo(context, isEmpty));
  const subscriptions = await listSubscriptions(db, brandId);
  const { sample } = await getBrand(db, brandId);
  const now = context.clock.now();
  // The sample's own calls are made with the keys.
  const madeAt = sample === 'filling' ? toBeginning(now) : now;

  async function ensureKey(kind: 'brand' | 'data', key: string | undefined): Promise<string> {
    if (key && (await isValid(context, key))) return key;
    const subscriptionId = subscriptions.find((subscription) => subscription.kind === kind)?.id;
    if (!subscriptionId) throw new Error(`The demo brand has no ${kind} subscription.`);
    const request = { brandId, subscriptionId, kind, name: `demo, ${kind}` };
    return (await createKey(db, { now: () => madeAt }, request)).key;
  }

  const brandKey = await ensureKey('brand', storedKeys.ROLLCALL_BRAND_KEY);
  const dataKey = await ensureKey('data', storedKeys.ROLLCALL_DATA_KEY);
  const { legacyUrl, linksUrl } = context.config;
  const legacy = `${legacyUrl ?? url}/api/v1`;
  const addresses = [`ROLLCALL_URL=${url}`, `ROLLCALL_LEGACY_URL=${legacy}`, `ROLLCALL_LINKS_URL=${linksUrl}`];
  const lines = [...addresses, `ROLLCALL_BRAND_KEY=${brandKey}`, `ROLLCALL_DATA_KEY=${dataKey}`, ''];
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, lines.join('\n'), { mode: 0o600 });
  await rename(draft, file);
  const engines = { db, redis: context.redis, clock: context.clock };
  // The first owner may have handed over to somebody else.
  const hasOwner = (await listOwners(db, brandId)).length > 0;
  const person = await ensurePersonToSignIn(engines, brandId, hasOwner ? undefined : OWNER);
  const signInPath = await createSignInPath(db, now, { brandId, personId: person.id });
  const mails = context.config.smtpUrl === undefined ? path.join(context.config.directory, 'mail') : undefined;
  const signIn = { signInUrl: `${url}${signInPath}`, owner: person.email, mails };
  return { brandId, brandKey, dataKey, file, sample, isNew: existingId === undefined, ...signIn };
}

async function removeDemo(context: Context, { brandId }: DemoKeys): Promise<void> {
  const actor = { brandId, keyId: null, operation: 'remove_sample', requestId: null };
  await inWork(context.postgres.db, context.clock, actor, removeSample);
}

/** Starts over if an earlier start was interrupted while it filled the brand. */
async function fill(context: Context, demo: DemoKeys, postgresUrl: string): Promise<void> {
  if (!demo.isNew) {
    await removeDemo(context, demo);
    await removeFigures(context);
    await setSample(context.postgres.db, demo.brandId, 'filling');
  }
  await fillSample(context, { brandKey: demo.brandKey, postgresUrl });
}

interface SampleOptions {
  isEmpty: boolean;
  isEnding: () => boolean;
  report: (line: string) => void;
  postgresUrl: string;
}

/** Fills the brand at its first start, or removes its sample where none is wanted. A failure is reported, and passes by. */
export async function ensureSampleBrand(
  context: Context,
  demo: DemoKeys,
  { isEmpty, isEnding, report, postgresUrl }: SampleOptions,
): Promise<void> {
  const { sample } = demo;
  try {
    if (isEmpty && (sample === 'filled' || sample === 'filling')) {
      await step('Removing the sample of the demo brand', () => removeDemo(context, demo));
    } else if (sample === 'filling') {
      await step('Filling the demo brand with a sample of 90 days', () => fill(context, demo, postgresUrl));
    }
  } catch (error) {
    if (isEnding()) return;
    context.log.error({ err: error }, 'the sample of the demo brand is not finished');
    report(`The demo brand has no sample: ${error instanceof Error ? error.message : String(error)}`);
  }
}
