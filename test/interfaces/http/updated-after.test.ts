import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, startApp, type TestApp, unique } from '../../harness/app.ts';
import { openWorkDesk, type WorkDesk } from '../../harness/workflow/work.ts';

type Item = Answer['body'];

const LISTS = [
  ...[
    'roster',
    'creators',
    'campaigns',
    'deliverables',
    'contracts',
    'briefs',
    'shipments',
    'messages',
    'affiliates/links',
  ],
  ...['groups', 'customers', 'commissions', 'orders', 'payouts', 'statements'],
];
/** Figures, of which the documentation says that they are no change of an item. */
const FIGURES = new Set([
  ...['revenue', 'conversions', 'clicks', 'commission_total', 'total_sold', 'total_earned', 'performance', 'budget'],
  ...['conversion_rate', 'creators_count', 'stats'],
]);

const idOf = (item: Item): string => item.id ?? item.conversation_id;

describe('updated_after', () => {
  let app: TestApp;
  let desk: WorkDesk;
  let campaign: string;
  let group: string;
  let entry: string;
  /** Another entry of the same person. */
  let double: string;
  let link: Item;
  let order: Item;
  let payout: Item;
  let contract: string;
  const subscription = unique('sub');
  const now = () => new Date().toISOString();

  beforeAll(async () => {
    app = await startApp();
    desk = await openWorkDesk(app);
    campaign = desk.campaign;
    [{ id: entry }] = await desk.read(`/v1/roster?search=${encodeURIComponent(desk.creator)}`);
    group = (await made('/v1/groups', { name: 'Inner circle', terms: { rate: { percent: 12 } } })).id;
    const assignment = { creator_email: desk.creator, value: unique('CODE'), hold_days: 0, campaign_id: campaign };
    link = await made('/v1/affiliates/links', assignment);
  });
  afterAll(() => app?.close());

  async function made(path: string, body: object): Promise<Item> {
    const answer = await desk.post(path, body);
    expect(answer.body.error, path).toBeUndefined();
    return answer.body.data;
  }

  async function read(since = ''): Promise<Map<string, Map<string, Item>>> {
    const query = since === '' ? '' : `&updated_after=${since}`;
    const lists = LISTS.map(async (name) => {
      const items: Item[] = await desk.read(`/v1/${name}?limit=100${query}`);
      return [name, new Map(items.map((item) => [idOf(item), item]))] as const;
    });
    return new Map(await Promise.all(lists));
  }

  /** What each change shows where, as `list: field`, and the lists that did not return it. */
  async function follow(change: () => Promise<Item>): Promise<{ shown: string[]; missed: string[] }> {
    const before = await read();
    const since = now();
    // Times have milliseconds: the change must not be in the one that `since` names.
    await new Promise((resolve) => setTimeout(resolve, 5));
    await change();
    const [after, updated] = [await read(), await read(since)];
    const shown = [...after].flatMap(([name, items]) =>
      [...items].flatMap(([id, item]) => {
        const old = before.get(name)?.get(id);
        const fields = Object.keys(item).filter((key) => !FIGURES.has(key));
        const changed = old === undefined ? [] : fields.filter((key) => !isSame(item[key], old[key]));
        return changed.map((key) => ({ name, id, key }));
      }),
    );
    const missed = shown.filter(({ name, id }) => updated.get(name)?.has(id) !== true);
    const say = ({ name, key }: { name: string; key: string }) => `${name}: ${key}`;
    return { shown: shown.map(say), missed: missed.map(say) };
  }
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

  const CHANGES: readonly [what: string, shows: string, change: () => Promise<Item>][] = [
    [
      'a creator who joins a group',
      'roster: group_id',
      () => made(`/v1/groups/${group}/creators`, { creator_emails: [desk.creator], links: 'inherit' }),
    ],
    [
      'terms of a group',
      'affiliates/links: commission_rate',
      () =>
        desk.send('PATCH', `/v1/groups/${group}`, {
          terms: { rate: { percent: 20 }, covers: 'subscription', payments: 6 },
        }),
    ],
    [
      'a sale with a code',
      '',
      async () => {
        const times = { placed_at: now(), paid_at: now() };
        const id = { source: 'shop', order_id: unique('o'), kind: 'first', subscription_id: subscription };
        const customer = { customer_email: `${unique('c')}@shop.example`, codes: [link.value] };
        const body = await made('/v1/orders', { ...id, ...times, ...customer, currency: 'USD', amount: 80 });
        [order] = await desk.read('/v1/orders');
        return body;
      },
    ],
    [
      'a refund',
      'orders: commission',
      () => made(`/v1/orders/${order.id}/refunds`, { refund_id: 'r1', amount: 10, at: now() }),
    ],
    [
      'an approval',
      'orders: status',
      () => desk.send('PATCH', `/v1/affiliates/commissions/${order.commission_id}`, { status: 'approved' }),
    ],
    [
      'a renewal',
      'customers: payments',
      () => {
        const id = { source: 'shop', order_id: unique('o'), kind: 'renewal', subscription_id: subscription };
        return made('/v1/orders', { ...id, placed_at: now(), paid_at: now(), currency: 'USD', amount: 50 });
      },
    ],
    [
      'a payout',
      'orders: status',
      async () => {
        payout = await made('/v1/payouts', {
          ...{ creator_email: desk.creator, amount: 14, method: 'wallet', wallet_email: 'w@wallet.example' },
        });
      },
    ],
    [
      'a payout that comes back',
      'orders: status',
      () => made(`/v1/payouts/${payout.id}/return`, { reason: 'bounced' }),
    ],
    [
      'a contract, a brief, a parcel, a message and a statement',
      '',
      async () => {
        const creator_email = desk.creator;
        const deliverables = [{ type: 'reel', platform: 'video_app', quantity: 1 }];
        const compensation = { type: 'fixed', amount: 5, currency: 'USD' };
        contract = (await made('/v1/contracts', { creator_email, title: 'Reel', compensation, deliverables })).id;
        await made('/v1/briefs', { title: 'Launch', creator_email, campaign_id: campaign });
        const other = `double-${creator_email}`;
        double = (await made('/v1/roster', { creator_email: other })).id;
        await made('/v1/briefs', { title: 'Again', creator_email: other, campaign_id: campaign });
        await made('/v1/shipments', { creator_email, product_description: 'Serum' });
        await made('/v1/messages', { creator_email, body: 'Hello' });
        await made('/v1/statements', { creator_email, from: '2026-01-01', to: now().slice(0, 10) });
      },
    ],
    [
      'the campaign of a contract',
      'deliverables: campaign_id',
      () => desk.send('PATCH', `/v1/contracts/${contract}`, { campaign_id: campaign }),
    ],
    [
      'another spelling of a code',
      'affiliates/links: value',
      () => desk.send('PATCH', `/v1/affiliates/links/${link.id}`, { value: unique('CODE') }),
    ],
    ['the name of a campaign', '', () => desk.send('PATCH', `/v1/campaigns/${campaign}`, { name: 'Renamed' })],
    [
      "a creator's address",
      'orders: creator_email',
      async () => {
        const creator_email = `new-${desk.creator}`;
        const answer = await desk.send('PATCH', `/v1/roster/${entry}`, { creator_email });
        desk.creator = creator_email;
        return answer;
      },
    ],
    [
      'a creator who is merged into another',
      'briefs: creator_email',
      () => desk.post(`/v1/roster/${double}/merge`, { into: entry }),
    ],
    [
      'a creator who leaves a group',
      'groups: creators',
      () => desk.send('DELETE', `/v1/groups/${group}/creators?creator_email=${encodeURIComponent(desk.creator)}`),
    ],
  ];

  it('returns each item that shows a change, also one of another item', async () => {
    for (const [what, shows, change] of CHANGES) {
      const { shown, missed } = await follow(change);
      if (shows !== '') expect(shown, what).toContain(shows);
      expect(missed, what).toEqual([]);
    }
  });
});
