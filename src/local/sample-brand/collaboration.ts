import type { Work } from '../../kit/operation/work.ts';
import { findAddressee } from '../../workflow/applications/applications.ts';
import { uploadAsset } from '../../workflow/assets/assets.ts';
import { createFolder } from '../../workflow/assets/folders.ts';
import { receiveFile, type StoredFile } from '../../workflow/assets/uploads.ts';
import { viewBrief } from '../../workflow/briefs/briefs.ts';
import { expireContract, getContract, signContract } from '../../workflow/contracts/contracts.ts';
import {
  declineDeliverable,
  listContractDeliverables,
  patchDeliverable,
  startDeliverables,
  submitDeliverable,
} from '../../workflow/deliverables/deliverables.ts';
import { ADDED, type CampaignName } from './campaigns.ts';
import type { Person } from './people.ts';
import { makePicture } from './pictures.ts';
import { known, type Schedule } from './schedule.ts';

const AGENT = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148';
const ADDRESS = '192.0.2.17';

/** The address of the creator's n-th post of the sample. */
export const toPostUrl = ({ handle, tiktok }: Person, n: number): string =>
  tiktok !== null && n % 3 === 1
    ? `https://www.tiktok.com/@${handle}/video/74${String(n).padStart(3, '0')}00112233440${n % 10}`
    : toReelUrl(n);

const toReelUrl = (n: number): string => `https://www.instagram.com/reel/DLumen${String(n).padStart(5, '0')}/`;

/** The number of the first post that was made under a contract. */
const FIRST_WORK = 100;
/** The address of each piece of a contract, and the name of the picture that comes with it. */
const WORKS = [
  { toUrl: (_handle: string, n: number) => toReelUrl(n), picture: 'reel cover' },
  { toUrl: (handle: string, n: number) => `https://www.instagram.com/stories/${handle}/359000${n}`, picture: 'story' },
] as const;
const REELS = [
  'My morning in forty seconds',
  'What is in my beach bag',
  'Night routine for dry skin',
  'Serum first, then cream',
  'One bottle, three weeks',
] as const;

interface Deal {
  person: Person;
  campaign: CampaignName;
  days: number;
  /** The reel is due so many days ago, as the brief says. */
  due: number;
  /** The state that the deal reaches. */
  until: 'draft' | 'sent' | 'expired' | 'voided' | 'signed' | 'submitted' | 'revised' | 'declined' | 'approved';
}

function listDeals(people: readonly Person[]): Deal[] {
  const members = people.slice(ADDED);
  const of = (
    campaign: CampaignName,
    [days, due]: readonly [days: number, due: number],
    states: readonly Deal['until'][],
    from: readonly Person[],
  ) => states.flatMap((until, i) => (from[i] ? [{ person: from[i], campaign, days: days - i * 1.3, due, until }] : []));
  return [
    ...of('glow', [82, 61], ['approved', 'approved', 'approved', 'approved', 'expired', 'voided'], members),
    ...of(
      'summer',
      [55, 33],
      ['approved', 'approved', 'submitted', 'revised', 'declined', 'approved'],
      members.slice(6),
    ),
    ...of('barrier', [18, -1], ['submitted', 'signed'], members.slice(12)),
    ...of('barrier', [9, -12], ['submitted', 'sent', 'sent', 'draft'], people),
  ];
}

/** The deliverables of a contract, in their order; opening the page of the work has started them. */
async function openWork(work: Work, contract: string): Promise<string[]> {
  const rows = await listContractDeliverables(work.db, work.brandId, contract);
  await startDeliverables(
    work,
    rows.filter(({ status }) => status === 'pending'),
  );
  return rows.map(({ id }) => id);
}

/** A contract from its draft to its last review. */
function addDeal(schedule: Schedule, deal: Deal, n: number, ids: Map<string, string>) {
  const { person, campaign, days, due, until } = deal;
  const { ago, dayAgo, add } = schedule;
  const name = `contract ${n}`;
  const at = (after: number) => ago(days - after);
  const amount = campaign === 'barrier' ? 600 : 450;
  const compensation =
    campaign === 'glow' ? { type: 'commission' as const, amount: 12 } : { type: 'fixed' as const, amount };
  add(at(0), async ({ make }) => {
    const body = {
      creator_email: person.email,
      campaign_id: known(ids, campaign),
      compensation,
      title: 'One reel and one story',
      deliverables: [
        { type: 'reel', platform: 'photo_app' as const, quantity: 1, due_date: dayAgo(due) },
        { type: 'story', platform: 'photo_app' as const, quantity: 1, due_date: dayAgo(due - 6) },
      ],
      usage_rights: 'We may show your posts on our own channels. We may not advertise with them.',
      terms: { channels: ['organic'], territory: null, days: 365, starts: 'signed' as const, starts_on: null },
      expires_at: at(until === 'sent' || until === 'draft' ? 14 : 6).toISOString(),
    };
    ids.set(name, await make('create_contract', { body }));
  });
  if (until === 'draft') return;
  add(at(0.2), ({ make }) => make('send_contract', { params: { id: known(ids, name) } }));
  if (until === 'sent') return;
  if (until === 'voided') {
    add(at(2), ({ make }) => make('void_contract', { params: { id: known(ids, name) } }));
    return;
  }
  if (until === 'expired') {
    add(at(7), ({ change }) => change('expire_contracts', (work) => expireContract(work, known(ids, name))));
    return;
  }
  add(at(1.4), ({ change, context: { secrets } }) =>
    change('page_sign', async (work) => {
      const contract = await getContract(work.db, work.brandId, known(ids, name));
      await signContract(work, secrets, contract, { name: person.name, address: ADDRESS, userAgent: AGENT });
    }),
  );
  if (until === 'signed') {
    add(at(2.1), ({ change }) => change('page_work', (work) => openWork(work, known(ids, name))));
    return;
  }
  addWork(schedule, { person, days, until }, { n, name, ids });
}

/** Adds a creator's submissions under a contract and the brand's answers. */
function addWork(
  { ago, add }: Schedule,
  { person, days, until }: Pick<Deal, 'person' | 'days' | 'until'>,
  { n, name, ids }: { n: number; name: string; ids: Map<string, string> },
): void {
  const at = (after: number) => ago(days - after);
  const submit = (after: number, place: 0 | 1, caption: string) =>
    add(at(after), async ({ change, context, brandId }) => {
      const { toUrl, picture } = WORKS[place];
      const part = makePicture(n + place, `${person.name}, ${picture}.png`);
      const files = n < 6 ? [] : [await receiveFile(context, brandId, part)];
      await change('page_work', async (work) => {
        const id = (await openWork(work, known(ids, name)))[place] ?? '';
        await submitDeliverable(work, id, { contentUrl: toUrl(person.handle, FIRST_WORK + n), caption, files });
      });
    });
  const review = (after: number, place: 0 | 1, status: 'approved' | 'revision_requested', feedback: string) =>
    add(at(after), ({ change }) =>
      change('update_deliverable', async (work) => {
        const id = (await listContractDeliverables(work.db, work.brandId, known(ids, name)))[place]?.id ?? '';
        await patchDeliverable(work, id, { status, feedback });
      }),
    );
  submit(8, 0, REELS[n % REELS.length] ?? REELS[0]);
  if (until === 'submitted') return;
  if (until === 'revised') {
    review(10, 0, 'revision_requested', 'Please show the bottle in the first seconds.');
    return;
  }
  review(9.5, 0, 'approved', 'Lovely light. Thank you!');
  if (until === 'declined') {
    add(at(12), ({ change }) =>
      change('page_work', async (work) => {
        const id = (await openWork(work, known(ids, name)))[1] ?? '';
        await declineDeliverable(work, id, 'I am travelling that week and cannot film a story.');
      }),
    );
    return;
  }
  submit(13, 1, 'Questions and answers');
  review(14, 1, 'approved', 'Great answers.');
}

function addBriefs({ ago, dayAgo, add }: Schedule, people: readonly Person[], ids: Map<string, string>): void {
  const members = people.slice(ADDED);
  const brief = (days: number, title: string, campaign: CampaignName, to: readonly Person[], viewers: number) => {
    const name = `brief ${title}`;
    add(ago(days), async ({ make }) => {
      const body = {
        title,
        campaign_id: known(ids, campaign),
        content_type: 'reel',
        platform: 'photo_app' as const,
        instructions: 'Film in daylight. Say in your own words what you like and what you do not.',
        talking_points: ['Ceramides and niacinamide', 'Fragrance-free', 'Refills cost a third less'],
        do_not: ['Promising to heal anything', 'Showing other brands'],
        due_date: dayAgo(days - 20),
      };
      ids.set(name, await make('create_brief', { body }));
    });
    if (to.length === 0) return;
    add(ago(days - 0.3), ({ call }) =>
      call('send_brief', {
        params: { id: known(ids, name) },
        body: { action: 'send', recipients: to.map(({ email }) => ({ email })) },
      }),
    );
    for (const [i, { email }] of to.slice(0, viewers).entries()) {
      add(ago(days - 1 - i * 0.4), ({ change }) =>
        change('page_brief', async (work) => {
          const person = await findAddressee(work.db, work.brandId, email);
          if (person) await viewBrief(work, known(ids, name), person.id);
        }),
      );
    }
  };
  brief(81, 'Morning routine', 'glow', members.slice(0, 4), 4);
  brief(53, 'Sun care that feels like nothing', 'summer', members.slice(6, 12), 4);
  brief(19, 'First look at the barrier cream', 'barrier', members.slice(12, 14), 1);
  brief(8, 'Barrier cream in winter', 'barrier', people.slice(0, 4), 0);
  brief(3, 'Gift sets', 'gifts', [], 0);
}

const PHOTOS = ['Vitamin C serum', 'Sun cream SPF 50', 'Barrier cream and refill', 'Gift set'] as const;

/** The brand's own pictures of its products, for its creators. */
function addPhotos({ ago, add }: Schedule): void {
  add(ago(88), async ({ change, context, brandId }) => {
    const files: StoredFile[] = [];
    for (const [n, name] of PHOTOS.entries())
      files.push(await receiveFile(context, brandId, makePicture(n, `${name}.png`)));
    await change('upload_asset', async (work) => {
      const { id } = await createFolder(work, { name: 'Product photos' });
      for (const [n, file] of files.entries()) {
        await uploadAsset(work, file, { name: PHOTOS[n], folder_id: id, tags: ['product'], usage_rights: 'Our own' });
      }
    });
  });
}

/** Briefs, contracts and the work that came of them. */
export function addCollaboration(schedule: Schedule, people: readonly Person[], ids: Map<string, string>): void {
  addPhotos(schedule);
  addBriefs(schedule, people, ids);
  for (const [i, deal] of listDeals(people).entries()) addDeal(schedule, deal, i, ids);
}
