import type { OrderKind } from '../../workflow/terms/terms.shapes.ts';

/** The subscription that an order belongs to, as far as its store names it. */
export interface SubscriptionFacts {
  kind: OrderKind;
  subscriptionId: string | null;
  /** The subscription that a customer who subscribed again had before. */
  previousSubscriptionId: string | null;
}

/** An attribute or a piece of metadata, as its store reports it. */
export interface NamedValue {
  name: string;
  value: unknown;
}

const fold = (tag: string): string =>
  tag
    .toLowerCase()
    .split(/[\s_-]+/)
    .join(' ')
    .trim();

/** The words of a tag or of an attribute's name, whatever separates them: `Subscription: 3`, `subscriptionContractId`. */
const toWords = (text: string): string =>
  text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .join(' ')
    .trim();

/** The word that apps put beside `first`, `recurring` and their like, or the name of those that do not. */
const SUBSCRIPTION_WORDS =
  /\b(?:subscriptions?|appstle|firmhouse|inveterate|kaching|ordergroove|recharge|skio|smartrr)\b/;
const RENEWAL_WORDS = /\b(?:recurring|rebill|renewal)\b/;
const FIRST_WORDS = /\b(?:first|initial|new|signup)\b/;
/** Tags that say all by themselves, and those that do beside one of a subscription. Ordergroove has its own words. */
const RENEWAL_TAG =
  /^ordergroove subscription order$|\b(?:recurring|rebill|renewal) order\b|\bprepaid (?:fulfillment|origin) order\b/;
const BESIDE_RENEWAL_TAG = /^(?:auto(?:matic)? ?renew(?:al|ed)|(?:recurring|rebill|renewal)(?: (?:charge|payment))?)$/;
const FIRST_TAG = /^ordergroove trigger order$/;
/** The first of the recurring orders, as Bold calls the order that starts a subscription. Firmhouse so calls its first renewal. */
const FIRST_RECURRING_TAG = /^(?!firmhouse\b)(?:.* )?first recurring order$/;
const BESIDE_FIRST_TAG = /^(?:first|initial)(?: (?:charge|order|payment))?$/;
/** The number of an order in its subscription, from 1. */
const NUMBER_TAG = /^(?:skio )?subscription order (?:number )?(\d{1,3})$/;
/** Written with a sign, so that it is no name of a plan and no id: `Subscription #2`. */
const SIGNED_NUMBER_TAG = /^\s*(?:\p{L}+\s+)?subscription(?:\s+order)?\s*#\s*(\d{1,2})\s*$/iu;
/** Marks the order that charges a prepaid subscription as well, so that it tells no delivery. */
const PREPAID_CHARGE_TAG = 'ordergroove prepaid order';

/** Reads what the tags of apps say. They tell renewals more reliably than first orders, and both than numbers. */
function readTags(written: readonly string[]): { isRenewal: boolean; isFirst: boolean; isPrepaid: boolean } {
  const allTags = written.map(toWords);
  const tags = allTags.filter((tag) => !FIRST_RECURRING_TAG.test(tag));
  const isSubscription = allTags.some((tag) => SUBSCRIPTION_WORDS.test(tag));
  const has = (words: RegExp, alone: RegExp, beside: RegExp) =>
    tags.some(
      (tag) =>
        alone.test(tag) || (SUBSCRIPTION_WORDS.test(tag) && words.test(tag)) || (isSubscription && beside.test(tag)),
    );
  const isRenewal = has(RENEWAL_WORDS, RENEWAL_TAG, BESIDE_RENEWAL_TAG);
  const isFirst = tags.length < allTags.length || has(FIRST_WORDS, FIRST_TAG, BESIDE_FIRST_TAG);
  const isPrepaid = tags.some((tag) => tag !== PREPAID_CHARGE_TAG && /\bprepaid\b/.test(tag));
  if (isRenewal || isFirst) return { isRenewal, isFirst, isPrepaid };
  const ofOrders = tags.flatMap((tag) => NUMBER_TAG.exec(tag)?.[1] ?? []);
  const numbers = [...ofOrders, ...written.flatMap((tag) => SIGNED_NUMBER_TAG.exec(tag)?.[1] ?? [])].map(Number);
  return { isRenewal: numbers.some((number) => number > 1), isFirst: numbers.includes(1), isPrepaid };
}

/** Names of attributes, of an order or of its lines, in which apps keep their subscription. */
const SUBSCRIPTION_ID = /\bsubscription (?:contract |public )?id$/;

/** An id of a store as text, also of the first of a list or of a list in JSON; null for anything else. */
function readId(value: unknown): string | null {
  if (Array.isArray(value)) return readId(value[0]);
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 0 ? String(value) : null;
  if (typeof value !== 'string') return null;
  const [id = ''] = value.split(/[[\]",\s]+/).filter((part) => part !== '');
  // Shopify's API names a contract by an address, its webhooks by the number at the end of it.
  const bare = id.replace(/^gid:\/\/shopify\/\w+\//, '');
  return bare === '' || bare.length > 200 ? null : bare;
}

export interface ShopifySigns {
  tags: readonly string[];
  sourceName: string | null;
  /** Of the order, and then of its lines. */
  attributes: readonly NamedValue[];
  /** The brand's own words for the tags of its store. */
  renewalTags: readonly string[];
  firstTags: readonly string[];
}

/**
 * Reads the kind of an order from its tags and source, as Shopify's webhooks say nothing else of subscriptions. Prepaid
 * deliveries repeat the tag of the charge, so that `Prepaid` beside any of them makes an order a delivery.
 */
export function readShopifyKind(signs: ShopifySigns): SubscriptionFacts {
  const { sourceName, attributes } = signs;
  const foldedTags = signs.tags.map(fold);
  const hasOwn = (own: readonly string[]) => own.some((word) => fold(word) !== '' && foldedTags.includes(fold(word)));
  const [isOwnRenewal, isOwnFirst] = [hasOwn(signs.renewalTags), hasOwn(signs.firstTags)];
  const tagSigns = readTags(signs.tags);
  const isContract = sourceName?.startsWith('subscription_contract') ?? false;
  const isRenewal = isOwnRenewal || (!isOwnFirst && (tagSigns.isRenewal || isContract));
  const isFirst = isOwnFirst || tagSigns.isFirst;
  const id = attributes.find(({ name, value }) => SUBSCRIPTION_ID.test(toWords(name)) && readId(value) !== null)?.value;
  return {
    kind: isRenewal || (isFirst && tagSigns.isPrepaid) ? 'renewal' : isFirst ? 'first' : 'once',
    subscriptionId: readId(id),
    previousSubscriptionId: null,
  };
}

/** The subscription that an order renews; one that the customer renewed early may have the second mark alone. */
const RENEWED = ['_subscription_renewal', '_subscription_renewal_early'];

/** Marks of renewals that other plugins write than the one by WooCommerce, with where they keep the subscription. */
const PLUGINS = [
  { renewed: 'is_a_renew', subscription: 'subscriptions' },
  { renewed: 'wps_sfw_renewal_order', subscription: 'wps_sfw_subscription' },
] as const;

export interface WooSigns {
  meta: readonly NamedValue[];
  createdVia: string | null;
}

/** Reads the kind of a WooCommerce order from its metadata. Of several subscriptions the first listed counts. */
export function readWooKind({ meta, createdVia }: WooSigns): SubscriptionFacts {
  const find = (name: string) => meta.find((one) => one.name === name);
  const findId = (name: string) =>
    meta.flatMap((one) => (one.name === name ? [readId(one.value)] : [])).find((id) => id !== null) ?? null;
  const none = { previousSubscriptionId: null };
  const renewal = RENEWED.find((name) => find(name));
  if (renewal) return { kind: 'renewal', subscriptionId: findId(renewal), ...none };
  const plugin = PLUGINS.find(({ renewed }) => String(find(renewed)?.value).toLowerCase() === 'yes');
  if (plugin) return { kind: 'renewal', subscriptionId: findId(plugin.subscription), ...none };
  if (find('_subscription_switch')) {
    return { kind: 'upgrade', subscriptionId: findId('_subscription_switch'), ...none };
  }
  if (find('_subscription_resubscribe')) {
    // The value is the subscription that was cancelled: the order starts another one.
    const previousSubscriptionId = findId('_subscription_resubscribe');
    return { kind: 'resubscribe', subscriptionId: null, previousSubscriptionId };
  }
  const subscriptionId = findId('subscriptions') ?? findId('wps_sfw_subscription');
  return { kind: createdVia === 'subscription' ? 'renewal' : 'once', subscriptionId, ...none };
}

export interface GenericSigns {
  kind: OrderKind | null;
  isRenewal: boolean;
  subscriptionId: string | null;
  previousSubscriptionId: string | null;
}

/** The kind that a brand's own store reports; `is_renewal` is how it did before there were kinds. */
export function readGenericKind({ kind, isRenewal, ...ids }: GenericSigns): SubscriptionFacts {
  return { kind: kind ?? (isRenewal ? 'renewal' : 'once'), ...ids };
}
