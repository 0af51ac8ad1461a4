import { z } from 'zod';
import { dayText } from '../../kit/html/times.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import { type MailFacts, template } from '../../kit/mail/template.ts';
import type { Work } from '../../kit/operation/work.ts';
import type { EventName } from '../../kit/outbox/events.ts';
import { getBrand } from '../../platform/brands/brands.ts';
import { getDisplayName } from '../creators/creators.ts';
import { toDeliverable } from './deliverables.shapes.ts';
import type { DeliverableFacts } from './deliverables.ts';
import { isKnownToCreator, workUrl } from './moves.ts';

const LinkedWork = z.object({ deliverable_id: z.string(), link_version: z.int(), name: z.string() });

const workAction = (label: string, { deliverable_id, link_version }: z.infer<typeof LinkedWork>, facts: MailFacts) => ({
  action: { label, url: `${workUrl(facts, deliverable_id, link_version)}?deliverable=${deliverable_id}` },
});

const dueFacts = (due_date: string | null) => (due_date === null ? [] : [['Due', dayText(due_date)] as const]);

/** For a deliverable that was requested without a contract. */
const workRequested = template({
  audience: 'creator',
  params: LinkedWork.extend({ due_date: z.string().nullable() }),
  write: (work, facts) => ({
    subject: `${facts.brandName} requests a ${work.name} from you`,
    paragraphs: ['The page explains what is wanted, and you hand in your work there.'],
    facts: dueFacts(work.due_date),
    ...workAction('See what is wanted', work, facts),
  }),
});

const revisionRequested = template({
  audience: 'creator',
  params: LinkedWork.extend({ feedback: z.string().nullable(), due_date: z.string().nullable() }),
  write: (work, facts) => ({
    subject: `${facts.brandName} requests a revision: ${work.name}`,
    paragraphs: [work.feedback === null ? 'They did not add a comment.' : 'They wrote:'],
    ...(work.feedback === null ? {} : { quote: work.feedback }),
    facts: dueFacts(work.due_date),
    ...workAction('Hand in a new version', work, facts),
  }),
});

const deliverableApproved = template({
  audience: 'creator',
  params: LinkedWork.extend({ feedback: z.string().nullable() }),
  write: (work, facts) => ({
    subject: `${facts.brandName} approved your ${work.name}`,
    paragraphs: ['What you handed in is approved. There is nothing more to do for it.'],
    ...(work.feedback === null ? {} : { quote: work.feedback }),
    ...workAction('See your work', work, facts),
  }),
});

const deliverableCancelled = template({
  audience: 'creator',
  params: LinkedWork.omit({ link_version: true, deliverable_id: true }).extend({ feedback: z.string().nullable() }),
  write: ({ name, feedback }, { brandName }) => ({
    subject: `${brandName} cancelled: ${name}`,
    paragraphs: ['It is no longer needed. Please stop working on it.'],
    ...(feedback === null ? {} : { quote: feedback }),
  }),
});

const FromCreator = z.object({ deliverable_id: z.string().optional(), name: z.string(), creator: z.string() });

/** Mails that were queued before an upgrade have no id. */
const openInApp = (id: string | undefined, { appUrlOf }: MailFacts) => ({
  action: {
    label: 'See the deliverable',
    url: appUrlOf(id === undefined ? 'deliverables' : `deliverables?open=${id}`),
  },
});

const deliverableSubmitted = template({
  audience: 'brand',
  params: FromCreator.extend({ version: z.int(), is_late: z.boolean(), content_url: z.string().nullable() }),
  write: ({ deliverable_id, name, creator, version, is_late, content_url }, facts) => ({
    subject: `${creator} handed in: ${name}`,
    paragraphs: ['It is waiting for your review.'],
    facts: [['Version', String(version)], ...(is_late ? ([['Late', 'yes']] as const) : [])],
    ...openInApp(deliverable_id, facts),
    links: content_url === null ? [] : [{ label: 'What was handed in', url: content_url }],
  }),
});

const deliverableDeclined = template({
  audience: 'brand',
  params: FromCreator.extend({ reason: z.string() }),
  write: ({ deliverable_id, name, creator, reason }, facts) => ({
    subject: `${creator} declined: ${name}`,
    paragraphs: ['They wrote:'],
    quote: reason,
    ...openInApp(deliverable_id, facts),
  }),
});

export const deliverableMails = mails({
  deliverable_approved: deliverableApproved,
  deliverable_cancelled: deliverableCancelled,
  deliverable_declined: deliverableDeclined,
  deliverable_submitted: deliverableSubmitted,
  revision_requested: revisionRequested,
  work_requested: workRequested,
});

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof deliverableMails> {}
}

type Move = Extract<EventName, `deliverable.${string}`>;

const toWorkLink = ({ id, linkVersion, type }: DeliverableFacts) => ({
  deliverable_id: id,
  link_version: linkVersion,
  name: type,
});

/** Mails the creator of a deliverable that was requested without a contract. */
export async function mailCreated(work: Work, row: DeliverableFacts): Promise<void> {
  const { id, creatorId, creatorEmail, dueDate } = row;
  if (creatorEmail === null) return;
  await queueMail(work, {
    kind: 'work_requested',
    to: creatorEmail,
    subjectRow: id,
    creatorId,
    params: { ...toWorkLink(row), due_date: dueDate },
  });
}

async function mailCreator(work: Work, move: Move, row: DeliverableFacts): Promise<void> {
  const { id, creatorId, creatorEmail, version, feedback, dueDate, type } = row;
  if (creatorEmail === null || !isKnownToCreator(row)) return;
  const about = { to: creatorEmail, subjectRow: `${id}:${version}`, creatorId };
  if (move === 'deliverable.approved') {
    await queueMail(work, { kind: 'deliverable_approved', ...about, params: { ...toWorkLink(row), feedback } });
  }
  if (move === 'deliverable.revision_requested') {
    const params = { ...toWorkLink(row), feedback, due_date: dueDate };
    await queueMail(work, { kind: 'revision_requested', ...about, params });
  }
  if (move === 'deliverable.cancelled') {
    await queueMail(work, { kind: 'deliverable_cancelled', ...about, params: { name: type, feedback } });
  }
}

async function mailBrand(work: Work, move: Move, row: DeliverableFacts): Promise<void> {
  const { id, version, type, contentUrl, declinedReason } = row;
  const { contactEmail } = await getBrand(work.db, work.brandId);
  if (contactEmail === null) return;
  const about = { to: contactEmail, subjectRow: `${id}:${version}` };
  const from = { deliverable_id: id, name: type, creator: getDisplayName(row) };
  if (move === 'deliverable.submitted') {
    const params = { ...from, version, is_late: toDeliverable(row, work.now).is_late, content_url: contentUrl };
    await queueMail(work, { kind: 'deliverable_submitted', ...about, params });
  }
  if (move === 'deliverable.declined') {
    await queueMail(work, {
      kind: 'deliverable_declined',
      ...about,
      params: { ...from, reason: declinedReason ?? '' },
    });
  }
}

/** Mails each side about the other's moves. A creator gets no mail about a deliverable that they never saw. */
export async function mailMove(work: Work, move: Move, row: DeliverableFacts): Promise<void> {
  await mailCreator(work, move, row);
  await mailBrand(work, move, row);
}
