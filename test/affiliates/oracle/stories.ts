import { wasActive } from './attribution.ts';
import { checkDue } from './due.ts';
import type { Act, Change, CodeRef } from './history.ts';
import { keyOf, type OracleLink, type OracleOrder, reviewOutcome, standings } from './model.ts';
import { pick, type StoredOrder, type World } from './world.ts';

type Story = Extract<Act, { act: 'story' }>;
type Perform = (world: World, act: Act, now: number) => Promise<void>;

/** What chance seldom brings together: each step is an act that a history may have anyway. */
interface Scene {
  world: World;
  link: OracleLink;
  perform(act: Act): Promise<void>;
  now: number;
}

const orderOf = ({ oracle }: World, { versions: [first] }: StoredOrder): OracleOrder | undefined =>
  first && oracle.orders.get(keyOf(first.store, first.orderId));

function codeOf({ world, link }: Scene): CodeRef {
  const codes = world.oracle.links.filter(({ type }) => type === 'discount_code');
  return { link: codes.indexOf(link), isLower: false };
}

const place = ({ link, perform }: Scene, baseMinor: number, codes: CodeRef[]) =>
  perform({
    ...{ act: 'place', store: link.store ?? 0, codes, clicks: [] },
    ...{ currency: null, baseMinor, placed: { agoMs: 0 }, isPaid: true, customer: 'other', isReported: true },
    ...{ isTest: false, isRenewal: false },
  });

/** A paid order of the link's code, whose commission is approved where nothing speaks against it. */
async function sell(scene: Scene, baseMinor: number): Promise<StoredOrder | undefined> {
  const { world, perform, now } = scene;
  await place(scene, baseMinor, [codeOf(scene)]);
  const placed = world.orders.at(-1);
  const movable = [...world.oracle.orders.values()].filter(
    (one) => one.commission && reviewOutcome(one, 'approved', now) === 'moves',
  );
  const which = movable.findIndex((one) => placed && one === orderOf(world, placed));
  if (which === -1) return undefined;
  await perform({ act: 'review', orders: [which], areMovable: true, status: 'approved', how: 'patch' });
  return placed;
}

const change = ({ world, perform }: Scene, order: StoredOrder, what: Change) =>
  perform({ act: 'change', order: world.orders.indexOf(order), of: 'any', change: what, report: 'order' });

const refund = (scene: Scene, order: StoredOrder, share: number) =>
  change(scene, order, { what: 'refund', share, agoMs: 0 });

/** A refund of what was paid is netted, and then the store takes it back. */
async function makeDueAgain(scene: Scene, { baseMinor, share, isPaid }: Story): Promise<void> {
  const { world, perform } = scene;
  const pay = () => perform({ act: 'batch', isWallet: false });
  const first = await sell(scene, baseMinor);
  if (!first) return;
  await pay();
  await refund(scene, first, share);
  await sell(scene, baseMinor);
  await pay();
  await change(scene, first, { what: 'takeBack', refund: (first.versions.at(-1)?.refunds.length ?? 1) - 1 });
  await checkDue(world);
  if (isPaid) await pay();
}

/** Money is paid on account, too little until a refund makes its commission smaller; a younger order follows. */
async function payOnAccount(scene: Scene, { baseMinor, share }: Story): Promise<void> {
  const { world, link, perform } = scene;
  const first = await sell(scene, baseMinor);
  const standing = first && standings(world.oracle).find(({ order }) => order === orderOf(world, first));
  if (!first || !standing) return;
  const amountMinor = Math.max(1, Math.ceil(standing.dueMinor / 2));
  await perform({
    ...{ act: 'advance', creator: link.creator, currency: world.oracle.currency, amountMinor },
    ...{ isWallet: true, isFee: false },
  });
  await refund(scene, first, share);
  await checkDue(world);
  await sell(scene, Math.ceil(baseMinor / 5));
  await checkDue(world);
}

/** An order pays nobody until its store names a code, and is reported again as it was. */
async function decideLater(scene: Scene, { baseMinor, share, isPaid }: Story): Promise<void> {
  const { world, perform } = scene;
  await place(scene, baseMinor, isPaid ? [] : ['unknown']);
  const placed = world.orders.at(-1);
  if (!placed) return;
  if (share > 0.5) await refund(scene, placed, share / 2);
  await change(scene, placed, { what: 'candidates', codes: [codeOf(scene)], clicks: [] });
  const again = { act: 'tell' as const, order: world.orders.indexOf(placed), how: 'order' as const };
  await perform({ ...again, version: 0, times: 1 });
  await perform({ ...again, version: placed.versions.length - 1, times: 2 });
}

/** A dispute is lost, before or after the commission is paid, and won again now and then. */
async function loseDispute(scene: Scene, { baseMinor, share, isPaid }: Story): Promise<void> {
  const { world, perform } = scene;
  const sold = await sell(scene, baseMinor);
  if (!sold) return;
  if (isPaid) await perform({ act: 'batch', isWallet: false });
  await change(scene, sold, { what: 'dispute', status: 'lost' });
  await checkDue(world);
  if (share <= 0.5) return;
  await change(scene, sold, { what: 'dispute', status: 'won' });
  await checkDue(world);
}

const STORIES = { dueAgain: makeDueAgain, onAccount: payOnAccount, decidedLater: decideLater, disputed: loseDispute };

export async function storyNow(world: World, story: Story, now: number, perform: Perform): Promise<void> {
  const links = world.oracle.links.filter(
    (link) => link.type === 'discount_code' && link.holdDays === 0 && wasActive(link, now),
  );
  const link = pick(links, story.link);
  if (!link) return;
  const scene = { world, link, now, perform: (act: Act) => perform(world, act, now) };
  await STORIES[story.what](scene, story);
}
