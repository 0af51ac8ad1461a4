import { PHONE } from '../../harness/affiliates/clicks.ts';
import { wasActive } from './attribution.ts';
import { orderDeliveries, refundDeliveries, type StoreDelivery } from './deliveries.ts';
import { Undecided } from './door.ts';
import type { Act, Change, ClickRef, CodeRef } from './history.ts';
import { DAY_MS } from './history.ts';
import { hearDispute, hearOrder, hearRefunds, keyOf, type OracleLink, type Reported } from './model.ts';
import { heard } from './paying.ts';
import { advanceNow, batchNow, payNow, recordNow } from './payouts.ts';
import { reviewNow } from './reviews.ts';
import { storyNow } from './stories.ts';
import { pick, type StoredOrder, type World } from './world.ts';

type Of<Name extends Act['act']> = Extract<Act, { act: Name }>;

const BOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
const DESKTOP = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
const AGENTS = { mobile: PHONE, desktop: DESKTOP, bot: BOT } as const;
const COUNTRIES = ['DE', 'US', '', 'FR'] as const;
const REFERRERS = ['l.instagram.com', '', 'www.tiktok.com'] as const;
/** Longer than a link is remembered, also on a machine that is busy. */
const STALE_MS = 10_000;

/** Whether the redirect may answer by what a link was a moment ago. */
const isFreshlySwitched = ({ switchedAt }: World, link: OracleLink) =>
  performance.now() - (switchedAt.get(link) ?? Number.NEGATIVE_INFINITY) < STALE_MS;

async function clickNow(world: World, { link: which, kind, repeats }: Of<'click'>, now: number): Promise<void> {
  const link = pick([...world.slugs.keys()], which);
  if (!link) return;
  world.counter += 1;
  const country = COUNTRIES[world.counter % COUNTRIES.length] ?? '';
  const referrer = REFERRERS[world.counter % REFERRERS.length] ?? '';
  const device = kind === 'bot' ? 'bot' : world.counter % 5 === 0 ? 'desktop' : 'mobile';
  // Nobody else has this agent on this link, so nobody else is this visitor.
  const agent = `${AGENTS[device]} Phone/${world.counter}`;
  const headers = {
    'user-agent': agent,
    ...(kind === 'prefetch' ? { 'sec-purpose': 'prefetch' } : {}),
    ...(country === '' ? {} : { 'cf-ipcountry': country }),
    ...(referrer === '' ? {} : { referer: `https://${referrer}/p/1` }),
  };
  let isRepeat = false;
  for (let time = 0; time <= repeats; time += 1) {
    const answer = await world.door.click(world.slugs.get(link) ?? '', headers, kind === 'head' ? 'HEAD' : 'GET');
    if (answer.status === 503 || answer.headers.has('x-click-recorded')) throw new Undecided();
    const isTaken = answer.status === 302;
    if (!isFreshlySwitched(world, link) && isTaken !== wasActive(link, now)) {
      throw new Error(`A link that is ${isTaken ? 'off' : 'on'} answered ${answer.status}.`);
    }
    if (!isTaken) continue;
    const isCounted = kind === 'counted' && !isRepeat;
    world.oracle.clicks.push({
      ...{ id: answer.clickId.slice(0, 24), token: answer.clickId, link, at: now, isCounted },
      ...{ kind: kind === 'counted' && isRepeat ? 'repeat' : kind, country, device, referrer },
    });
    isRepeat = true;
  }
}

function codeOf({ oracle }: World, ref: CodeRef): string {
  const codes = oracle.links.filter(({ type }) => type === 'discount_code');
  const value = ref === 'unknown' ? undefined : pick(codes, ref.link)?.value;
  if (ref === 'unknown' || value === undefined) return 'NOBODYS';
  return ref.isLower ? value.toLowerCase() : value;
}

/** The clicks that an order carries; of two of one moment the first, for which of them is the last nobody can say. */
function tokensOf({ oracle, foreign }: World, refs: readonly ClickRef[]): string[] {
  const taken = new Set<number>();
  return refs.flatMap((ref) => {
    if (ref === 'foreign') return [foreign];
    if (ref === 'forged') return [`${foreign.slice(0, -1)}${foreign.endsWith('x') ? 'y' : 'x'}`];
    const click = pick(oracle.clicks, ref.click);
    if (!click || taken.has(click.at)) return [];
    taken.add(click.at);
    return [click.token];
  });
}

/** The moment that an order is near: the end of its first click's window, or its first code's last switch. */
function edgeOf({ oracle }: World, codes: readonly string[], tokens: readonly string[], now: number): number {
  const click = oracle.clicks.find(({ token }) => token === tokens[0]);
  if (click?.link) return click.at + click.link.attributionDays * DAY_MS;
  const link = oracle.links.find(({ type, value }) => type === 'discount_code' && value === codes[0]?.toUpperCase());
  return link?.states.at(-1)?.at ?? now;
}

/** A time of the order's own: of two orders one is always the older. */
function placedAt(world: World, placed: Of<'place'>['placed'], edge: number, now: number): number {
  let at = 'agoMs' in placed ? now - placed.agoMs : edge + placed.edgeMs;
  while (world.usedTimes.has(at)) at += 1;
  world.usedTimes.add(at);
  return at;
}

/** Stores are shared by all worlds, and some name orders by numbers. */
let lastOrder = 1_000;
function nextOrderId(): string {
  lastOrder += 1;
  return String(lastOrder);
}

async function placeNow(world: World, act: Of<'place'>, now: number): Promise<void> {
  const codes = [...new Set(act.codes.map((ref) => codeOf(world, ref)))];
  const tokens = tokensOf(world, act.clicks);
  const customer = act.customer === 'creator' ? world.counter % world.emails.length : null;
  world.counter += 1;
  const version: Reported = {
    ...{
      store: act.store % world.stores.length,
      orderId: nextOrderId(),
      currency: act.currency ?? world.oracle.currency,
      baseMinor: act.baseMinor,
    },
    ...{
      occurredAt: placedAt(world, act.placed, edgeOf(world, codes, tokens, now), now),
      paidAt: act.isPaid ? now : null,
      cancelledAt: null,
    },
    ...{ updatedAt: now, customer, codes, tokens, refunds: [], dispute: null },
    ...{ isTest: act.isTest, isRenewal: act.isRenewal },
  };
  const other = act.customer === 'other' ? `c${world.counter}@shop.example` : null;
  const order = { versions: [version], email: customer === null ? other : (world.emails[customer] ?? null) };
  world.orders.push(order);
  if (act.isReported) await reportOrder(world, order, version);
}

/** Each delivery reaches the app, and then the oracle hears what its store says by it. */
async function send({ door, oracle }: World, reported: Reported, deliveries: readonly StoreDelivery[]): Promise<void> {
  const key = keyOf(reported.store, reported.orderId);
  for (const one of deliveries) {
    await door.report(reported.store, one.topic, one.body, reported.updatedAt);
    heard(oracle, reported, () => {
      if (one.kind === 'order') hearOrder(oracle, one.heard);
      else if (one.kind === 'refund') hearRefunds(oracle, key, one.heard);
      else hearDispute(oracle, key, one.heard);
    });
  }
}

const storeOf = ({ stores }: World, { store }: Reported) => {
  const found = stores[store];
  if (!found) throw new Error('It is of no store.');
  return found;
};

const reportOrder = (world: World, { email }: StoredOrder, reported: Reported): Promise<void> =>
  send(world, reported, orderDeliveries(storeOf(world, reported), reported, email));

const reportRefunds = (world: World, reported: Reported): Promise<void> =>
  send(world, reported, refundDeliveries(storeOf(world, reported).provider, reported));

/** The order's next version; undefined when it cannot change so. */
function changed(world: World, { versions }: StoredOrder, change: Change, now: number): Reported | undefined {
  const last = versions.at(-1);
  if (!last) return undefined;
  const next = { ...last, updatedAt: Math.max(now, last.updatedAt + 1) };
  if (change.what === 'pay') return last.paidAt === null && !last.cancelledAt ? { ...next, paidAt: now } : undefined;
  if (change.what === 'cancel') return last.cancelledAt === null ? { ...next, cancelledAt: now } : undefined;
  if (change.what === 'base') return { ...next, baseMinor: change.baseMinor };
  if (change.what === 'takeBack') {
    const gone = pick(last.refunds, change.refund);
    return gone && { ...next, refunds: last.refunds.filter((refund) => refund !== gone) };
  }
  if (change.what === 'dispute') return { ...next, dispute: { status: change.status, at: next.updatedAt } };
  if (change.what === 'candidates') {
    const codes = change.codes.map((ref) => codeOf(world, ref));
    const tokens = tokensOf(world, change.clicks);
    return {
      ...next,
      codes: [...new Set([...last.codes, ...codes])],
      tokens: [...new Set([...last.tokens, ...tokens])],
    };
  }
  if (change.what !== 'refund') return next;
  const id = `r${(versions.length * 7) % 10}-${versions.length}`;
  const amountMinor = Math.ceil(last.baseMinor * change.share);
  return {
    ...next,
    refunds: [...last.refunds, { id, amountMinor, at: now - change.agoMs, createdAt: next.updatedAt }],
  };
}

const reviewOf = ({ oracle }: World, { versions: [first] }: StoredOrder) =>
  first && oracle.orders.get(keyOf(first.store, first.orderId))?.commission?.review;

async function changeNow(world: World, act: Of<'change'>, now: number): Promise<void> {
  const { order: which, of, change, report } = act;
  const such = world.orders.filter((one) => reviewOf(world, one) === of);
  const order = pick(such.length > 0 ? such : world.orders, which);
  const next = order && changed(world, order, change, now);
  if (!next) return;
  order.versions.push(next);
  if (report === 'order') await reportOrder(world, order, next);
  if (report === 'refund') await reportRefunds(world, next);
}

async function reportNow(world: World, { order: which, version, how, times }: Of<'tell'>): Promise<void> {
  const order = pick(world.orders, which);
  const reported = order && pick(order.versions, version);
  if (!order || !reported) return;
  for (let time = 0; time < times; time += 1) {
    if (how === 'order') await reportOrder(world, order, reported);
    else await reportRefunds(world, reported);
  }
}

async function rateNow({ door, oracle }: World, { link: which, ratePpm }: Of<'rate'>): Promise<void> {
  const link = pick(oracle.links, which);
  if (!link) return;
  await door.ask('PATCH', `/v1/affiliates/links/${link.id}`, { commission_rate: ratePpm / 10_000 });
  link.ratePpm = ratePpm;
}

async function renewalsNow({ door, oracle }: World, { link: which, pays }: Of<'renewals'>): Promise<void> {
  const link = pick(oracle.links, which);
  if (!link) return;
  await door.ask('PATCH', `/v1/affiliates/links/${link.id}`, { pays_renewals: pays });
  link.paysRenewals = pays;
}

async function switchNow(world: World, { link: which, active, isDelete }: Of<'switch'>, now: number): Promise<void> {
  const link = pick(world.oracle.links, which);
  if (!link) return;
  const path = `/v1/affiliates/links/${link.id}`;
  if (!active && isDelete) await world.door.ask('DELETE', path);
  else await world.door.ask('PATCH', path, { active });
  link.states.push({ at: now, active });
  world.switchedAt.set(link, performance.now());
}

/** Does it to the app, and then to the oracle. */
export async function perform(world: World, act: Act, now: number): Promise<void> {
  if (act.act === 'click') await clickNow(world, act, now);
  else if (act.act === 'place') await placeNow(world, act, now);
  else if (act.act === 'change') await changeNow(world, act, now);
  else if (act.act === 'tell') await reportNow(world, act);
  else if (act.act === 'rate') await rateNow(world, act);
  else if (act.act === 'renewals') await renewalsNow(world, act);
  else if (act.act === 'switch') await switchNow(world, act, now);
  else if (act.act === 'review') await reviewNow(world, act, now);
  else if (act.act === 'record') await recordNow(world, act, now);
  else if (act.act === 'pay') await payNow(world, act, now);
  else if (act.act === 'batch') await batchNow(world, act, now);
  else if (act.act === 'story') await storyNow(world, act, now, perform);
  else await advanceNow(world, act, now);
}
