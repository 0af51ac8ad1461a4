import { type Selectable, sql } from 'kysely';
import { isFound } from '../../kit/engines/postgres/count.ts';
import type { BriefRecipientsTable, BriefsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import { table } from '../../kit/operation/table.ts';
import type { Work } from '../../kit/operation/work.ts';
import { type Problem, validationError, wrongState } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { Page } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { type Addressee, findAddressee, notOnRoster } from '../applications/applications.ts';
import { campaignProblems } from '../campaigns/campaigns.ts';
import { matchesCreator } from '../creators/creators.ts';
import { showCreator } from '../creators/renamed.ts';
import type { BriefCreate, BriefFilter, BriefPatch, BriefSent } from './briefs.shapes.ts';

export type BriefStatus = BriefsTable['status'];

export type BriefRow = Selectable<BriefsTable>;
export type RecipientRow = Selectable<BriefRecipientsTable>;

export type BriefFacts = Awaited<ReturnType<typeof getBrief>>;

export const briefs = listing({
  noun: 'brief',
  table: 'briefs',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt', 'sentAt', 'firstViewedAt', 'completedAt'],
  shown: [
    showCreator('briefs'),
    // The numbers of recipients, and of those who have viewed it.
    (brandId, after) => sql`select brief_id from brief_recipients
      where brand_id = ${brandId} and greatest(sent_at, viewed_at) > ${after}`,
  ],
  matching: (db, brandId, { campaign_id, creator_email, status }: Omit<BriefFilter, keyof Page>) =>
    db
      .selectFrom('briefs')
      .where((eb) => eb.and(omitUndefined({ status, campaignId: campaign_id })))
      .where(({ exists, or, selectFrom }) => {
        const ownRecipients = selectFrom('briefRecipients as recipient')
          .select('recipient.briefId')
          .whereRef('recipient.briefId', '=', 'briefs.id')
          .where(matchesCreator('recipient.creatorId', brandId, creator_email));
        return or([matchesCreator('briefs.creatorId', brandId, creator_email), exists(ownRecipients)]);
      }),
  rows: (db: Db) =>
    db
      .selectFrom('briefs')
      .leftJoin('creators', 'creators.id', 'briefs.creatorId')
      .selectAll('briefs')
      .select(['creators.email as creatorEmail', 'creators.name as creatorName'])
      .select((eb) => {
        const recipients = eb
          .selectFrom('briefRecipients as recipient')
          .whereRef('recipient.brandId', '=', 'briefs.brandId')
          .whereRef('recipient.briefId', '=', 'briefs.id');
        return [
          recipients
            .select(({ fn }) => fn.countAll<number>().as('count'))
            .$asScalar()
            .$notNull()
            .as('recipientCount'),
          recipients
            .select(({ fn }) => fn.count<number>('recipient.viewedAt').as('count'))
            .$asScalar()
            .$notNull()
            .as('viewedCount'),
        ];
      }),
});
export const { get: getBrief } = briefs;

/** A brief for one of its recipients, found by id alone, because a visitor with the page's link has no brand. */
export async function findLinkedBrief(db: Db, id: string, creatorId: string) {
  return await db
    .selectFrom('briefs')
    .innerJoin('briefRecipients as recipient', 'recipient.briefId', 'briefs.id')
    .leftJoin('campaigns', 'campaigns.id', 'briefs.campaignId')
    .selectAll('briefs')
    .select(['campaigns.title as campaignTitle', 'recipient.viewedAt', 'recipient.creatorId as readerId'])
    .where('briefs.id', '=', id)
    // A link mailed to a creator who was later merged into another still opens.
    .where((eb) =>
      eb(
        'recipient.creatorId',
        '=',
        eb.fn.coalesce(
          eb.selectFrom('creatorMerges').select('creatorId').where('goneId', '=', creatorId).limit(1),
          eb.val(creatorId),
        ),
      ),
    )
    .executeTakeFirst();
}
export type LinkedBrief = NonNullable<Awaited<ReturnType<typeof findLinkedBrief>>>;

/** The briefs that were sent to a creator, newest first. */
export async function listReceived(db: Db, brandId: string, creatorId: string, limit: number) {
  return await db
    .selectFrom('briefRecipients as recipient')
    .innerJoin('briefs', 'briefs.id', 'recipient.briefId')
    .select(['briefs.id', 'briefs.title', 'briefs.dueDate', 'briefs.status', 'briefs.linkVersion'])
    .select(['recipient.sentAt', 'recipient.viewedAt', 'recipient.creatorId as holderId'])
    .where('recipient.brandId', '=', brandId)
    .where('recipient.creatorId', '=', creatorId)
    .orderBy('recipient.sentAt', 'desc')
    .orderBy('briefs.id', 'desc')
    .limit(limit)
    .execute();
}

const briefRows = table<BriefsTable>('briefs', 'brief');

/** The recipients, in the order of sending. */
export async function listRecipients(db: Db, brandId: string, briefId: string): Promise<RecipientRow[]> {
  return await db
    .selectFrom('briefRecipients')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('briefId', '=', briefId)
    .orderBy('sentAt')
    .orderBy('email')
    .execute();
}

/** Records a recipient's first view; false if it was not the first. */
const markViewed = (
  db: Db,
  brandId: string,
  { briefId, creatorId }: { briefId: string; creatorId: string },
  at: Date,
): Promise<boolean> =>
  isFound(
    db
      .updateTable('briefRecipients')
      .set({ viewedAt: at })
      .where('brandId', '=', brandId)
      .where('briefId', '=', briefId)
      .where('creatorId', '=', creatorId)
      .where('viewedAt', 'is', null)
      .returning('briefId'),
  );

/**
 * The campaign's uncompleted briefs that this creator received and whose recipients all have approved work and owe
 * nothing more. Locked until the transaction ends.
 */
async function lockFinished(
  work: Work,
  { campaignId, creatorId }: { campaignId: string; creatorId: string },
): Promise<BriefRow[]> {
  const { db, brandId } = work;
  const { rows } = await sql<{ id: string }>`
    select id from briefs brief
    where brand_id = ${brandId} and campaign_id = ${campaignId} and status in ('sent', 'in_progress')
      and exists (select from brief_recipients where brief_id = brief.id and creator_id = ${creatorId})
      and not exists (
        select from brief_recipients recipient
        where recipient.brief_id = brief.id and coalesce((
          select bool_or(status = 'approved') and bool_and(status in ('approved', 'declined', 'cancelled'))
          from deliverables
          where brand_id = ${brandId} and campaign_id = ${campaignId} and creator_id = recipient.creator_id
        ), false) = false)
    order by id`.execute(db);
  const lockedBriefs: BriefRow[] = [];
  for (const { id } of rows) lockedBriefs.push(await briefRows.lock(work, id));
  return lockedBriefs;
}

/** The brand's moves, by status. A creator's first view makes a brief `in_progress`. */
const MOVES: Record<BriefStatus, readonly string[]> = {
  draft: ['sent', 'deleted'],
  sent: ['sent', 'completed'],
  in_progress: ['sent', 'completed'],
  completed: [],
};

/** A brief can be sent to more people until it is completed. */
function assertTransition(status: BriefStatus, target: 'sent' | 'completed' | 'deleted'): void {
  const allowed = MOVES[status];
  if (!allowed.includes(target)) throw wrongState('brief', status, target, allowed);
}

type SendOutcome = BriefSent['recipients'][number];

/**
 * Checks everything that a body refers to and throws all problems at once. Returns the creator's id; null if none is
 * named.
 */
async function checkReferences(work: Work, { creator_email: email, campaign_id }: BriefPatch) {
  const problems = await campaignProblems(work, campaign_id);
  const requestedEmail = email === null || email === undefined ? undefined : email;
  const addressee =
    requestedEmail === undefined ? undefined : await findAddressee(work.db, work.brandId, requestedEmail);
  if (requestedEmail !== undefined && !addressee) problems.push(notOnRoster(requestedEmail));
  if (problems.length > 0) throw validationError(problems);
  return addressee?.id ?? null;
}

/** Creates a draft; with `send_notification` it is sent to its creator in the same transaction. */
export async function createBrief(work: Work, input: BriefCreate): Promise<BriefFacts> {
  const { db, now, brandId } = work;
  const creatorId = await checkReferences(work, input);
  if (input.send_notification && creatorId === null) {
    const message = 'is required if `send_notification` is true.';
    throw validationError([{ field: 'creator_email', code: 'no_recipient', message }]);
  }
  const row = await briefRows.insert(work, {
    id: newId('brf', now.getTime()),
    creatorId,
    status: 'draft',
    createdAt: now,
    title: input.title,
    campaignId: input.campaign_id ?? null,
    contentType: input.content_type ?? null,
    platform: input.platform ?? null,
    instructions: input.instructions ?? null,
    talkingPoints: input.talking_points,
    doNot: input.do_not,
    moodBoardUrls: input.mood_board_urls,
    dueDate: input.due_date ?? null,
  });
  if (input.send_notification) await sendBrief(work, row.id, undefined);
  return await getBrief(db, brandId, row.id);
}

/** Copies a brief to a new draft without recipients. */
export async function duplicateBrief(work: Work, id: string): Promise<BriefFacts> {
  const { db, now, brandId } = work;
  const { campaignId, creatorId, title, contentType, platform, instructions, ...rest } = await briefRows.lock(work, id);
  const { talkingPoints, doNot, moodBoardUrls, dueDate } = rest;
  const row = await briefRows.insert(work, {
    id: newId('brf', now.getTime()),
    status: 'draft',
    createdAt: now,
    campaignId,
    creatorId,
    title,
    contentType,
    platform,
    instructions,
    talkingPoints,
    doNot,
    moodBoardUrls,
    dueDate,
  });
  return await getBrief(db, brandId, row.id);
}

/** Set changes, omit keeps, null clears. Recipients always see the current text. */
export async function patchBrief(work: Work, id: string, patch: BriefPatch): Promise<BriefFacts> {
  const { db, now, brandId } = work;
  const old = await briefRows.lock(work, id);
  const { status, creator_email } = patch;
  const completes = status === 'completed' && old.status !== 'completed';
  if (completes) assertTransition(old.status, 'completed');
  if (creator_email !== undefined && old.status !== 'draft') {
    const message = `can only be changed in a draft; the brief is ${old.status}. Send it to more people instead.`;
    throw validationError([{ field: 'creator_email', code: 'fixed', message }]);
  }
  const creatorId = await checkReferences(work, patch);
  await briefRows.update(work, old, {
    ...omitUndefined({
      title: patch.title,
      campaignId: patch.campaign_id,
      contentType: patch.content_type,
      platform: patch.platform,
      instructions: patch.instructions,
      dueDate: patch.due_date,
      talkingPoints: patch.talking_points,
      doNot: patch.do_not,
      moodBoardUrls: patch.mood_board_urls,
    }),
    ...(creator_email === undefined ? {} : { creatorId }),
    ...(completes ? { status: 'completed', completedAt: now } : {}),
    updatedAt: now,
  });
  return await getBrief(db, brandId, id);
}

/** Only possible before it is sent. */
export async function removeBrief(work: Work, id: string): Promise<void> {
  const old = await briefRows.lock(work, id);
  assertTransition(old.status, 'deleted');
  await briefRows.delete(work, old);
}

/** Resolves the recipients, each once, ignoring case and repetitions. */
async function resolveAddressees(
  { db, brandId }: Work,
  { id }: BriefRow,
  emails: readonly string[] | undefined,
): Promise<Addressee[]> {
  const { creatorEmail } = await getBrief(db, brandId, id);
  const addresses = emails ?? (creatorEmail === null ? [] : [creatorEmail]);
  if (addresses.length === 0) {
    const message = 'is required: the brief has no creator.';
    throw validationError([{ field: 'recipients', code: 'no_recipient', message }]);
  }
  const problems: Problem[] = [];
  const addressees = new Map<string, Addressee>();
  for (const [i, email] of addresses.entries()) {
    const addressee = await findAddressee(db, brandId, email);
    if (addressee) addressees.set(addressee.id, addressee);
    else problems.push(notOnRoster(email, emails ? `recipients.${i}.email` : 'creator_email'));
  }
  if (problems.length > 0) throw validationError(problems);
  return [...addressees.values()];
}

async function sendTo(work: Work, { id, title, linkVersion, dueDate }: BriefRow, to: Addressee): Promise<SendOutcome> {
  const { db, now, brandId } = work;
  const { id: creatorId, email } = to;
  const mailState = await queueMail(work, {
    kind: 'brief_sent',
    to: email,
    subjectRow: id,
    creatorId,
    params: { brief_id: id, creator_id: creatorId, title, link_version: linkVersion, due_date: dueDate },
  });
  // The same mail was queued before, when the address was suppressed.
  if (mailState !== 'queued') return { email, status: 'failed', reason: 'suppressed' };
  await db
    .insertInto('briefRecipients')
    .values({ brandId, briefId: id, creatorId, email, sentAt: now, viewedAt: null })
    .execute();
  return { email, status: 'sent', reason: null };
}

/** Sends it to the recipients who have not received it yet and skips the others. */
export async function sendBrief(work: Work, id: string, emails: readonly string[] | undefined): Promise<BriefSent> {
  const { db, now, brandId } = work;
  const old = await briefRows.lock(work, id);
  assertTransition(old.status, 'sent');
  const addressees = await resolveAddressees(work, old, emails);
  const recipientIds = new Set((await listRecipients(db, brandId, id)).map(({ creatorId }) => creatorId));
  const recipients: SendOutcome[] = [];
  for (const to of addressees) {
    const isKnown = recipientIds.has(to.id);
    recipients.push(
      isKnown ? { email: to.email, status: 'skipped', reason: 'already_sent' } : await sendTo(work, old, to),
    );
  }
  let row = old;
  if (old.status === 'draft' && recipients.some(({ status }) => status === 'sent')) {
    row = await briefRows.update(work, old, { status: 'sent', sentAt: now, updatedAt: now });
  }
  return { id, status: row.status, sent_at: row.sentAt?.toISOString() ?? null, recipients };
}

/** Records that a creator has seen it; the first view by any recipient puts it in progress. */
export async function viewBrief(work: Work, id: string, creatorId: string): Promise<void> {
  const { db, now, brandId } = work;
  if (!(await markViewed(db, brandId, { briefId: id, creatorId }, now))) return;
  const old = await briefRows.lock(work, id);
  if (old.status !== 'sent') return;
  await briefRows.update(work, old, { status: 'in_progress', firstViewedAt: now, updatedAt: now });
}

/** Completes the briefs whose last missing work was this creator's work in the campaign. */
export async function completeFinished(work: Work, of: { campaignId: string; creatorId: string }): Promise<void> {
  const { now } = work;
  for (const old of await lockFinished(work, of)) {
    if (old.status !== 'sent' && old.status !== 'in_progress') continue;
    await briefRows.update(work, old, { status: 'completed', completedAt: now, updatedAt: now });
  }
}
