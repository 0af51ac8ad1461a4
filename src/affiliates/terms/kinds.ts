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

/** The word that apps put beside `first`, `recurring` and their like, or the name of those that do not. */
const SUBSCRIPTION_WORDS = /\b(?:subscription|firmhouse|inveterate)\b/;
const RENEWAL_WORDS = /\b(?:recurring|rebill|renewal)\b/;
const FIRST_WORDS = /\bfirst\b/;
/** The one tag of a first order without any of these words. */
const INVETERATE_FIRST = 'inveterate signup';

const isRenewalTag = (tag: string) => SUBSCRIPTION_WORDS.test(tag) && RENEWAL_WORDS.test(tag);
const isFirstTag = (tag: string) => tag === INVETERATE_FIRST || (SUBSCRIPTION_WORDS.test(tag) && FIRST_WORDS.test(tag));

const FIRMHOUSE_ID = 'firmhouse-subscription-id';

/** An id of a store as text, also of the first of a list or of a list in JSON; null for anything else. */
function readId(value: unknown): string | null {
  if (Array.isArray(value)) return readId(value[0]);
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 0 ? String(value) : null;
  if (typeof value !== 'string') return null;
  const [id = ''] = value.split(/[[\]",\s]+/).filter((part) => part !== '');
  return id === '' || id.length > 200 ? null : id;
}

export interface ShopifySigns {
  tags: readonly string[];
  sourceName: string | null;
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
  const tags = signs.tags.map(fold).filter((tag) => tag !== '');
  const [renewalTags, firstTags] = [signs.renewalTags.map(fold), signs.firstTags.map(fold)];
  const isFrom = (words: readonly string[]) => tags.some((tag) => words.includes(tag));
  const isRenewal =
    isFrom(renewalTags) ||
    (!isFrom(firstTags) && (tags.some(isRenewalTag) || /^subscription_contract/.test(sourceName ?? '')));
  const isFirst = isFrom(firstTags) || tags.some(isFirstTag);
  const isDelivery = isFirst && tags.some((tag) => /\bprepaid\b/.test(tag));
  const id = attributes.find(({ name }) => name.toLowerCase() === FIRMHOUSE_ID)?.value;
  return {
    kind: isRenewal || isDelivery ? 'renewal' : isFirst ? 'first' : 'once',
    subscriptionId: readId(id),
    previousSubscriptionId: null,
  };
}

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
  if (find('_subscription_renewal')) {
    return { kind: 'renewal', subscriptionId: findId('_subscription_renewal'), ...none };
  }
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
