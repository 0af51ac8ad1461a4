import { SAMPLE_LIST_ADDER } from '../../affiliates/sample/sample.ts';
import { createList } from '../../directory/lists/lists.ts';
import type { CallOf } from '../../interfaces/nouns.ts';
import { PLANS } from '../../kit/access/keys/limits.ts';
import type { Work } from '../../kit/operation/work.ts';
import { lockPending, patchApplication, receiveApplication } from '../../workflow/applications/applications.ts';
import { changeCreator, listMatching } from '../../workflow/creators/creators.ts';
import { addByHandle } from '../../workflow/roster/roster.ts';
import type { Person } from './people.ts';
import { known, type Schedule } from './schedule.ts';

const LIMIT = PLANS.growth.rosterLimit;

/** Creators whom the brand adds itself; the rest of the roster applies. */
export const ADDED = 26;
export const ON_ROSTER = 40;
export const APPLICANTS = 15;

export type CampaignName = 'boxes' | 'glow' | 'summer' | 'barrier' | 'gifts';

interface Applied {
  person: Person;
  campaign: CampaignName;
  days: number;
  status: 'accepted' | 'rejected' | 'shortlisted' | 'pending';
}

const MESSAGES = [
  'I have used your cleanser for a year and would love to show my routine.',
  'My followers ask me for sensitive-skin tips every week. Your barrier cream would fit.',
  'I make short before-and-after videos, always in daylight and without filters.',
  'Happy to shoot two reels and a story. I can start next week.',
  'I wrote my thesis on ceramics and now I film about ceramides. Let us talk!',
] as const;

const toProfile = ({ name, picture, followers, engagementRate, tiktok }: Person, at: Date) => ({
  name,
  pfpUrl: picture,
  igFollowers: followers,
  engagementRate,
  profiledAt: at,
  ...(tiktok === null ? {} : { ttFollowers: Math.round(followers * 0.6) }),
});

/** Fills in what the directory knows of a creator who applied. */
async function profile(work: Work, person: Person): Promise<void> {
  const identity = { email: person.email, igHandle: null, ttHandle: null };
  const [creator] = await listMatching(work.db, work.brandId, identity);
  if (creator) await changeCreator(work, creator, toProfile(person, work.now));
}

function addCampaigns(schedule: Schedule, ids: Map<string, string>): void {
  const { ago, dayAgo, add } = schedule;
  const create = (days: number, name: CampaignName, body: CallOf<'create_campaign'>['body']) =>
    add(ago(days), async ({ make }) => void ids.set(name, await make('create_campaign', { body })));
  const requirements = { platforms: ['photo_app'], min_followers: 5_000 } satisfies Required<
    CallOf<'create_campaign'>['body']
  >['requirements'];
  create(91.7, 'glow', {
    name: 'Spring glow',
    type: 'affiliate',
    requirements,
    description: 'One reel and one story: show the vitamin C serum in your own morning routine.',
    compensation: { type: 'commission', amount: 12 },
  });
  create(84, 'boxes', {
    name: 'Discovery boxes',
    type: 'gifting',
    description: 'A box to try at home. Post about it only if you like it.',
    compensation: { type: 'product' },
  });
  create(62, 'summer', {
    name: 'Summer skin',
    type: 'ugc',
    requirements,
    description: 'One reel and one story about sun care that feels like nothing.',
    compensation: { type: 'fixed', amount: 450 },
  });
  create(27, 'barrier', {
    name: 'Barrier cream launch',
    type: 'launch',
    requirements,
    description:
      'One reel and one story on Instagram: be the first to try the new barrier cream, and say what you think of it.',
    compensation: { type: 'fixed', amount: 600 },
    deadline: dayAgo(-21),
  });
  create(4, 'gifts', {
    name: 'Holiday gift sets',
    type: 'gifting',
    status: 'draft',
    description: 'Three gift sets, shown as a present for a friend.',
    compensation: { type: 'product' },
  });
  add(ago(66), ({ make }) =>
    make('update_campaign', { params: { id: known(ids, 'boxes') }, body: { status: 'completed' } }),
  );
  // A plan locks the campaign, which others would wait for.
  add(
    ago(0.3),
    ({ plan }) =>
      plan('update_campaign', {
        params: { id: known(ids, 'barrier') },
        body: { deadline: dayAgo(-35) },
      }),
    'alone',
  );
}

/** Lists the applications and their outcomes. */
function listApplications(people: readonly Person[]): Applied[] {
  const members = people.slice(ADDED, ON_ROSTER);
  const others = people.slice(ON_ROSTER, ON_ROSTER + APPLICANTS);
  const of = (status: Applied['status'], campaign: CampaignName, from: readonly Person[], days: number) =>
    from.map((person, i) => ({ person, campaign, status, days: days - i * 0.7 }));
  return [
    ...of('accepted', 'glow', members.slice(0, 6), 86),
    ...of('rejected', 'glow', others.slice(0, 2), 80),
    ...of('accepted', 'summer', members.slice(6, 12), 59),
    ...of('rejected', 'summer', others.slice(2, 3), 52),
    ...of('pending', 'summer', others.slice(3, 5), 6),
    ...of('accepted', 'barrier', members.slice(12, 14), 24),
    ...of('shortlisted', 'barrier', others.slice(5, 8), 15),
    ...of('pending', 'barrier', others.slice(8, 15), 7),
  ];
}

/** Two lists of creators of the directory. */
function addLists({ ago, add }: Schedule, people: readonly Person[]): void {
  const addList = (days: number, name: string, note: string, from: readonly Person[]) =>
    add(ago(days), ({ change }) =>
      change('create_list', (work) =>
        createList(work, { name, note }, { pks: from.map(({ pk }) => pk), by: SAMPLE_LIST_ADDER }),
      ),
    );
  addList(34, 'Best sellers', 'Ask them first.', people.slice(0, 12));
  addList(6, 'Holiday shortlist', 'For the gift sets.', [...people.slice(4, 10), ...people.slice(ON_ROSTER + 5)]);
}

/** Creators with one deal. */
function addGroup({ ago, add }: Schedule, people: readonly Person[], ids: Map<string, string>): void {
  add(ago(58), async ({ make }) => {
    const terms = { rate: { percent: 12 } };
    const body = { name: 'Estheticians', hold_days: 14, attribution_days: 30, default: false, terms };
    ids.set('ambassadors', await make('create_group', { body }));
  });
  add(ago(57.9), ({ call }) =>
    call('add_group_creators', {
      params: { id: known(ids, 'ambassadors') },
      body: { creator_emails: people.slice(0, 6).map(({ email }) => email) },
    }),
  );
}

/** The brand's campaigns, its roster, and those who applied. */
export function addPeople(schedule: Schedule, people: readonly Person[], ids: Map<string, string>): void {
  const { ago, add } = schedule;
  addCampaigns(schedule, ids);
  addLists(schedule, people);
  addGroup(schedule, people, ids);
  for (const [i, person] of people.slice(0, ADDED).entries()) {
    const { name, email, handle, tiktok, tags } = person;
    const body = { name, creator_email: email, ig_handle: handle, tt_handle: tiktok ?? undefined, tags };
    add(ago(i < 14 ? 91.6 - i * 0.08 : 101 - i), ({ change, now }) =>
      change('add_to_roster_by_handle', (work) => addByHandle(work, LIMIT, body, toProfile(person, now()))),
    );
  }
  for (const [i, { person, campaign, days, status }] of listApplications(people).entries()) {
    const { name, email, handle: photoApp, tiktok: videoApp } = person;
    const message = MESSAGES[i % MESSAGES.length] ?? null;
    const applying = { name, email, photoApp, videoApp, message, portfolioUrls: [] };
    add(ago(days), ({ change }) => change('apply', (work) => receiveApplication(work, known(ids, campaign), applying)));
    if (status === 'pending') continue;
    add(ago(days - 2), ({ change }) =>
      change('update_application', async (work) => {
        const application = await lockPending(work.db, work.brandId, known(ids, campaign), email);
        if (!application) throw new Error(`The sample has no application of ${email}.`);
        await patchApplication(work, application.id, { status }, LIMIT);
        if (status === 'accepted') await profile(work, person);
      }),
    );
  }
}
