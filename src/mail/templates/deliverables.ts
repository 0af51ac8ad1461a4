import { z } from 'zod';
import { type MailFacts, template } from '../template.ts';
import { workUrl } from './contracts.ts';

const Work = z.object({ deliverable_id: z.string(), link_version: z.int(), name: z.string() });

const workAction = (label: string, { deliverable_id, link_version }: z.infer<typeof Work>, facts: MailFacts) => ({
  action: { label, url: `${workUrl(facts, deliverable_id, link_version)}?deliverable=${deliverable_id}` },
});

const dueFacts = (due_date: string | null) => (due_date === null ? [] : [['Due', due_date] as const]);

/** Work that is requested outside a contract. */
export const workRequested = template({
  audience: 'creator',
  params: Work.extend({ due_date: z.string().nullable() }),
  write: (work, facts) => ({
    subject: `${facts.brandName} asks you for a ${work.name}`,
    paragraphs: ['The page says what is wanted, and takes what you hand in.'],
    facts: dueFacts(work.due_date),
    ...workAction('See what is wanted', work, facts),
  }),
});

export const revisionRequested = template({
  audience: 'creator',
  params: Work.extend({ feedback: z.string().nullable(), due_date: z.string().nullable() }),
  write: (work, facts) => ({
    subject: `${facts.brandName} asks for a revision: ${work.name}`,
    paragraphs: [work.feedback === null ? 'They wrote nothing to it.' : 'They wrote:'],
    ...(work.feedback === null ? {} : { quote: work.feedback }),
    facts: dueFacts(work.due_date),
    ...workAction('Hand in a new version', work, facts),
  }),
});

export const deliverableApproved = template({
  audience: 'creator',
  params: Work.extend({ feedback: z.string().nullable() }),
  write: (work, facts) => ({
    subject: `${facts.brandName} approved your ${work.name}`,
    paragraphs: ['What you handed in is approved. There is nothing more to do for it.'],
    ...(work.feedback === null ? {} : { quote: work.feedback }),
    ...workAction('See your work', work, facts),
  }),
});

export const deliverableCancelled = template({
  audience: 'creator',
  params: Work.omit({ link_version: true, deliverable_id: true }).extend({ feedback: z.string().nullable() }),
  write: ({ name, feedback }, { brandName }) => ({
    subject: `${brandName} cancelled: ${name}`,
    paragraphs: ['It is no longer wanted. Please do not go on with it.'],
    ...(feedback === null ? {} : { quote: feedback }),
  }),
});

const FromCreator = z.object({ name: z.string(), creator: z.string() });

export const deliverableSubmitted = template({
  audience: 'brand',
  params: FromCreator.extend({ version: z.int(), is_late: z.boolean(), content_url: z.string().nullable() }),
  write: ({ name, creator, version, is_late, content_url }) => ({
    subject: `${creator} handed in: ${name}`,
    paragraphs: ['It waits for your review.'],
    facts: [['Version', String(version)], ...(is_late ? ([['Late', 'yes']] as const) : [])],
    links: content_url === null ? [] : [{ label: 'What was handed in', url: content_url }],
  }),
});

export const deliverableDeclined = template({
  audience: 'brand',
  params: FromCreator.extend({ reason: z.string() }),
  write: ({ name, creator, reason }) => ({
    subject: `${creator} declined: ${name}`,
    paragraphs: ['They wrote:'],
    quote: reason,
  }),
});
