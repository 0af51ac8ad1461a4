import { queueMail } from '../../kit/mail/queue.ts';
import type { Work } from '../../kit/operation/work.ts';
import { HOUR_MS } from '../../kit/values/duration.ts';
import { newId } from '../../kit/values/ids.ts';
import { toWire } from '../../kit/values/wire.ts';
import { mailPeople } from '../../platform/people/actions.ts';
import { type Addressee, getAddressee } from '../applications/queries.ts';
import { REPLIES_PER_HOUR } from './policy.ts';
import {
  type ConversationRow,
  clearUnread,
  countReply,
  getConversation,
  insertMessage,
  listRecentReplies,
  lockConversation,
  type MessageRow,
  markRead,
  openConversation,
  type Sender,
} from './queries.ts';
import { Message, type MessageCreate } from './schema.ts';

/** The same text within this time counts as a form that was submitted twice. */
const TWICE_MS = 60_000;

type Person = { email: string | null; name: string | null };

export const messageOf = (row: MessageRow, { email, name }: Person): Message =>
  Message.parse({ ...toWire(row), creator_email: email, creator_name: name, email_sent: row.emailState === 'queued' });

/** The audit log never contains the text of messages. */
function auditMessage(work: Work, { subject: _subject, body: _body, ...row }: MessageRow): void {
  const generated = ['id', 'messageId'];
  work.audit({ resourceId: row.conversationId, old: null, new: { ...row, messageId: row.id }, generated });
}

interface Written {
  id: string;
  sender: Sender;
  subject: string | null;
  body: string;
  emailState: MessageRow['emailState'];
}

/** Inserts the message, which the conversation has already counted. */
async function write({ db }: Work, { id, brandId, messageCount, lastMessageAt }: ConversationRow, message: Written) {
  const place = { brandId, conversationId: id, number: messageCount, sentAt: lastMessageAt };
  return await insertMessage(db, { ...message, ...place, readAt: null });
}

async function mailOf(work: Work, conversation: ConversationRow, to: Addressee, message: Omit<Written, 'emailState'>) {
  const { id, subject, body } = message;
  const params = { conversation_id: conversation.id, link_version: conversation.linkVersion, subject, body };
  const state = await queueMail(work, {
    ...{ kind: 'message_sent', to: to.email, subjectRow: id, creatorId: to.id, params },
  });
  return state === 'suppressed' ? 'suppressed' : 'queued';
}

/** Sends a brand's message. It answers the creator's earlier ones, so those are marked as read. */
export async function sendMessage(work: Work, input: MessageCreate): Promise<Message> {
  const { db, now, brandId } = work;
  const to = await getAddressee(db, brandId, input.creator_email);
  const newConversation = { id: newId('cnv', now.getTime()), brandId, creatorId: to.id, now };
  const conversation = await openConversation(db, newConversation);
  await markRead(db, conversation, 'creator', now);
  const message = {
    ...{ id: newId('msg', now.getTime()), sender: 'brand' as const },
    ...{ subject: input.subject ?? null, body: input.body },
  };
  const emailState = input.send_email ? await mailOf(work, conversation, to, message) : 'none';
  const row = await write(work, conversation, { ...message, emailState });
  auditMessage(work, row);
  return messageOf(row, to);
}

/** Marks the creator's messages as read by the brand. */
export async function readConversation(work: Work, id: string) {
  const { db, now, brandId } = work;
  const old = await lockConversation(db, brandId, id);
  if (old.brandUnread > 0) {
    await markRead(db, old, 'creator', now);
    await clearUnread(db, old, 'brandUnread');
    work.audit({ resourceId: id, old: { brandUnread: old.brandUnread }, new: { brandUnread: 0 } });
  }
  return await getConversation(db, brandId, id);
}

/** Marks the brand's messages as read by the creator, who is viewing the page. */
export async function seeConversation({ db, now }: Work, conversation: ConversationRow): Promise<void> {
  await markRead(db, conversation, 'brand', now);
  await clearUnread(db, conversation, 'creatorUnread');
}

export type Reply = 'sent' | 'sent_before' | 'too_many';

/** Stores a creator's message from the page. */
export async function receiveReply(work: Work, conversation: { id: string } & Person, body: string): Promise<Reply> {
  const { db, now, brandId } = work;
  const locked = await lockConversation(db, brandId, conversation.id);
  const since = new Date(now.getTime() - HOUR_MS);
  const recent = await listRecentReplies(db, locked, since, REPLIES_PER_HOUR);
  const [last] = recent;
  if (last?.body === body && now.getTime() - last.sentAt.getTime() < TWICE_MS) return 'sent_before';
  if (recent.length >= REPLIES_PER_HOUR) return 'too_many';
  await markRead(db, locked, 'brand', now);
  const counted = await countReply(db, locked, now);
  const message = { id: newId('msg', now.getTime()), sender: 'creator' as const, subject: null, body };
  const row = await write(work, counted, { ...message, emailState: 'none' });
  auditMessage(work, row);
  work.emit('message.received', messageOf(row, conversation));
  await mailPeople(work, 'replies', {
    ...{ kind: 'message_received', subjectRow: row.id },
    params: { conversation_id: locked.id, creator: conversation.name ?? conversation.email ?? 'A creator', body },
  });
  return 'sent';
}
