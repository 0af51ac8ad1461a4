import { queueMail } from '../../mail/queue.ts';
import type { Work } from '../../operation/work.ts';
import type { EventName } from '../../outbox/events.ts';
import { getBrand } from '../brands/queries.ts';
import { displayNameOf } from '../creators/policy.ts';
import { isKnownToCreator } from './policy.ts';
import type { DeliverableFacts } from './queries.ts';
import { deliverableOf } from './schema.ts';

type Move = Extract<EventName, `deliverable.${string}`>;

const linkOf = ({ id, linkVersion, type }: DeliverableFacts) => ({
  ...{ deliverable_id: id, link_version: linkVersion, name: type },
});

/** To the creator of one that was asked for outside of a contract. */
export async function mailCreated(work: Work, row: DeliverableFacts): Promise<void> {
  const { id, creatorId, creatorEmail, dueDate } = row;
  if (creatorEmail === null) return;
  await queueMail(work, {
    ...{ kind: 'work_requested', to: creatorEmail, subjectRow: id, creatorId },
    params: { ...linkOf(row), due_date: dueDate },
  });
}

async function mailCreator(work: Work, move: Move, row: DeliverableFacts): Promise<void> {
  const { id, creatorId, creatorEmail, version, feedback, dueDate, type } = row;
  if (creatorEmail === null || !isKnownToCreator(row)) return;
  const about = { to: creatorEmail, subjectRow: `${id}:${version}`, creatorId };
  if (move === 'deliverable.approved') {
    await queueMail(work, { kind: 'deliverable_approved', ...about, params: { ...linkOf(row), feedback } });
  }
  if (move === 'deliverable.revision_requested') {
    const params = { ...linkOf(row), feedback, due_date: dueDate };
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
  const from = { name: type, creator: displayNameOf(row) };
  if (move === 'deliverable.submitted') {
    const params = { ...from, version, is_late: deliverableOf(row).is_late, content_url: contentUrl };
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

/** Each side is mailed what the other did. A creator gets no mail about what they never saw. */
export async function mailMove(work: Work, move: Move, row: DeliverableFacts): Promise<void> {
  await mailCreator(work, move, row);
  await mailBrand(work, move, row);
}
