import { seededRandom } from '../../directory/imports/indexing/random.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { toDay } from '../../kit/values/time-zone.ts';
import { claimDuePosts, endRefresh, trackContent } from '../../workflow/content/content.ts';
import { readPostAddress } from '../../workflow/content/posts.ts';
import { readConversation, receiveReply, sendMessage } from '../../workflow/messages/messages.ts';
import { confirmReceipt, createShipment, patchShipment, reportMissing } from '../../workflow/shipments/shipments.ts';
import { ADDED, type CampaignName } from './campaigns.ts';
import { toPostUrl } from './collaboration.ts';
import type { Person } from './people.ts';
import { known, type Schedule } from './schedule.ts';

type DialogueLine = readonly [who: 'brand' | 'creator', text: string];

const CONVERSATIONS: readonly { days: number; lines: readonly DialogueLine[] }[] = [
  {
    days: 75,
    lines: [
      ['brand', 'Welcome! Your serum is on its way.'],
      ['creator', 'Thank you, I cannot wait to try it.'],
      ['brand', 'Tell us how your skin likes it.'],
    ],
  },
  {
    days: 58,
    lines: [
      ['brand', 'Your reel did very well. Would you do another for the sun cream?'],
      ['creator', 'With pleasure. Could we raise the rate a little?'],
      ['brand', 'We can offer 15 percent on the new code.'],
      ['creator', 'That works for me.'],
      ['brand', 'Great. The new code is in your next brief.'],
    ],
  },
  {
    days: 44,
    lines: [
      ['brand', 'Could you add the refill to your story?'],
      ['creator', 'Sure, tomorrow morning.'],
    ],
  },
  {
    days: 31,
    lines: [
      ['brand', 'Your payout for last month is on its way.'],
      ['creator', 'It arrived. Thank you!'],
      ['brand', 'You earned it. See you in the next campaign.'],
    ],
  },
  {
    days: 16,
    lines: [
      ['brand', 'Does the cream feel too rich?'],
      ['creator', 'Only in the evening. I mix it.'],
    ],
  },
  {
    days: 11,
    lines: [
      ['brand', 'We moved the launch by a week. Is that fine for you?'],
      ['creator', 'Yes, no problem.'],
      ['brand', 'Thank you. Which day suits you for the reel?'],
    ],
  },
  {
    days: 5,
    lines: [
      ['brand', 'Would you like to join the holiday campaign?'],
      ['creator', 'Yes! Which products will you send?'],
    ],
  },
  {
    days: 3,
    lines: [
      ['brand', 'Your code works for the barrier cream, too.'],
      ['creator', 'A follower says that it has expired. Can you check?'],
    ],
  },
  {
    days: 1,
    lines: [
      ['brand', 'What do your followers ask about the barrier cream?'],
      ['creator', 'Most of them want to know how the refill works. I will show it in a story.'],
    ],
  },
];

function addConversations({ ago, add }: Schedule, people: readonly Person[], ids: Map<string, string>): void {
  for (const [i, { days, lines }] of CONVERSATIONS.entries()) {
    const person = people[ADDED - 1 - i];
    if (!person) continue;
    const { email, name } = person;
    for (const [n, [who, body]] of lines.entries()) {
      add(ago(days - n * 0.2), ({ change }) => {
        if (who === 'creator') {
          const conversation = { id: known(ids, `conversation ${i}`), email, name };
          return change('page_talk', (work) => receiveReply(work, conversation, body));
        }
        return change('send_message', async (work) => {
          const message = await sendMessage(work, { creator_email: email, body, send_email: days < 12 });
          ids.set(`conversation ${i}`, message.conversation_id);
        });
      });
    }
    // The newest three wait to be read.
    if (days > 5) {
      add(ago(days - 1.5), ({ change }) =>
        change('read_conversation', (work) => readConversation(work, known(ids, `conversation ${i}`))),
      );
    }
  }
}

/** Gifts to creators and the cost of an item. */
export const GIFTS = [
  { name: 'Vitamin C serum', sku: 'LUM-SERUM-30', quantity: 2, cost: 6.4 },
  { name: 'Sun cream SPF 50, travel size', sku: 'LUM-SUN-20', quantity: 1, cost: 2.1 },
  { name: 'Barrier cream and refill', sku: 'LUM-BARRIER', quantity: 1, cost: 8.9 },
] as const;

const STREETS = [
  { street: '1200 Alder Street', city: 'Portland', state: 'OR', zip: '97205' },
  { street: '48 Juniper Avenue', city: 'Austin', state: 'TX', zip: '78704' },
  { street: '305 Birch Lane', city: 'Asheville', state: 'NC', zip: '28801' },
] as const;

/** Parcels are never looked up: their numbers are of no carrier. */
function addParcels({ ago, add }: Schedule, people: readonly Person[], ids: Map<string, string>): void {
  const parcel = (i: number, days: number, person: Person, campaign: CampaignName, until: string) => {
    const name = `parcel ${i}`;
    const { cost: _cost, ...product } = GIFTS[i % GIFTS.length] ?? GIFTS[0];
    const move = (after: number, status: 'shipped' | 'delivered') =>
      add(ago(days - after), ({ change }) =>
        change('update_shipment', (work) => patchShipment(work, known(ids, name), { status })),
      );
    add(ago(days), ({ change }) =>
      change('create_shipment', async (work) => {
        const { id } = await createShipment(work, {
          creator_email: person.email,
          campaign_id: known(ids, campaign),
          notify_creator: false,
          carrier: i % 2 === 0 ? 'ups' : 'dhl',
          tracking_number: `SAMPLE${String(1_000 + i)}`,
          product_description: `${product.quantity} × ${product.name}`,
          products: [product],
          shipping_address: { ...(STREETS[i % STREETS.length] ?? STREETS[0]), line2: null, country: 'US' },
          estimated_arrival: toDay(ago(days - 3)),
        });
        ids.set(name, id);
      }),
    );
    if (until === 'created') return;
    move(1.2, 'shipped');
    if (until === 'shipped') return;
    move(4, 'delivered');
    if (until === 'delivered') return;
    add(ago(days - 5), ({ change }) =>
      change('page_parcel', (work) =>
        until === 'missing' ? reportMissing(work, known(ids, name)) : confirmReceipt(work, known(ids, name)),
      ),
    );
  };
  const members = people.slice(ADDED);
  const states = ['confirmed', 'confirmed', 'confirmed', 'delivered', 'missing', 'confirmed'];
  for (const [i, person] of members.slice(0, 12).entries()) {
    parcel(
      i,
      i < 6 ? 76 - i : 48 - i,
      person,
      i >= 6 ? 'summer' : i % 2 === 0 ? 'glow' : 'boxes',
      states[i % states.length] ?? '',
    );
  }
  for (const [i, person] of people.slice(0, 4).entries()) {
    parcel(12 + i, 4.5 - i, person, 'barrier', i < 2 ? 'shipped' : 'created');
  }
}

const CAPTIONS = [
  'My morning in forty seconds #ad',
  'Three weeks of vitamin C, no filter #ad',
  'How I layer serum and sun cream without pilling #ad',
  'Sensitive skin? This is all I use at night #ad',
  'The refill costs a third less, and it fits #ad',
  'Answering your questions about ceramides #ad',
  'Beach bag check: SPF that does not sting #ad',
] as const;

/** Figures of posts are read this many days before now. */
const READINGS = [60, 38, 20, 8, 0.5] as const;
const POSTS = 26;
const SEED = 26;

interface Post {
  person: Person;
  caption: string;
  postedAt: Date;
  /** The final number of viewers. */
  reach: number;
  /** The number of viewers who like it. */
  liked: number;
}

function toReading({ person, caption, postedAt, reach, liked }: Post, now: Date) {
  const days = (now.getTime() - postedAt.getTime()) / DAY_MS;
  const views = Math.round(reach * (1 - Math.exp(-days / 6)));
  const likes = Math.round(views * liked);
  return {
    views,
    likes,
    comments: Math.round(likes / 22),
    shares: Math.round(likes / 30),
    saves: Math.round(likes / 12),
    type: null,
    followers: person.followers,
    posted_at: postedAt,
    paid_partnership: true,
    caption,
  };
}

/** Posts whose figures are read together now and then. */
function addPosts({ ago, add }: Schedule, people: readonly Person[], ids: Map<string, string>): void {
  const random = seededRandom(SEED);
  const posts = new Map<string, Post>();
  for (let n = 0; n < POSTS; n += 1) {
    // Only those who signed for the first campaign posted for it.
    const person = people[n < 6 ? ADDED + (n % 4) : n >= 12 && n < 18 ? ADDED + n - 6 : n];
    if (!person) continue;
    const days = 78 - n * 2.9;
    const campaign: CampaignName = days > 60 ? 'glow' : days > 26 ? 'summer' : 'barrier';
    const reach = Math.round(person.followers * (0.25 + 1.6 * random.next()) * (random.chance(0.12) ? 5 : 1));
    const caption = CAPTIONS[n % CAPTIONS.length] ?? CAPTIONS[0];
    const facts = { person, caption, postedAt: ago(days + 0.1), reach, liked: 0.02 + 0.05 * random.next() };
    add(ago(days), ({ change }) =>
      change('track_content', async (work) => {
        const post = readPostAddress(toPostUrl(person, n));
        const of = { creator_email: person.email, campaign_id: known(ids, campaign) };
        posts.set((await trackContent(work, { post, ...of })).id, facts);
      }),
    );
  }
  for (const days of READINGS) {
    add(ago(days), ({ change }) =>
      change('refresh_content', async (work) => {
        for (const { id } of await claimDuePosts(work.db, work.now, POSTS)) {
          const post = posts.get(id);
          await endRefresh(work, id, post ? toReading(post, work.now) : 'no_provider');
        }
      }),
    );
  }
}

/** Adds the messages, parcels and posts of the brand and its creators. */
export function addContact(schedule: Schedule, people: readonly Person[], ids: Map<string, string>): void {
  addConversations(schedule, people, ids);
  addParcels(schedule, people, ids);
  addPosts(schedule, people, ids);
  const { ago, add } = schedule;
  add(ago(40), ({ call }) => call('share_shipments', { body: { campaignId: known(ids, 'summer') } }));
  // To those whose contract waits to be signed, so that its page leads to a conversation.
  for (const { email } of people.slice(1, 3)) {
    const body = 'Your contract is in your inbox. Ask me here if anything in it is unclear.';
    add(ago(5.8), ({ change }) =>
      change('send_message', (work) => sendMessage(work, { creator_email: email, body, send_email: false })),
    );
  }
}
