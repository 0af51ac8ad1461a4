import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listStories, openStories, openStory } from './terms-story.ts';

let stories: Awaited<ReturnType<typeof openStories>>;
beforeAll(async () => {
  stories = await openStories();
});
afterAll(() => stories?.close());

/**
 * What brands live through: codes and their terms, orders (kind, subscription, amount, whose code) and after `>` what docs/terms.md says
 * that each pays. `mia` buys where no other is named.
 */
const SUBSCRIPTIONS = `
# A change up, on and down: each pays its own amount
ana = 10 subscription
first s1 50 ana > ana 5
upgrade s1 30 > ana 3
renewal s1 80 > ana 8
upgrade s1 0 > ana 0
renewal s1 20 > ana 2
# A pause within three months from 31 January
ana = 10 subscription {"months":3}
at 2026-01-31
first s1 50 ana > ana 5
at 2026-02-28
renewal s1 50 > ana 5
at 2026-04-29T23:59:59Z
renewal s1 50 > ana 5
renewal s1 50 > -
# Prepaid deliveries are no payments
ana = 10 subscription {"payments":2}
first s1 120 ana > ana 12
renewal s1 0 > ana 0
renewal s1 0 > ana 0
renewal s1 120 > ana 12
renewal s1 120 > -
# A refund concerns its own order
ana = 10 subscription
first s1 40 ana > ana 4
renewal s1 40 > ana 4
refund 2 10 > ana 3
still 1 > ana 4
refund 1 40 > ana 0
renewal s1 40 > ana 4
# A cancelled first order ends nothing
ana = 10 subscription
first s1 100 ana > ana 10
again 1 cancelled_at=$now > ana 0
renewal s1 100 > ana 10
# A person who rejects the first order ends it
ana = 10 subscription
first s1 40 ana > ana 4
PATCH /v1/affiliates/commissions/$commission:1 {"status":"rejected"}
renewal s1 40 > -
upgrade s1 40 > -
# A gift is renewed by who got it
ana = 10 subscription
first s1 100 ana > ana 10
renewal s1 100 mail=leo > ana 10
once - 100 mail=leo > -
once - 100 > -
# Again in time, by the old id
ana = 10 subscription {"months":6}
first s1 100 ana > ana 10
at 2026-04-01
resubscribe s2 100 previous_subscription_id=s1 > ana 10
renewal s2 100 mail=null > ana 10
# Again too late, and then anew with a code
ana = 10 subscription {"months":2}
first s1 100 ana > ana 10
at 2026-04-01
resubscribe s2 100 previous_subscription_id=s1 > -
renewal s2 100 > -
at 2026-06-01
resubscribe s3 100 ana previous_subscription_id=s2 > ana 10
renewal s3 100 > ana 10
# Again with the code of another
ana = 10 subscription
ben = 20 subscription
first s1 100 ana > ana 10
resubscribe s2 100 ben previous_subscription_id=s1 > ben 20
renewal s2 100 > ben 20
renewal s1 100 > ana 10
# A trial is no payment
ana = 10 subscription {"payments":2}
first s1 0 ana > ana 0
renewal s1 49 > ana 4.9
renewal s1 49 > ana 4.9
renewal s1 49 > -
# A trial’s month counts from its first payment
ana = 10 subscription {"months":1}
first s1 0 ana > ana 0
at 2026-01-15
renewal s1 49 > ana 4.9
at 2026-02-14T23:59:59Z
renewal s1 49 > ana 4.9
renewal s1 49 > -
# A trial without an id
ana = 10
first - 0 ana > ana 0
renewal - 49 > ana 4.9
renewal - 49 > -
# A trial that is begun again with another
ana = 10
ben = 20
first s1 0 ana > ana 0
first s2 0 ben > ben 0
renewal s2 49 > ben 9.8
renewal s2 49 > -
# A recurring coupon, also another of hers, does not get round a duration
ana = 10 subscription {"payments":2}
ana/2 = 50 subscription
first s1 100 ana > ana 10
renewal s1 100 ana/2 > ana 10
renewal s1 100 ana > -
# A renewal or a change with the code of another
ana = 10 subscription
ben = 20
cid = 30 subscription
first s1 100 ana > ana 10
renewal s1 100 ben > ana 10
renewal s1 100 cid > cid 30
upgrade s1 100 ben > ben 20
renewal s1 100 > ana 10
# A subscription that nobody sold
ana = 10 customer
first s1 100 > -
once - 100 ana > ana 10
renewal s1 100 > -
once - 100 > ana 10
# An order that is cancelled before it is paid is no payment
ana = 10 subscription {"payments":2}
first s1 100 ana > ana 10
renewal s1 100 paid_at=null > ana 10
again 2 cancelled_at=$now > ana 0
renewal s1 100 > ana 10
renewal s1 100 > -
# A renewal that is known before its first order
ana = 10 subscription {"payments":2}
at 2026-02-01
renewal s1 100 > -
renewal s1 100 > -
first s1 100 ana placed_at=2026-01-05T00:00:00Z > ana 10
still 1 > ana 10
still 2 > -
# A batch tells of a first order and its renewals backwards
ana = 10 subscription {"payments":3}
+ first s1 100 ana
+ renewal s1 100
+ renewal s1 100
+ renewal s1 100
post
still 1 > ana 10
still 3 > ana 10
still 4 > -
# Two subscriptions of one customer, and a one-time order that names one
ana = 10 subscription
ben = 20 subscription
first s1 100 ana > ana 10
first s2 100 ben > ben 20
renewal s1 100 > ana 10
renewal s2 100 > ben 20
once s1 100 mail=null > ana 10
once - 100 > -
# Products tell subscriptions without ids; one of a swapped product is the latest
ana = 10 subscription
ben = 20 subscription
first - 100 ana items=[{"sku":"TEA","amount":100}] > ana 10
first - 100 ben items=[{"sku":"MILK","amount":100}] > ben 20
renewal - 100 items=[{"sku":"TEA","amount":100}] > ana 10
renewal - 100 items=[{"sku":"MILK","amount":100}] > ben 20
renewal - 100 items=[{"sku":"OATS","amount":100}] > ben 20
# One id at two shops
ana = 10 subscription
first s1 100 ana > ana 10
renewal s1 100 source=other mail=leo > -
renewal - 100 source=other > ana 10
# A chargeback, lost and won
ana = 10 subscription
first s1 100 ana > ana 10
renewal s1 100 > ana 10
again 2 dispute=lost > ana 0
renewal s1 100 > ana 10
again 2 dispute=won > ana 10
# Tests say nothing
ana = 10 subscription
first s1 100 ana test=true > -
renewal s1 100 > -
first s2 100 ana > ana 10
renewal s2 100 test=true > -
`;

const CUSTOMERS = `
# Two addresses of one id; it is not transitive
ana = 10 customer
once - 100 ana customer_external_id=c1 > ana 10
once - 100 customer_external_id=c1 mail=work > ana 10
once - 100 mail=work > -
once - 100 > ana 10
# A lead, and a sale by another
ana = 10
ben = 20
POST /v1/customers {"customer_email":"$mail:mia","code":"$code:ana"}
once - 100 ben > ben 20
once - 100 > ana 10
once - 100 > -
# A lead for life, and a lead who tries for free
ana = 10 customer
ben = 10
POST /v1/customers {"customer_email":"$mail:mia","code":"$code:ana"}
POST /v1/customers {"customer_email":"$mail:leo","code":"$code:ben"}
once - 100 > ana 10
once - 100 > ana 10
first s1 0 mail=leo > ben 0
renewal s1 50 mail=leo > ben 5
renewal s1 50 mail=leo > -
once - 50 mail=leo > -
# A lead who subscribes
ana = 10 subscription
POST /v1/customers {"customer_email":"$mail:mia","code":"$code:ana"}
first s1 100 > ana 10
renewal s1 100 > ana 10
once - 100 > -
# A code beats a click, unless clicks win
ana/link = 10
ben = 20
once - 100 ben ~ana/link > ben 20
once - 100 ~ana/link > ana 10
PATCH /v1/affiliates/rules {"coupon_policy":"click_wins"}
once - 100 ben ~ana/link > ana 10
# Customers first, while their row runs
PATCH /v1/affiliates/rules {"customer_policy":"customer_wins"}
ana = 10 customer {"payments":2}
ben = 20
once - 100 ana > ana 10
once - 100 ben > ana 10
once - 100 ben > ben 20
# One row for one customer of one creator
ana = 10 customer
ana/2 = 20 subscription
once - 100 ana > ana 10
first s1 100 ana/2 > ana 20
renewal s1 100 > ana 10
# A customer is ended, taken back, moved, and given the present terms
ana = 10 subscription
ben = 20 subscription
first s1 100 ana > ana 10
PATCH /v1/customers/$customer:1 {"ended":true}
renewal s1 100 > -
PATCH /v1/customers/$customer:1 {"ended":false}
renewal s1 100 > ana 10
PATCH /v1/customers/$customer:1 {"link_id":"$link:ben"}
renewal s1 100 > ben 10
PATCH /v1/customers/$customer:1 {"terms":"present"}
renewal s1 100 > ben 20
# An erased customer is nobody’s
ana = 10 customer
first s1 100 ana > ana 10
DELETE /v1/customers/$customer:1
renewal - 100 > -
once - 100 > -
still 1 > ana 10
# By hand, with renewals of the last 90 days that paid nobody
ana = 10 subscription {"payments":2}
at 2026-01-20
renewal s1 100 > -
at 2026-05-20
renewal s1 100 > -
renewal s1 100 > -
renewal s1 100 > -
POST /v1/customers {"subscription_id":"s1","source":"shop","link_id":"$link:ana","since":"2026-01-02","reason":"Told"}
still 1 > -
still 2 > ana 10
still 3 > ana 10
still 4 > -
# A creator leaves; the customers go on until they are ended
ana = 10 subscription
first s1 100 ana > ana 10
PATCH /v1/affiliates/links/$link:ana {"active":false}
renewal s1 100 > ana 10
PATCH /v1/customers/$customer:1 {"ended":true}
renewal s1 100 > -
# The smallest order that pays, of renewals and trials
PATCH /v1/affiliates/rules {"min_order":40}
ana = 10 subscription
first s1 0 ana > ana 0
renewal s1 50 > ana 5
renewal s1 30 > -
once - 30 ana mail=leo > -
`;

const RATES = `
# Tiers by orders of the month, without rejected ones
ana = 10 {"rules":[{"name":"Third","when":{"volume":{"per":"month","orders_from":2}},"rate":{"percent":20}}]}
once - 100 ana > ana 10
PATCH /v1/affiliates/commissions/$commission:1 {"status":"rejected"}
once - 100 ana > ana 10
once - 100 ana > ana 10
once - 100 ana > ana 20
at 2026-02-01
once - 100 ana > ana 10
# Tiers by revenue, net of refunds, in the order’s currency
ana = 10 {"rules":[{"name":"Top","when":{"volume":{"per":"ever","revenue_from":{"USD":100}}},"rate":{"percent":20}}]}
once - 60 ana > ana 6
once - 60 ana > ana 6
once - 60 ana > ana 12
refund 1 60 > ana 0
refund 3 30 > ana 6
once - 60 ana > ana 6
once - 60 ana currency=EUR > ana 6
# A bonus for the first payment, also after a trial, and a rate for loyal ones
ana = 10 subscription {"rules":[{"name":"First","when":{"payment":{"to":1}},"rate":{"flat":{"USD":20},"per":"order"}},{"name":"Loyal","when":{"payment":{"from":3}},"rate":{"percent":30}}]}
first s1 0 ana > ana 0
renewal s1 50 > ana 20
renewal s1 50 > ana 5
renewal s1 50 > ana 15
# Rates by kind and by what decides
ana = 10 customer {"rules":[{"name":"First","when":{"kind":["first"]},"rate":{"percent":50}},{"name":"Later","when":{"by":"customer","kind":["once"]},"rate":{"percent":2}}]}
first s1 50 ana > ana 25
renewal s1 50 > ana 5
once - 50 > ana 1
# New and returning customers; nobody knows who names nothing
ana = 1 {"rules":[{"name":"New","when":{"customer":"new"},"rate":{"flat":{"USD":5},"per":"order"}},{"name":"Back","when":{"customer":"returning"},"rate":{"percent":10}}]}
once - 100 ana customer_external_id=c1 > ana 5
once - 100 ana > ana 10
once - 100 ana customer_external_id=c1 mail=work > ana 10
once - 100 ana mail=null > ana 1
once - 100 ana mail=leo > ana 5
# Categories without case, a product’s id, and sale items
ana = 10 {"rules":[{"name":"Sale","when":{"on_sale":true},"rate":{"percent":0}},{"name":"Id","when":{"product":["P-77"]},"rate":{"percent":30}},{"name":"Skin","when":{"category":["skin care"]},"rate":{"percent":20}}]}
once - 100 ana items=[{"sku":"A","amount":100,"categories":["SKIN Care"]}] > ana 20
once - 100 ana items=[{"sku":"A","amount":100,"product_id":"p-77","categories":["Skin care"]}] > ana 30
once - 100 ana items=[{"sku":"A","amount":100,"categories":["Hair"]}] > ana 10
once - 100 ana items=[{"sku":"A","amount":100,"on_sale":true}] > ana 0
# Countries, and an amount that counts before refunds
ana = 10 {"rules":[{"name":"DACH","when":{"country":["de","AT"]},"rate":{"percent":20}},{"name":"Big","when":{"amount_from":{"USD":200}},"rate":{"percent":30}}]}
once - 100 ana country=DE > ana 20
once - 100 ana country=US > ana 10
once - 200 ana > ana 60
refund 3 100 > ana 30
once - 400 ana currency=EUR > ana 40
# Flats in their currencies, and what refunds leave of them
ana = {"rate":{"flat":{"USD":5,"JPY":500},"per":"order"}}
ben = {"rate":{"flat":{"USD":2},"per":"item"}}
once - 40 ana > ana 5
refund 1 10 > ana 3.75
once - 40 ana currency=EUR > ana 0
once - 9000 ana currency=JPY > ana 500
once - 30 ben items=[{"sku":"A","quantity":3,"amount":30}] > ben 6
refund 4 10 {"A":10} > ben 4
# A sale that is planned ahead
ana = 10 {"rules":[{"name":"Week","when":{"placed":{"from":"2026-02-01T00:00:00Z","to":"2026-02-08T00:00:00Z"}},"rate":{"percent":30}}]}
at 2026-01-31T23:59:58Z
once - 100 ana > ana 10
once - 100 ana > ana 30
at 2026-02-07T23:59:58Z
once - 100 ana > ana 30
once - 100 ana > ana 10
# A cap of a customer’s life, which a refund makes room in
ana = 10 customer {"caps":{"customer":{"USD":20}}}
once - 150 ana > ana 15
once - 100 > ana 5
once - 100 > ana 0
once - 100 ana mail=leo > ana 10
refund 1 40 > ana 11
once - 100 > ana 4
# A cap of a month is that of the order’s time
ana = 10 {"caps":{"month":{"USD":10}}}
at 2026-01-31T23:00:00Z
once - 100 ana paid_at=null > ana 10
at 2026-02-03
once - 100 ana > ana 10
again 1 paid_at=$now > ana 10
once - 100 ana > ana 0
# Room is fixed when an order is first known as paid; an edit takes no more
ana = 10 {"budget":{"per":"ever","amount":{"USD":15}}}
once - 100 ana paid_at=null > ana 10
once - 100 ana > ana 10
again 1 paid_at=$now > ana 5
again 2 amount=200 > ana 10
# A budget that runs out within an order is shared by a group
POST /v1/groups {"name":"A","terms":{"rate":{"percent":10},"budget":{"per":"month","amount":{"USD":15}}}} as A
ana = 10
ben = 10
cid = 10
POST /v1/groups/$A/creators {"creator_emails":["$creator:ana","$creator:ben"],"links":"inherit"}
once - 100 ana > ana 10
once - 100 ben > ben 5
once - 100 cid > cid 10
PATCH /v1/affiliates/commissions/$commission:1 {"status":"rejected"}
once - 100 ana > ana 10
once - 100 ben > ben 0
# A batch under a tier and a cap, in the order of its times
ana = 10 {"caps":{"month":{"USD":45}},"rules":[{"name":"Third","when":{"volume":{"per":"month","orders_from":2}},"rate":{"percent":20}}]}
+ once - 100 ana
+ once - 100 ana
+ once - 100 ana
+ once - 100 ana
post
still 1 > ana 10
still 2 > ana 10
still 3 > ana 20
still 4 > ana 5
`;

const PLACES = `
# A group’s terms change in mid-month: for later customers
POST /v1/groups {"name":"A","terms":{"rate":{"percent":10},"covers":"subscription"}} as A
ana = 1
POST /v1/groups/$A/creators {"creator_emails":["$creator:ana"],"links":"inherit"}
first s1 100 ana > ana 10
PATCH /v1/groups/$A {"terms":{"rate":{"percent":5},"covers":"subscription"}}
renewal s1 100 > ana 10
first s2 100 ana mail=leo > ana 5
renewal s2 100 mail=leo > ana 5
still 1 > ana 10
# A creator who changes the group takes its terms for later customers
POST /v1/groups {"name":"A","terms":{"rate":{"percent":10},"covers":"customer"}} as A
POST /v1/groups {"name":"B","terms":{"rate":{"percent":20},"covers":"customer"}} as B
ana = 1
POST /v1/groups/$A/creators {"creator_emails":["$creator:ana"],"links":"inherit"}
once - 100 ana > ana 10
POST /v1/groups/$B/creators {"creator_emails":["$creator:ana"],"links":"inherit"}
once - 100 > ana 10
once - 100 ana mail=leo > ana 20
# Link, group, brand and the brand’s rate, the first that has terms
PATCH /v1/brand {"settings":{"default_commission_rate":8}}
PATCH /v1/affiliates/rules {"terms":{"rate":{"percent":1}}}
POST /v1/groups {"name":"A","terms":{"rate":{"percent":3}}} as A
ana = 4
POST /v1/groups/$A/creators {"creator_emails":["$creator:ana"]}
once - 100 ana > ana 4
PATCH /v1/affiliates/links/$link:ana {"terms":null}
once - 100 ana > ana 3
PATCH /v1/groups/$A {"terms":null}
once - 100 ana > ana 1
PATCH /v1/affiliates/rules {"terms":null}
once - 100 ana > ana 8
# An order that is edited after its terms changed is priced by its own
ana = 10 {"rules":[{"name":"A","when":{"product":["A"]},"rate":{"percent":30}}]}
once - 100 ana > ana 10
PATCH /v1/affiliates/links/$link:ana {"terms":{"rate":{"percent":50}}}
again 1 amount=200 > ana 20
refund 1 100 > ana 10
# A percentage with pays_renewals that changes while customers run
ana = 10 subscription
first s1 100 ana > ana 10
PATCH /v1/affiliates/links/$link:ana {"commission_rate":20}
renewal s1 100 > ana 10
first s2 100 ana mail=leo > ana 20
renewal s2 100 mail=leo > ana 20
`;

describe.each([
  ['Subscriptions', SUBSCRIPTIONS],
  ['Customers', CUSTOMERS],
  ['Rates', RATES],
  ['Places', PLACES],
])('%s pay what the terms say, to the cent:', (_, text) => {
  it.each(listStories(text))('%s', async (_title, lines) => {
    const story = await openStory(stories);
    await story.live(lines);
    expect(lines.length).toBeGreaterThan(0);
  });
});
