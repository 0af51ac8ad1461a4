import { generateCreators } from '../../../src/directory/imports/indexing/sample.ts';
import { daysAgo, makeAssignment, orderFacts, report } from '../affiliates/sales.ts';
import {
  connectTestStore,
  deliver,
  signedDelivery,
  startStore,
  type TestStore,
  WEBHOOK_SECRET,
} from '../affiliates/store.ts';
import { sync } from '../analytics/figures.ts';
import { startApp, type TestApp, unique } from '../app.ts';
import { creator, putDirectory } from '../directory/directory.ts';
import { apply, BEHIND_PROXY } from '../workflow/applying.ts';
import { openWorkDesk, type WorkDesk } from '../workflow/work.ts';
import { fillBrand, fillWork } from '../workflow/worked-brand.ts';

const ANA = 'ana@example.com';
/** The first creators of the sample that `npm start` imports, and some whom a task looks for. */
const DIRECTORY = [
  ...generateCreators(500, 1),
  ...Array.from({ length: 6 }, (_, i) =>
    creator(10 + i, {
      ...{ username: `glow.la.${i}`, category: 'Beauty', city: 'Los Angeles', state: 'CA' },
      ...{ follower_count: 60_000 + i, engagement_rate: 2 + i },
    }),
  ),
];

export interface DemoBrand {
  app: TestApp;
  desk: WorkDesk;
  /** What `cmp_…` of an example or a task means; `tool cmp_…` where a tool needs another. Several in the order they stand. */
  ids: Record<string, string[]>;
  close(): Promise<void>;
}

/** Orders of Ana's, by id: one that nobody earned, one paid out, one to pay, one in review, one to approve, one refunded. */
async function sell({ context }: TestApp, desk: WorkDesk): Promise<void> {
  const { brand } = desk;
  const ana = await makeAssignment(context, brand, { email: ANA, name: 'Ana Ortiz', rate: 10, holdDays: 30 });
  const order = async (orderId: string, days: number, baseMinor: number, more: object = {}) => {
    await report(context, ana, orderFacts(daysAgo(days), { orderId, baseMinor, codes: [ana.code], ...more }));
    const [earned] = (await desk.read(`/v1/commissions?creator_email=${ANA}`)) ?? [];
    return earned?.id;
  };
  await order('1001', 5, 8_000, { codes: ['SPRING'] });
  const settled = [await order('1002', 70, 50_000), await order('1003', 60, 12_000)];
  await desk.post('/v1/commissions', { status: 'approved', event_ids: settled });
  const payout = await desk.post('/v1/payouts', { creator_email: ANA, amount: 50, method: 'bank_transfer' });
  await desk.send('PATCH', `/v1/payouts/${payout.body.data.id}`, { status: 'paid', reference: 'TX-1' });
  await order('1004', 2, 9_000);
  await order('1005', 50, 20_000);
  const at = daysAgo(40);
  const refunds = [{ refundId: 'r1', amountMinor: 7_000, at }];
  await order('1006', 45, 7_000, { refunds, hasAllRefunds: true, updatedAt: at });
}

/** The store sends an order that nobody earned; answers the store's id. */
async function sendOrder(app: TestApp, desk: WorkDesk, store: TestStore): Promise<string> {
  const id = await connectTestStore(app.context, desk.brand.id, store);
  const at = daysAgo(90);
  const order = { order_id: '1000', currency: 'USD', amount: '10.00', placed_at: at, paid_at: at, codes: [] };
  await deliver(app.url, 'generic', id, signedDelivery('generic', WEBHOOK_SECRET, 'order.paid', order));
  return id;
}

const READING = 'reading';

/** An import as a worker leaves it: read, or done. */
async function makeImport({ context }: TestApp, desk: WorkDesk, status: 'ready' | 'done'): Promise<string> {
  const text = 'email,name\neve@example.com,Eve\n';
  const { body } = await desk.post('/v1/imports', { of: 'roster', text });
  const now = context.clock.now();
  const ended = status === 'done' ? { confirmedAt: now, endedAt: now } : {};
  await context.postgres.db
    .updateTable('imports')
    .set({ status, readingId: READING, ...ended })
    .where('id', '=', body.data.id)
    .execute();
  return body.data.id;
}

async function idsOf(app: TestApp, desk: WorkDesk, store: string): Promise<Record<string, string[]>> {
  const made = async (path: string, body: object): Promise<string> => (await desk.post(path, body)).body.data.id;
  const found = async (path: string, field = 'id'): Promise<string[]> =>
    (await desk.read(path)).map((item: Record<string, string>) => item[field]);
  const draft = () => made('/v1/contracts', { creator_email: ANA, title: 'Autumn', deliverables: [{ type: 'reel' }] });
  const brief = () => made('/v1/briefs', { creator_email: ANA, title: 'Autumn' });
  const folder = () => made('/v1/assets/folders', { name: unique('Folder') });
  const page = await desk.post('/api/brand/shipments/share', { title: 'Parcels' });
  const hook = () => made('/v1/webhooks', { url: 'https://receiver.invalid/hooks', events: ['payout.created'] });
  const tested = await hook();
  await desk.post(`/v1/webhooks/${tested}/test`, {});
  const others = (await desk.read('/v1/roster')).filter(({ email }: { email: string }) => email !== ANA);
  const roster = others.map(({ id }: { id: string }) => id);
  const spare = async () => made('/v1/roster', { creator_email: `${unique('eve')}@example.com` });
  return {
    'rst_…': await found(`/v1/roster?creator_email=${ANA}`),
    'remove_from_roster rst_…': [await spare()],
    'merge_roster_creators rst_…': [await spare(), roster[0] ?? ''],
    'cmp_…': [desk.campaign],
    'app_…': await found('/v1/applications?status=pending'),
    'fld_…': [await folder()],
    'delete_asset_folder fld_…': [await folder()],
    'ast_…': await found('/v1/assets'),
    'dlv_…': await found('/v1/deliverables?status=submitted'),
    'ctr_…': [await draft()],
    'void_contract ctr_…': [await draft()],
    'get_contract_document ctr_…': await found('/v1/contracts?status=signed'),
    'brf_…': [await brief()],
    'delete_brief brf_…': [await brief()],
    'shp_…': await found('/v1/shipments'),
    'shs_…': [page.body.shareId],
    'cnt_…': await found('/v1/content'),
    'cnv_…': await found('/v1/messages', 'conversation_id'),
    'lnk_…': await found(`/v1/affiliates/links?creator_email=${ANA}`),
    'com_…': await found(`/v1/commissions?creator_email=${ANA}&approvable=true`),
    'pay_…': await found('/v1/payouts?settled=false'),
    'stm_…': await found('/v1/statements'),
    'dsp_…': await found('/v1/disputes'),
    'int_…': [store],
    'sdl_…': await found(`/v1/affiliates/integrations/${store}/deliveries`),
    'whk_…': [tested],
    'update_webhook whk_…': [await hook()],
    'delete_webhook whk_…': [await hook()],
    'whd_…': await found(`/v1/webhooks/${tested}/deliveries`),
    'lst_…': [await made('/v1/lists', { name: 'Contacted' })],
    'ssr_…': [await made('/v1/saved-searches', { name: 'Food', filters: { category: 'Food' }, shared: true })],
    'imp_…': [await makeImport(app, desk, 'ready')],
    'confirm_import imp_…': [await makeImport(app, desk, 'ready')],
    'rdg_…': [READING],
    'undo_import imp_…': [await makeImport(app, desk, 'done')],
    'delete_import imp_…': [await makeImport(app, desk, 'ready')],
    'pln_…': await found('/v1/plans'),
  };
}

/** The brand of the manual with something of each kind and the sample directory. */
export async function openDemoBrand(): Promise<DemoBrand> {
  const alias = unique('demo');
  const app = await startApp({ alias, env: BEHIND_PROXY });
  await putDirectory(app.context.elastic, alias, DIRECTORY);
  const store = await startStore('generic');
  const desk = await openWorkDesk(app, ANA);
  await fillWork(app, desk);
  await fillBrand(app, desk, store);
  await sell(app, desk);
  const storeId = await sendOrder(app, desk, store);
  await apply(app, desk.campaign, { email: 'cy@mail.example', name: 'Cy Young', message: 'I run every day.' });
  await sync(app, desk.brand.id);
  const close = async () => {
    await store.close();
    await app.close();
  };
  return { app, desk, ids: await idsOf(app, desk, storeId), close };
}

/** Arguments as they are printed, with the demo brand's own ids. */
export function withIds({ ids }: DemoBrand, tool: string, printed: string): Record<string, unknown> {
  const turns = new Map<string, number>();
  const text = printed.replace(/"([a-z]{2,4}_…)"/g, (_whole, kind: string) => {
    const turn = turns.get(kind) ?? 0;
    turns.set(kind, turn + 1);
    const id = (ids[`${tool} ${kind}`] ?? ids[kind])?.[turn];
    if (!id) throw new Error(`The demo brand has no ${kind} for ${tool}.`);
    return JSON.stringify(id);
  });
  return JSON.parse(text);
}
