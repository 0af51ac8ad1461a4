import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listStories, openStories, openStory } from './terms-story.ts';

let stories: Awaited<ReturnType<typeof openStories>>;
beforeAll(async () => {
  stories = await openStories();
});
afterAll(() => stories?.close());

/** As in terms-stories.long.test.ts. */
const SUBSCRIPTIONS = `
# Sold by a link, and recognized by the shop’s id alone
ana/link = 15 subscription
first - 100 ~ana/link mail=null customer_external_id=c9 > ana 15
renewal - 100 mail=null customer_external_id=c9 > ana 15
renewal - 100 mail=null customer_external_id=c8 > -
renewal - 100 mail=null > -
# Sold by a link as an ordinary order; the renewals name a subscription
ana/link = 15 subscription
once - 100 ~ana/link > ana 15
renewal s7 100 > ana 15
renewal s7 100 mail=new > ana 15
once - 100 > -
# A refunded renewal is a payment all the same
ana/link = 15 subscription {"payments":3}
first s1 100 ~ana/link > ana 15
renewal s1 100 > ana 15
refund 2 100 > ana 0
refund 1 50 > ana 7.5
renewal s1 100 > ana 15
renewal s1 100 > -
still 2 > ana 0
# Renewals told by is_renewal, in another currency than the first
ana/link = 15 subscription {"payments":3}
first s1 100 ~ana/link currency=EUR > ana 15
renewal s1 120 currency=USD kind=once is_renewal=true > ana 18
renewal s1 9001 currency=JPY > ana 1350
renewal s1 100 currency=EUR > -
# A click on a renewal is none of the deal; the old link of the same creator stays
ana/link = 15 subscription {"months":2}
ben/link = 30
first s1 100 ~ana/link > ana 15
renewal s1 100 ~ben/link > ana 15
at 2026-03-01T00:00:02Z
renewal s1 100 > -
renewal s1 100 ~ben/link > -
# A plan goes down, is refunded, and goes up again
ana = 10 subscription {"payments":4}
first s1 90 ana > ana 9
upgrade s1 30 > ana 3
refund 2 30 > ana 0
upgrade s1 120 > ana 12
refund 3 60 > ana 6
renewal s1 120 > ana 12
renewal s1 120 > -
# A trial at 0.00 that is upgraded before its first charge
ana = 10
first s1 0 ana > ana 0
upgrade s1 80 > ana 8
renewal s1 80 > -
# A trial at 0.00 by a click, whose first charge is refunded
ana/link = 10
first s1 0 ~ana/link > ana 0
renewal s1 49 > ana 4.9
refund 2 49 > ana 0
renewal s1 49 > -
# A trial at 1.00 is a payment
ana = 10
first s1 1 ana > ana 0.1
renewal s1 49 > -
# A trial that nobody sold, and one whose creator sells the next
ana = 10 subscription
first s1 0 > -
renewal s1 49 > -
first s2 0 ana > ana 0
renewal s2 49 > ana 4.9
renewal s1 49 > -
# Two creators share a customer: each subscription its own, in any order
ana = 10 subscription
ben = 20 customer
first s1 100 ana > ana 10
once - 50 ben > ben 10
renewal s1 100 > ana 10
first s2 40 > ben 8
renewal s2 40 > ben 8
renewal s1 100 > ana 10
once - 50 ana > ana 5
once - 50 > ben 10
# Anew by the same id, without the old one
ana = 10 subscription {"payments":2}
first s1 100 ana > ana 10
renewal s1 100 > ana 10
renewal s1 100 > -
resubscribe s1 100 > -
resubscribe s1 100 ana > ana 10
renewal s1 100 > -
`;

const RATES = `
# New by this creator, but a customer of another’s link before
ana = 1 {"rules":[{"name":"New","when":{"customer":"new"},"rate":{"flat":{"USD":5,"EUR":4.5},"per":"order"}}]}
ben/link = 10
once - 100 ~ben/link > ben 10
once - 100 ana > ana 1
once - 80 ana mail=leo currency=EUR > ana 4.5
once - 80 ana mail=leo currency=EUR > ana 0.8
# New, where the earlier order was not paid, was a test or came later
ana = 1 {"rules":[{"name":"New","when":{"customer":"new"},"rate":{"flat":{"USD":5},"per":"order"}}]}
once - 100 paid_at=null > -
once - 100 test=true > -
once - 100 ana > ana 5
once - 100 mail=leo > -
refund 4 100 > -
once - 100 ana mail=leo > ana 1
# New at one shop by address, returning by the id of another order
ana = 1 {"rules":[{"name":"New","when":{"customer":"new"},"rate":{"flat":{"USD":5},"per":"order"}}]}
once - 100 customer_external_id=c1 mail=work > -
once - 100 ana customer_external_id=c1 > ana 1
once - 100 ana source=other customer_external_id=c1 mail=leo > ana 5
once - 100 ana source=other mail=work > ana 1
# A bundle at one price, its parts at 0.00, and a discount of the whole order
ana = 10 {"rules":[{"name":"Set","when":{"product":["SET"]},"rate":{"percent":20}},{"name":"Parts","when":{"product":["PART"]},"rate":{"percent":50}}]}
once - 100 ana items=[{"sku":"SET","amount":80},{"sku":"PART","amount":0,"quantity":2},{"sku":"BALM","amount":20}] > ana 18
once - 80 ana items=[{"sku":"SET","amount":80},{"sku":"PART","amount":0,"quantity":2},{"sku":"BALM","amount":20}] > ana 14.4
refund 2 16 {"BALM":16} > ana 12.8
# The same product on two lines is compared line by line
ana = 10 {"rules":[{"name":"Many","when":{"product":["A"],"quantity_from":3},"rate":{"flat":{"USD":2},"per":"item"}}]}
once - 100 ana items=[{"sku":"A","amount":20,"quantity":2},{"sku":"A","amount":80,"quantity":4}] > ana 10
refund 1 40 > ana 6
once - 100 ana items=[{"sku":"a","amount":100,"quantity":3}] > ana 6
# What no line says, such as wrapping, is paid by the base
ana = 10 {"rules":[{"name":"A","when":{"product":["A"]},"rate":{"percent":0}}]}
once - 35 ana items=[{"sku":"A","amount":30}] > ana 0.5
once - 35 ana items=[{"sku":"A","amount":30},{"sku":null,"amount":5}] > ana 0.5
# Product rates on renewals of the first order’s deal
ana = 10 subscription {"rules":[{"name":"Tea","when":{"product":["TEA"],"payment":{"from":2}},"rate":{"percent":2}}]}
first s1 50 ana items=[{"sku":"TEA","amount":50}] > ana 5
renewal s1 70 items=[{"sku":"TEA","amount":50},{"sku":"CUP","amount":20}] > ana 3
refund 2 20 {"CUP":20} > ana 1
# A cap of a month over two months, and a currency that it does not name
ana = 10 subscription {"caps":{"month":{"USD":12}}}
at 2026-01-31T23:59:50Z
first s1 100 ana > ana 10
renewal s1 100 > ana 2
renewal s1 100 currency=EUR > ana 10
at 2026-02-01T00:00:00Z
renewal s1 100 > ana 10
refund 1 100 > ana 0
renewal s1 100 > ana 2
at 2026-01-31T23:59:58Z
renewal s1 100 > ana 10
# A cap of a customer holds for two codes of one creator, and not for two creators
ana = 10 customer {"caps":{"customer":{"USD":15}}}
ana/2 = 10 customer {"caps":{"customer":{"USD":15}}}
ben = 10 {"caps":{"customer":{"USD":15}}}
once - 100 ana > ana 10
once - 100 ana/2 > ana 5
once - 100 ben > ben 10
once - 100 ana/2 mail=leo > ana 10
once - 100 > ana 0
# A cap of an order on one that is edited up and refunded
ana = 20 {"caps":{"order":{"USD":15}}}
once - 50 ana > ana 10
again 1 amount=100 > ana 15
refund 1 50 > ana 10
refund 1 20 > ana 6
# Refunds in three parts end at nothing, to the cent
ana = 33.3333
once - 10 ana > ana 3.33
refund 1 3.33 > ana 2.22
refund 1 3.33 > ana 1.11
refund 1 3.34 > ana 0
`;

const PLACES = `
# A budget of a group is one, whatever its terms say since, and whoever has left
POST /v1/groups {"name":"A","terms":{"rate":{"percent":10},"covers":"subscription","budget":{"per":"month","amount":{"USD":25}}}} as A
POST /v1/groups {"name":"B","terms":{"rate":{"percent":20}}} as B
ana = 1
ben = 1
POST /v1/groups/$A/creators {"creator_emails":["$creator:ana","$creator:ben"],"links":"inherit"}
first s1 100 ana > ana 10
PATCH /v1/groups/$A {"terms":{"rate":{"percent":30},"budget":{"per":"month","amount":{"USD":25}}}}
once - 20 ben mail=leo > ben 6
POST /v1/groups/$B/creators {"creator_emails":["$creator:ana"]}
renewal s1 100 > ana 9
once - 100 ana mail=leo > ana 20
once - 100 ben mail=leo > ben 0
# A creator is taken out of the group in mid-month
PATCH /v1/affiliates/rules {"terms":{"rate":{"percent":2}}}
POST /v1/groups {"name":"A","terms":{"rate":{"percent":10},"covers":"customer"}} as A
ana = 1
POST /v1/groups/$A/creators {"creator_emails":["$creator:ana"],"links":"inherit"}
once - 100 ana > ana 10
DELETE /v1/groups/$A/creators?creator_email=$creator:ana
once - 100 > ana 10
once - 100 ana mail=leo > ana 2
once - 100 mail=leo > -
# The terms of a group change between an order and its report
POST /v1/groups {"name":"A","terms":{"rate":{"percent":10}}} as A
ana = 1
POST /v1/groups/$A/creators {"creator_emails":["$creator:ana"],"links":"inherit"}
+ once - 100 ana
PATCH /v1/groups/$A {"terms":{"rate":{"percent":30}}}
post
still 1 > ana 30
`;

describe.each([
  ['Subscriptions', SUBSCRIPTIONS],
  ['Rates', RATES],
  ['Places', PLACES],
])('%s pay what the terms say, to the cent:', (_, text) => {
  it.each(listStories(text))('%s', async (_title, lines) => {
    const story = await openStory(stories);
    await story.live(lines);
    expect(lines.length).toBeGreaterThan(0);
  });
});
