import { reconcileJob } from '../../affiliates/ledger/ledger.jobs.ts';
import { SAMPLE_BRAND } from '../../affiliates/sample/brand.ts';
import { endFilling } from '../../affiliates/sample/sample.ts';
import { syncLedger } from '../../analytics/figures/figures.jobs.ts';
import { COLUMNS } from '../../interfaces/links-host/row.ts';
import { findCaller } from '../../kit/access/keys/callers.ts';
import { hashKey } from '../../kit/access/keys/key-form.ts';
import { insertOnce } from '../../kit/engines/clickhouse/insert.ts';
import { openPostgres } from '../../kit/engines/postgres/open.ts';
import { sendDueMails } from '../../kit/mail/sender.ts';
import type { Context } from '../../kit/operation/context.ts';
import { MINUTE_MS } from '../../kit/values/duration.ts';
import { findBrand, patchBrand } from '../../platform/brands/brands.ts';
import { recordCalls } from './calls.ts';
import { APPLICANTS, addPeople, ON_ROSTER } from './campaigns.ts';
import { addCollaboration } from './collaboration.ts';
import { addContact } from './contact.ts';
import { addFiles } from './files.ts';
import { addMoney } from './money.ts';
import { openPast, type Past } from './past.ts';
import { drawPeople } from './people.ts';
import { mailFigures, reportsBegin } from './reports.ts';
import { addRights } from './rights.ts';
import { openSchedule, toBeginning } from './schedule.ts';
import { addSearches } from './searches.ts';
import { addStore } from './store.ts';
import { addWebhook, openReceiver, RECEIVER_HOST } from './webhook.ts';

/** Few, because each plans every statement again. */
const CONNECTIONS = 4;
const OPTIONS = '-c synchronous_commit=off -c plan_cache_mode=force_generic_plan';

/**
 * Commits do not wait for the disk: an unfinished sample is removed and filled again, and its last commit waits. A
 * statement is planned once, because the tables are empty at first, whatever its values are.
 */
function unawaitedUrl(postgresUrl: string): string {
  const url = new URL(postgresUrl);
  url.searchParams.set('options', OPTIONS);
  return url.href;
}

/** Gives the brand its name, unless another one has it, and the facts that its pages show. */
const introduce = ({ change }: Past) =>
  change('update_brand', async (work) => {
    const { name, logo, website, contactName, contactEmail, industry, description } = SAMPLE_BRAND;
    const isTaken = (await findBrand(work.db, name)) !== undefined;
    const facts = { logo, website, contact_name: contactName, contact_email: contactEmail, industry, description };
    await patchBrand(work, isTaken ? facts : { ...facts, name });
  });

/**
 * Fills a brand with ninety days of a store's life, through the product's own functions with a clock in the past. The
 * same for the same time. Run it before jobs start, which would act on the unfinished past at the present time.
 */
export async function fillSample(
  context: Context,
  { brandKey, postgresUrl }: { brandKey: string; postgresUrl: string },
): Promise<void> {
  const { postgres, clickhouse, clock } = context;
  const caller = await findCaller(postgres.db, hashKey(brandKey));
  if (!caller) throw new Error('The key of the brand is unknown.');
  const now = clock.now();
  const schedule = openSchedule(now);
  const people = drawPeople(ON_ROSTER + APPLICANTS);
  const ids = new Map<string, string>();
  const receiver = await openReceiver();
  const unawaitedPostgres = openPostgres(unawaitedUrl(postgresUrl), { max: CONNECTIONS, waitMs: MINUTE_MS });
  try {
    schedule.add(toBeginning(now), introduce, 'alone');
    addPeople(schedule, people, ids);
    addCollaboration(schedule, people, ids);
    addContact(schedule, people, ids);
    addMoney(schedule, people, ids);
    addWebhook(schedule, receiver, ids);
    const clicks = addStore(schedule, { people, ids, now });
    const open = (start = toBeginning(now)) =>
      openPast({ ...context, postgres: unawaitedPostgres }, caller, { start, receiver: RECEIVER_HOST });
    const mail = ({ context: past }: Past) => sendDueMails(past);
    for (let days = 85; days > 0; days -= 7) schedule.add(schedule.ago(days), mail, 'alone');
    schedule.add(schedule.ago(0, -0.9), mail, 'alone');
    addFiles(schedule, people);
    addRights(schedule, people);
    addSearches(schedule, caller);
    await schedule.perform({ people: open(), money: open(), alone: open() });
    // Its first pass only notes what is on its way. There are no figures yet, so the second one has nothing to compare.
    for (const _pass of [1, 2]) await reconcileJob.run(context);
    await Promise.all([
      insertOnce(clickhouse, 'clicks_v1', COLUMNS, clicks.join(''), `sample:${caller.brandId}:${now.getTime()}`),
      recordCalls({ ...context, postgres: unawaitedPostgres }, caller, now),
    ]);
    await syncLedger(context);
    await mailFigures(open(reportsBegin(now)), now);
    await endFilling(postgres.db, caller.brandId);
  } finally {
    await Promise.all([receiver.close(), unawaitedPostgres.close()]);
  }
}
