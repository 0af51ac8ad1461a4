import { describe, expect, it } from 'vitest';
import { readGenericKind, readShopifyKind, readWooKind } from '../../src/affiliates/terms/kinds.ts';

const shopify = (tags: string, more: Partial<Parameters<typeof readShopifyKind>[0]> = {}) =>
  readShopifyKind({
    tags: tags.split(','),
    sourceName: 'web',
    attributes: [],
    renewalTags: [],
    firstTags: [],
    ...more,
  });

it('A subscription is the same by its number and by its address in Shopify’s API', () => {
  const attributes = [{ name: 'subscription_contract_id', value: 'gid://shopify/SubscriptionContract/900' }];
  expect(shopify('Subscription First Order', { attributes }).subscriptionId).toBe('900');
});

describe('the kind of a Shopify order', () => {
  it.each([
    ['Subscription First Order', 'first'],
    ['appstle_subscription_first_order', 'first'],
    ['Kaching Subscription First Order', 'first'],
    ['Firmhouse-First-Order', 'first'],
    ['inveterate-signup', 'first'],
    ['Subscription Recurring Order', 'renewal'],
    ['appstle_subscription_recurring_order', 'renewal'],
    ['manual_subscription_recurring_order', 'renewal'],
    ['Kaching Subscription Recurring Order', 'renewal'],
    ['Firmhouse-Recurring-Order', 'renewal'],
    ['inveterate-rebill', 'renewal'],
    ['SUBSCRIPTION-RENEWAL', 'renewal'],
    ['vip, Subscription  Recurring_Order', 'renewal'],
    ['Subscription First Order, Prepaid', 'renewal'],
    ['Subscription Recurring Order, Prepaid', 'renewal'],
    ['Skio Subscription Recurring Order, Subscription Order: 3', 'renewal'],
    ['Subscription Order: 3', 'renewal'],
    ['Subscription Order: 1', 'first'],
    ['Subscription First Order, Subscription Order: 10', 'first'],
    ['Subscription, Subscription First Order', 'first'],
    ['Ordergroove Trigger Order', 'first'],
    ['Ordergroove Subscription Order', 'renewal'],
    ['Ordergroove Trigger Order, Ordergroove Prepaid Order', 'first'],
    ['Ordergroove Subscription Order, Ordergroove Prepaid Order', 'renewal'],
    ['Prepaid Fulfillment Order, prepaid-origin-order=1001', 'renewal'],
    ['Firmhouse-First-Recurring-Order', 'renewal'],
    ['First Recurring Order, Bold Subscriptions', 'first'],
    ['Bold Subscriptions: First Recurring Order', 'first'],
    ['First Recurring Order, Prepaid', 'renewal'],
    ['First Recurring Order, Recurring Order', 'renewal'],
    ['Subscription #2', 'renewal'],
    ['Loop Subscription Order #12', 'renewal'],
    ['Subscription #1', 'first'],
    ['Subscription 2', 'once'],
    ['Subscription #48121', 'once'],
    ['Auto renewal, Prive Subscription', 'renewal'],
    ['auto-renewal', 'once'],
    ['inveterate-purchase', 'once'],
    ['Subscription order, Initial order', 'first'],
    ['Subscription order, Recurring order', 'renewal'],
    ['Subscription order, Subscription renewal 2', 'renewal'],
    ['Seal Subscriptions, recurring', 'renewal'],
    ['Loop Subscriptions: Recurring Order', 'renewal'],
    ['loop_subscriptions_first_order', 'first'],
    ['Bold Recurring Order', 'renewal'],
    ['SubscriptionRecurringOrder', 'renewal'],
    ['recurring subscription', 'renewal'],
    ['first time subscription', 'first'],
    ['Recurring customer, Subscription First Order', 'first'],
    ['first order, Subscription Recurring Order', 'renewal'],
    ['Active Subscriber', 'once'],
    ['Prepaid', 'once'],
    ['Subscription', 'once'],
    ['first order', 'once'],
    ['Recurring customer', 'once'],
    ['nonsubscription-recurringly', 'once'],
    ['', 'once'],
  ])('with the tags "%s" is %s.', (tags, kind) => {
    expect(shopify(tags).kind).toBe(kind);
  });

  it('follows its source, and the words of its brand before all others.', () => {
    expect(shopify('', { sourceName: 'subscription_contract_checkout_one' }).kind).toBe('renewal');
    expect(shopify('', { sourceName: 'subscription_contract' }).kind).toBe('renewal');
    expect(shopify('', { sourceName: null }).kind).toBe('once');
    const own = { renewalTags: ['Abo Verlängerung'], firstTags: ['Abo_Start'] };
    expect(shopify('abo-verlängerung', own).kind).toBe('renewal');
    expect(shopify('ABO START', own).kind).toBe('first');
    expect(shopify('abo start, prepaid', own).kind).toBe('renewal');
    expect(shopify('abo start', { ...own, sourceName: 'subscription_contract' }).kind).toBe('first');
    expect(shopify('abo', own).kind).toBe('once');
  });

  it.each([
    'firmhouse-subscription-id',
    '_ordergroove.subscription.publicId',
    '_subscription_contract_id',
    'subscriptionId',
  ])('names its subscription in the attribute "%s".', (name) => {
    const attributes = [
      { name: 'subscription_interval', value: '1 month' },
      { name, value: 'sub-7' },
    ];
    expect(shopify('', { attributes })).toMatchObject({ kind: 'once', subscriptionId: 'sub-7' });
  });

  it('takes the subscription from the one attribute that names it.', () => {
    const attributes = [{ name: 'firmhouse-subscription-id', value: 'abc-1' }];
    expect(shopify('Firmhouse-Recurring-Order', { attributes })).toEqual({
      kind: 'renewal',
      subscriptionId: 'abc-1',
      previousSubscriptionId: null,
    });
  });
});

const woo = (meta: Record<string, unknown>, createdVia: string | null = 'checkout') =>
  readWooKind({ meta: Object.entries(meta).map(([name, value]) => ({ name, value })), createdVia });

describe('the kind of a WooCommerce order', () => {
  it('reads renewals, switches and resubscriptions with the subscription that they name.', () => {
    expect(woo({})).toEqual({ kind: 'once', subscriptionId: null, previousSubscriptionId: null });
    expect(woo({ _subscription_renewal: '8999' })).toMatchObject({ kind: 'renewal', subscriptionId: '8999' });
    expect(woo({ _subscription_renewal: 8999 }).subscriptionId).toBe('8999');
    expect(woo({ _subscription_switch: '8999' })).toMatchObject({ kind: 'upgrade', subscriptionId: '8999' });
    expect(woo({ _subscription_resubscribe: '8999' })).toEqual({
      kind: 'resubscribe',
      subscriptionId: null,
      previousSubscriptionId: '8999',
    });
    expect(woo({}, 'subscription').kind).toBe('renewal');
    expect(woo({ _subscription_renewal_early: '8999' })).toMatchObject({ kind: 'renewal', subscriptionId: '8999' });
  });

  it('takes the first of several subscriptions, and none of what is no id.', () => {
    const meta = [
      { name: '_subscription_renewal', value: {} },
      { name: '_subscription_renewal', value: '8999' },
      { name: '_subscription_renewal', value: '9000' },
    ];
    expect(readWooKind({ meta, createdVia: null }).subscriptionId).toBe('8999');
    expect(woo({ _subscription_renewal: '' })).toMatchObject({ kind: 'renewal', subscriptionId: null });
  });

  it('reads what other plugins write.', () => {
    expect(woo({ is_a_renew: 'yes', subscriptions: ['71', '72'] })).toMatchObject({
      kind: 'renewal',
      subscriptionId: '71',
    });
    expect(woo({ is_a_renew: 'yes', subscriptions: '["71","72"]' }).subscriptionId).toBe('71');
    expect(woo({ is_a_renew: 'no', subscriptions: ['71'] })).toMatchObject({ kind: 'once', subscriptionId: '71' });
    expect(woo({ wps_sfw_renewal_order: 'yes', wps_sfw_subscription: 55 })).toMatchObject({
      kind: 'renewal',
      subscriptionId: '55',
    });
  });
});

describe('the kind of an order of a brand’s own store', () => {
  it('is what it reports; a renewal may be reported in the older way.', () => {
    const none = { kind: null, isRenewal: false, subscriptionId: null, previousSubscriptionId: null };
    expect(readGenericKind(none).kind).toBe('once');
    expect(readGenericKind({ ...none, isRenewal: true }).kind).toBe('renewal');
    expect(readGenericKind({ ...none, kind: 'upgrade', subscriptionId: 's1' })).toEqual({
      kind: 'upgrade',
      subscriptionId: 's1',
      previousSubscriptionId: null,
    });
  });
});
